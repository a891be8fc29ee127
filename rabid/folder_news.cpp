// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/folder_news.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace postal::rabid {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();

bool same_mailbox(std::string_view a, std::string_view b) noexcept {
    return a == b || (a == "INBOX" && base::iequals(a, b));  // RFC 3501 5.1
}

}  // namespace

folder_news::folder_news(std::vector<std::string> mailboxes) {
    for (std::string& each : mailboxes)
        all_.push_back({.name = std::move(each)});
}

std::string_view folder_news::take(std::string_view mailbox, const proto::imap_status& said,
                                   std::uint64_t time_us) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const folder& one) {
        return same_mailbox(one.name, mailbox);
    });
    if (found == all_.end()) return {};
    if (said.uid_next == 0) return "STATUS without UIDNEXT";
    return grow(*found, said, time_us);
}

std::string_view folder_news::grow(folder& one, const proto::imap_status& said,
                                   std::uint64_t time_us) {
    if (said.uid_next > largest || said.uid_validity > largest)
        return "UIDNEXT or UIDVALIDITY is no number that it can be";
    const auto validity = static_cast<std::uint32_t>(said.uid_validity);
    const auto last = static_cast<std::uint32_t>(said.uid_next) - 1;
    // A mailbox that was made anew: all that is there has come since.
    if (validity != 0 && one.uid_validity != 0 && validity != one.uid_validity) {
        one.kept.clear();
        one.last = one.read = 0;
    }
    if (validity != 0) one.uid_validity = validity;
    if (!std::exchange(one.known, true)) {
        one.last = one.read = last;
        return {};
    }
    if (last > one.last) {
        // Who is not read yet by then is told of at the latest with what comes now.
        if (one.kept.size() == announcements::most_kept) one.kept.pop_back();
        one.kept.push_back({time_us, last});
    }
    const bool shrank = last < one.last;
    one.last = last;
    if (!shrank) return {};
    one.read = std::min(one.read, last);
    for (told_of& each : one.kept)
        each.last = std::min(each.last, last);
    return "UIDNEXT shrank";
}

std::optional<std::size_t> folder_news::unread() const noexcept {
    for (std::size_t i = 1; i < all_.size(); ++i) {
        const std::size_t which = (selected_ + i) % all_.size();
        if (all_[which].last > all_[which].read) return which;
    }
    return std::nullopt;
}

std::string_view folder_news::select(std::size_t which, const proto::imap_status& said,
                                     std::uint64_t time_us) {
    selected_ = which;
    selected_us_ = time_us;
    folder& one = all_[which];
    told_before_ = one.last;
    if (said.uid_next == 0) return {};
    const std::string_view wrong = grow(one, said, time_us);
    // It is not told of again, so what is not there by now is not waited for.
    told_before_ = std::max(told_before_, one.last);
    return wrong;
}

announcement folder_news::of(std::uint32_t uid, const announcement& exists) const noexcept {
    const folder& one = all_[selected_];
    const auto found = std::partition_point(one.kept.begin(), one.kept.end(),
                                            [uid](const told_of& each) { return each.last < uid; });
    if (uid > one.read && found != one.kept.end()) return {found->time_us, ledger::notice::notify};
    if (exists.time_us != 0 || uid <= one.read) return exists;
    return {selected_us_, ledger::notice::notify};
}

void folder_news::leave(std::uint32_t uid) noexcept {
    folder& one = all_[selected_];
    one.read = std::max({one.read, uid, told_before_});
    one.last = std::max(one.last, one.read);
    one.known = true;
    std::erase_if(one.kept, [&](const told_of& each) { return each.last <= one.read; });
}

}  // namespace postal::rabid
