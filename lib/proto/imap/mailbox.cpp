// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/mailbox.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace postal::proto {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
// How far a UID is compared with its neighbours when those next to it are not known.
constexpr std::uint32_t neighbourhood = 16;

bool is_select(imap_verb verb) noexcept {
    return verb == imap_verb::select || verb == imap_verb::examine;
}

}  // namespace

bool imap_mailbox::sent(imap_tag tag, imap_verb verb) noexcept {
    if (running_count_ == max_running) return false;
    commands_[running_count_++] = {tag, verb};
    last_tag_ = std::max(last_tag_, tag);
    return true;
}

bool imap_mailbox::select(std::string_view name, imap_tag tag, imap_verb verb,
                          imap_memory remembered) {
    if (!sent(tag, verb)) return false;
    next_name_ = name;
    next_remembered_ = std::move(remembered);
    if (running_count_ == 1) begin_select();
    return true;
}

std::string_view imap_mailbox::apply(const imap_step& step) {
    switch (step.event) {
        case imap_event::tagged:
            return on_tagged(step);
        case imap_event::untagged:
            return on_code(step);
        case imap_event::exists:
            return on_exists(step);
        case imap_event::expunge:
            return on_expunge(step);
        case imap_event::vanished:
            return on_vanished(step);
        case imap_event::found:
            return on_found(step);
        case imap_event::fetch:
            return on_fetch(step);
        case imap_event::fetch_uid:
            return on_fetch_uid(step);
        case imap_event::fetch_modseq:
            return on_modseq(step);
        default:
            return {};
    }
}

imap_verb imap_mailbox::answering() const noexcept {
    return running_count_ == 0 ? imap_verb::none : commands_[0].verb;
}

std::string_view imap_mailbox::on_tagged(const imap_step& step) {
    const imap_tag tag = read_imap_tag(step.tag);
    const auto begin = commands_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(running_count_);
    const auto found = std::find_if(begin, end, [tag](command one) { return one.tag == tag; });
    if (found == end || tag == no_tag) {
        const bool before = tag != no_tag && tag <= last_tag_;
        return before ? "a tag that was answered before" : "a tag that nobody sent";
    }
    const imap_verb answered = found->verb;
    std::move(found + 1, end, found);
    --running_count_;
    std::string_view wrong = on_code(step);
    const bool ok = step.condition == imap_condition::ok;
    if (is_select(answered)) {
        const std::string_view unfinished = end_select(ok);
        if (wrong.empty()) wrong = unfinished;
    } else if (ok && (answered == imap_verb::close || answered == imap_verb::unselect)) {
        phase_ = phase::none;
        forget_messages();
    }
    if (is_select(answering())) begin_select();
    return wrong;
}

void imap_mailbox::begin_select() {
    if (next_name_ != name_) {
        name_ = next_name_;
        uid_validity_ = 0;
        uid_next_ = 0;
    }
    forget_messages();
    remembered_ = std::move(next_remembered_);
    next_remembered_ = {};
    phase_ = phase::selecting;
}

std::string_view imap_mailbox::end_select(bool selected) {
    if (!selected) {
        phase_ = phase::none;
        forget_messages();
        return {};
    }
    phase_ = phase::selected;
    // An EXISTS behind the first one may count mail that came later than UIDNEXT was told.
    selected_ = told_exists_ == 1 && uid_next_ != 0 ? exists_ : 0;
    selected_modseq_ = highest_modseq_;
    const std::string_view wrong = end_resync();
    return told_exists_ == 0 ? "SELECT without EXISTS" : wrong;
}

void imap_mailbox::forget_messages() noexcept {
    uids_.clear();
    exists_ = known_ = fetched_ = told_exists_ = selected_ = 0;
    highest_modseq_ = selected_modseq_ = 0;
    no_modseq_ = false;
}

std::string_view imap_mailbox::on_code(const imap_step& step) {
    switch (step.code) {
        case imap_code::uid_validity:
            return set_uid_validity(step.number);
        case imap_code::uid_next:
            return set_uid_next(step.number);
        case imap_code::highest_modseq:
            return set_highest_modseq(step.number);
        case imap_code::no_modseq:
            no_modseq_ = true;
            return {};
        case imap_code::closed:  // RFC 7162 3.2.11: what came before was of the old mailbox
            if (phase_ == phase::selecting) forget_messages();
            return {};
        default:
            return {};
    }
}

std::string_view imap_mailbox::set_uid_validity(std::uint64_t value) noexcept {
    if (value == 0 || value > most) return "UIDVALIDITY is no number that it can be";
    const auto now = static_cast<std::uint32_t>(value);
    if (uid_validity_ == now) return {};
    const bool changed = uid_validity_ != 0;
    uid_validity_ = now;
    if (!changed) return {};
    std::fill(uids_.begin(), uids_.end(), 0U);
    known_ = 0;
    uid_next_ = 0;
    return "UIDVALIDITY changed within a session";
}

std::string_view imap_mailbox::set_uid_next(std::uint64_t value) noexcept {
    if (value == 0 || value > most) return "UIDNEXT is no number that it can be";
    const auto now = static_cast<std::uint32_t>(value);
    const bool shrank = now < uid_next_;
    uid_next_ = now;
    if (phase_ == phase::selected) selected_ = 0;
    return shrank ? "UIDNEXT shrank" : std::string_view{};
}

std::string_view imap_mailbox::on_exists(const imap_step& step) {
    if (phase_ == phase::none) return "EXISTS while no mailbox is selected";
    if (step.number > most) return "EXISTS is no number that it can be";
    const auto now = static_cast<std::uint32_t>(step.number);
    ++told_exists_;
    if (now >= exists_) {
        exists_ = now;
        return {};
    }
    shrink(now);
    // Without CLOSED (RFC 7162 3.2.11), the one before may have been of the mailbox before.
    return phase_ == phase::selected ? "EXISTS shrank without EXPUNGE" : std::string_view{};
}

// Only the last messages can be taken away without knowing which.
void imap_mailbox::shrink(std::uint32_t exists) noexcept {
    erase(exists + 1, exists_ - exists);
}

void imap_mailbox::erase(std::uint32_t first, std::uint32_t count) noexcept {
    exists_ -= count;
    if (first <= selected_) selected_ -= std::min(count, selected_ - first + 1);
    if (first > uids_.size()) return;
    const std::size_t kept = std::min<std::size_t>(count, uids_.size() - (first - 1));
    const auto from = static_cast<std::ptrdiff_t>(first - 1);
    const auto to = from + static_cast<std::ptrdiff_t>(kept);
    const auto unknown = std::count(uids_.begin() + from, uids_.begin() + to, 0U);
    known_ -= static_cast<std::uint32_t>(kept) - static_cast<std::uint32_t>(unknown);
    uids_.erase(uids_.begin() + from, uids_.begin() + to);
}

// RFC 9051 7.5.1. Commands are answered in any order, so one that allows it is enough.
std::string_view imap_mailbox::expunge_forbidden() const noexcept {
    if (running_count_ == 0) return "EXPUNGE while no command is in progress";
    const auto end = commands_.begin() + static_cast<std::ptrdiff_t>(running_count_);
    const bool all =
        std::all_of(commands_.begin(), end, [](command one) { return forbids_expunge(one.verb); });
    return all ? "EXPUNGE during FETCH, STORE or SEARCH" : std::string_view{};
}

std::string_view imap_mailbox::on_expunge(const imap_step& step) {
    if (phase_ == phase::none) return "EXPUNGE while no mailbox is selected";
    if (phase_ == phase::selecting) return {};  // of the mailbox that was selected before
    if (step.number == 0 || step.number > exists_) return "EXPUNGE beyond EXISTS";
    erase(static_cast<std::uint32_t>(step.number), 1);
    return qresync_ ? "EXPUNGE although QRESYNC is enabled" : expunge_forbidden();
}

imap_verb imap_mailbox::running_search() const noexcept {
    for (std::size_t i = 0; i < running_count_; ++i) {
        const imap_verb verb = commands_[i].verb;
        if (verb == imap_verb::search || verb == imap_verb::uid_search) return verb;
        if (verb == imap_verb::sort || verb == imap_verb::uid_sort) return verb;
    }
    return imap_verb::none;
}

std::string_view imap_mailbox::on_found(const imap_step& step) const noexcept {
    const imap_verb verb = running_search();
    if (verb == imap_verb::none) return "SEARCH that nobody asked for";
    if (verb == imap_verb::search || verb == imap_verb::sort) {
        return step.range.last > exists_ ? "SEARCH beyond EXISTS" : std::string_view{};
    }
    // A UID above all that are known may be one of a message that EXISTS has yet to tell.
    if (exists_ == 0 || !all_uids_known() || step.range.last > uids_.back()) return {};
    const auto from = std::lower_bound(uids_.begin(), uids_.end(), step.range.first);
    const bool known = from != uids_.end() && *from <= step.range.last;
    return known ? std::string_view{} : "SEARCH names an unknown UID";
}

std::string_view imap_mailbox::on_fetch(const imap_step& step) noexcept {
    fetched_ = fetched_uid_ = 0;
    if (phase_ == phase::none) return "FETCH while no mailbox is selected";
    if (step.number == 0 || step.number > exists_) {
        return phase_ == phase::selected ? "FETCH beyond EXISTS" : std::string_view{};
    }
    fetched_ = static_cast<std::uint32_t>(step.number);
    return {};
}

std::string_view imap_mailbox::on_fetch_uid(const imap_step& step) {
    if (step.number == 0 || step.number > most) return "a UID is no number that it can be";
    fetched_uid_ = static_cast<std::uint32_t>(step.number);
    if (fetched_ == 0 || fetched_ > max_messages_) return {};
    if (fetched_ > uids_.size()) uids_.resize(std::min(exists_, max_messages_));
    const auto now = static_cast<std::uint32_t>(step.number);
    std::uint32_t& uid = uids_[fetched_ - 1];
    if (uid == now) return {};
    const bool changed = uid != 0;
    if (!changed) ++known_;
    uid = now;
    return changed ? "UID of a message changed" : wrong_place_for(now);
}

// RFC 9051 2.3.1.1: ascending; below UIDNEXT what was there then, not below it what came later.
std::string_view imap_mailbox::wrong_place_for(std::uint32_t uid) const noexcept {
    const std::size_t at = fetched_ - 1;
    for (std::size_t i = 1; i <= std::min<std::size_t>(neighbourhood, at); ++i) {
        if (uids_[at - i] >= uid) return "UIDs are not ascending";
        if (uids_[at - i] != 0) break;
    }
    for (std::size_t i = at + 1; i < std::min(at + neighbourhood, uids_.size()); ++i) {
        if (uids_[i] != 0 && uids_[i] <= uid) return "UIDs are not ascending";
        if (uids_[i] != 0) break;
    }
    if (selected_ == 0) return {};
    if (fetched_ <= selected_ && uid >= uid_next_) return "UID is not below UIDNEXT";
    if (fetched_ > selected_ && uid < uid_next_) return "UID of a new message is below UIDNEXT";
    return {};
}

std::uint32_t imap_mailbox::uid(std::uint32_t number) const noexcept {
    return number == 0 || number > uids_.size() ? 0 : uids_[number - 1];
}

}  // namespace postal::proto
