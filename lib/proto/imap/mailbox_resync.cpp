// SPDX-License-Identifier: GPL-3.0-or-later
// What imap_mailbox makes of CONDSTORE and QRESYNC (RFC 7162): mod-sequences, VANISHED, and the
// state that one session leaves to the next.
#include <algorithm>
#include <limits>
#include <utility>

#include "proto/imap/mailbox.hpp"

namespace postal::proto {
namespace {

constexpr std::size_t most_vanished = 1024;  // ranges, before they are taken away together
constexpr std::uint64_t most_modseq = std::numeric_limits<std::int64_t>::max();  // RFC 7162 7

bool is_modseq(std::uint64_t value) noexcept {
    return value != 0 && value <= most_modseq;
}

}  // namespace

std::string_view imap_mailbox::set_highest_modseq(std::uint64_t value) noexcept {
    if (!is_modseq(value)) return "HIGHESTMODSEQ is no number that it can be";
    const bool shrank = value < highest_modseq_;
    highest_modseq_ = value;
    return shrank ? "HIGHESTMODSEQ shrank" : std::string_view{};
}

std::string_view imap_mailbox::on_modseq(const imap_step& step) const noexcept {
    if (!is_modseq(step.number)) return "MODSEQ is no number that it can be";
    return no_modseq_ ? "MODSEQ in a mailbox that has none" : std::string_view{};
}

// RFC 7162 3.2.10. What is said of numbers is believed also when it must not be said.
std::string_view imap_mailbox::on_vanished(const imap_step& step) {
    if (phase_ == phase::none) return "VANISHED while no mailbox is selected";
    if (step.earlier) return on_vanished_earlier(step);
    const std::string_view wrong =
        phase_ == phase::selecting ? std::string_view{} : take_vanished(step);
    return qresync_ ? wrong : "VANISHED although QRESYNC is not enabled";
}

std::string_view imap_mailbox::take_vanished(const imap_step& step) {
    const std::uint64_t length = std::uint64_t{step.range.last} - step.range.first + 1;
    const std::uint32_t known = uids_within(step.range);
    if (all_uids_known() || known == length) {
        if (known == 0) return "VANISHED names an unknown UID";
        const auto from = all_uids_known()
                              ? std::lower_bound(uids_.begin(), uids_.end(), step.range.first)
                              : std::find_if(uids_.begin(), uids_.end(), [&](std::uint32_t uid) {
                                    return uid != 0 && uid >= step.range.first;
                                });
        erase(static_cast<std::uint32_t>(from - uids_.begin()) + 1, known);
        return expunge_forbidden();
    }
    if (length > exists_) return "VANISHED beyond EXISTS";
    // Which numbers went is not known, so none of the numbers is any more.
    const auto left = exists_ - static_cast<std::uint32_t>(length);
    shrink(left);
    std::fill(uids_.begin(), uids_.end(), 0U);
    known_ = selected_ = 0;
    return expunge_forbidden();
}

std::uint32_t imap_mailbox::uids_within(imap_range range) const noexcept {
    if (all_uids_known()) {
        const auto from = std::lower_bound(uids_.begin(), uids_.end(), range.first);
        return static_cast<std::uint32_t>(std::upper_bound(from, uids_.end(), range.last) - from);
    }
    const auto within = [range](std::uint32_t uid) {
        return uid >= range.first && uid <= range.last;
    };
    return static_cast<std::uint32_t>(std::count_if(uids_.begin(), uids_.end(), within));
}

// Those were gone before EXISTS was told. They answer SELECT with QRESYNC, or UID FETCH with
// VANISHED, and may name UIDs that nobody knew (RFC 7162 3.2.10.1).
std::string_view imap_mailbox::on_vanished_earlier(const imap_step& step) {
    const auto end = commands_.begin() + static_cast<std::ptrdiff_t>(running_count_);
    const bool fetching = std::any_of(commands_.begin(), end,
                                      [](command one) { return one.verb == imap_verb::uid_fetch; });
    const bool resyncing = phase_ == phase::selecting && remembered_.usable();
    if (!qresync_ || (!fetching && !resyncing)) return "VANISHED (EARLIER) that nobody asked for";
    if (resyncing) vanished_earlier_.push_back(step.range);
    // A server may say so without an end. What is remembered is no more than max_messages.
    if (vanished_earlier_.size() == most_vanished) {
        remembered_.forget(std::exchange(vanished_earlier_, {}));
    }
    return known_ > 0 && uids_within(step.range) > 0
               ? "VANISHED (EARLIER) names a message that is there"
               : std::string_view{};
}

// Messages that were known and have not vanished stand first, since new ones have higher UIDs. When
// all were known, their numbers are, too.
std::string_view imap_mailbox::end_resync() {
    // RFC 7162 3.1.2: from the first command on that enables it.
    if (qresync_ && highest_modseq_ == 0 && !no_modseq_) return "SELECT without HIGHESTMODSEQ";
    imap_memory before = std::exchange(remembered_, {});
    before.forget(std::exchange(vanished_earlier_, {}));
    if (!before.usable() || before.uid_validity != uid_validity_ || no_modseq_) return {};
    if (highest_modseq_ < before.modseq) return "HIGHESTMODSEQ shrank between two sessions";
    if (before.count() > exists_) return "messages are gone without VANISHED";
    if (!before.complete) return {};
    std::string_view wrong;
    std::uint32_t number = 0;
    for (const imap_range range : before.uids) {
        for (std::uint64_t uid = range.first; uid <= range.last; ++uid) {
            fetched_ = ++number;
            imap_step step;
            step.number = uid;
            const std::string_view problem = on_fetch_uid(step);
            if (wrong.empty()) wrong = problem;
        }
    }
    fetched_ = fetched_uid_ = 0;
    return wrong;
}

imap_memory imap_mailbox::remember() const {
    imap_memory kept;
    if (phase_ != phase::selected || selected_modseq_ == 0) return kept;
    kept.uid_validity = uid_validity_;
    kept.modseq = selected_modseq_;
    kept.complete = all_uids_known();
    kept.learn(uids_);
    return kept;
}

}  // namespace postal::proto
