// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/recipients.hpp"

#include <array>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace postal::bhm {
namespace {

constexpr std::array<std::pair<char, fate>, 4> letters{
    {{'d', fate::deferred}, {'r', fate::rejected}, {'b', fate::bounced}, {'g', fate::greylisted}}};

// Of the third column; nothing for more than one letter. Which letters there are the list has seen
// to.
std::optional<fate> fate_of(std::string_view column) {
    if (column.empty()) return fate::accepted;
    for (const auto& [letter, what] : letters) {
        if (column.size() == 1 && column.front() == letter) return what;
    }
    return std::nullopt;
}

const recipient anybody{};

}  // namespace

base::expected<void> recipients::admit(const std::vector<mail::user>& users,
                                       const std::string& file) {
    known_.reserve(users.size());
    for (const mail::user& one : users) {
        const auto what = fate_of(one.behaviour);
        if (!what) {
            return base::fail(
                "{}:{}: behaviour \"{}\" has several letters; give one of d (deferred), r "
                "(rejected), b (bounced), g (greylisted)",
                file, one.line, base::printable(one.behaviour, 40));
        }
        const auto path = proto::parse_mailbox(one.address, proto::bare_local_part::allowed);
        if (!path.ok()) {
            return base::fail("{}:{}: \"{}\" cannot be a recipient: {}", file, one.line,
                              base::printable(one.address, 80), path.refusal);
        }
        known_.try_emplace(proto::unquoted_mailbox(path.value),
                           recipient{one.password, *what, one.line});
        any_password_ = any_password_ || !one.password.empty();
    }
    return {};
}

const recipient* recipients::first(fate what) const noexcept {
    const recipient* found = nullptr;
    for (const auto& [address, one] : known_) {
        if (one.what != what) continue;
        if (found == nullptr || one.line < found->line) found = &one;
    }
    return found;
}

const std::string* recipients::password(std::string_view user) const {
    const auto found = known_.find(user);
    return found == known_.end() ? nullptr : &found->second.password;
}

const recipient* recipients::find(const proto::path& who) const {
    if (known_.empty()) return &anybody;
    const auto found =
        who.quoted ? known_.find(proto::unquoted_mailbox(who)) : known_.find(who.mailbox);
    if (found != known_.end()) return &found->second;
    const bool postmaster =
        !who.quoted && who.domain.empty() && base::iequals(who.local_part, "postmaster");
    return postmaster ? &anybody : nullptr;
}

}  // namespace postal::bhm
