#include "bhm/recipients.hpp"

#include "base/text.hpp"

namespace postal::bhm {

base::expected<void> recipients::admit(const std::vector<mail::user>& users,
                                       const std::string& file) {
    known_.reserve(users.size());
    for (const mail::user& one : users) {
        if (!one.behaviour.empty()) {
            return base::fail(
                "{}:{}: behaviour \"{}\": behaviours are not in this version; leave "
                "the third column out",
                file, one.line, one.behaviour);
        }
        const auto path = proto::parse_mailbox(one.address, proto::bare_local_part::allowed);
        if (!path.ok()) {
            return base::fail("{}:{}: \"{}\" cannot be a recipient: {}", file, one.line,
                              base::printable(one.address, 80), path.refusal);
        }
        known_.try_emplace(proto::unquoted_mailbox(path.value), one.password);
        any_password_ = any_password_ || !one.password.empty();
    }
    return {};
}

const std::string* recipients::password(std::string_view user) const {
    const auto found = known_.find(user);
    return found == known_.end() ? nullptr : &found->second;
}

bool recipients::valid(const proto::path& who) const {
    if (known_.empty()) return true;
    if (who.quoted) return known_.contains(proto::unquoted_mailbox(who));
    if (known_.contains(who.mailbox)) return true;
    return who.domain.empty() && base::iequals(who.local_part, "postmaster");
}

}  // namespace postal::bhm
