#include "bhm/recipients.hpp"

#include <cstdint>

#include "base/text.hpp"

namespace postal::bhm {

// FNV-1a over the folded octets.
std::size_t recipients::folded_hash::operator()(std::string_view text) const noexcept {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(base::ascii_lower(c))) * 1099511628211ULL;
    }
    return static_cast<std::size_t>(hash);
}

bool recipients::folded_equal::operator()(std::string_view a, std::string_view b) const noexcept {
    return base::iequals(a, b);
}

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
