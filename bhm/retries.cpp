// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/retries.hpp"

#include <algorithm>
#include <utility>

#include "base/release.hpp"
#include "behaviour/situation.hpp"
#include "bhm/phases.hpp"

namespace postal::bhm {
namespace {

using behaviour::grey_verdict;
using behaviour::stage;

constexpr std::size_t kept_room = 64;  // recipients, in an idle session

constexpr bool for_now(unsigned code) noexcept {
    return code >= 400 && code < 500;
}

constexpr bool for_good(unsigned code) noexcept {
    return code >= 500;
}

constexpr bool positive(unsigned code) noexcept {
    return code >= 200 && code < 300;
}

unsigned code_at(const behaviour::rule& one, stage at) {
    const auto& what = one.at[static_cast<std::size_t>(at)];
    return what && what->reply ? what->reply->code : 0U;
}

}  // namespace

deferrals deferrals_of(const behaviour::behaviour& rules) {
    deferrals found;
    for (const behaviour::rule& one : rules.rules) {
        for (const stage at : {stage::data, stage::chunk, stage::end})
            found.taken = found.taken || for_now(code_at(one, at));
        // 421 ends the session, and with it the transaction of those who were taken.
        found.beside = found.beside || code_at(one, stage::rcpt) == 421;
        found.any = found.any || found.taken || for_now(code_at(one, stage::rcpt));
    }
    return found;
}

// ---- all sessions ----

std::optional<waiting_recipients::retry> waiting_recipients::try_again(std::string_view triplet,
                                                                       nanoseconds now) {
    const std::lock_guard lock(mutex_);
    memory* mine = known_.find(triplet);
    if (mine == nullptr) return std::nullopt;
    const bool first = !std::exchange(mine->retried, true);
    return retry{std::max(now - mine->last, nanoseconds{}), first, mine->greylisted};
}

waiting_recipients::deferral waiting_recipients::defer(std::string_view triplet, bool greylisted,
                                                       nanoseconds now) {
    const std::lock_guard lock(mutex_);
    const std::size_t before = known_.size();
    const auto [mine, added] = known_.touch(triplet);
    if (added) mine = {.first = now, .last = now};
    mine.last = std::max(mine.last, now);
    mine.greylisted = greylisted;
    size_.store(known_.size(), std::memory_order_relaxed);
    return {added, added && known_.size() == before};
}

std::optional<waiting_recipients::settlement> waiting_recipients::settle(std::string_view triplet,
                                                                         nanoseconds now) {
    const std::lock_guard lock(mutex_);
    const memory* mine = known_.find(triplet);
    if (mine == nullptr) return std::nullopt;
    const settlement made{std::max(now - mine->first, nanoseconds{}), mine->retried};
    known_.erase(triplet);
    size_.store(known_.size(), std::memory_order_relaxed);
    return made;
}

// ---- one session ----

attempts::attempts(waiting_recipients& waiting, origin from, stats::tally& counts)
    : waiting_(waiting), from_(std::move(from)), counts_(counts) {}

void attempts::begin(const proto::path& sender) {
    drop();
    std::string room;
    null_sender_ = sender.null;
    sender_.assign(behaviour::address_text(&sender, room).value_or(""));
}

std::string attempts::triplet(const proto::path& recipient) const {
    std::string room;
    return triplet(behaviour::address_text(&recipient, room).value_or(""));
}

std::string attempts::triplet(std::string_view address) const {
    proto::path sender;
    sender.mailbox = sender_;
    sender.null = null_sender_;
    proto::path recipient;
    recipient.mailbox = address;
    behaviour::situation here;
    here.client = from_.client ? &*from_.client : nullptr;
    here.sender = &sender;
    here.recipient = &recipient;
    return behaviour::triplet_text(here);
}

void attempts::recipient(const proto::path& who, const recipient_answer& answer) {
    const std::size_t number = taken_;
    if (positive(answer.code)) ++taken_;
    if (answer.grey) count(*answer.grey);
    const bool nothing_to_note =
        positive(answer.code) && !answer.may_be_deferred && waiting_.none();
    if (nothing_to_note) return;
    std::string room;
    const std::string_view address = behaviour::address_text(&who, room).value_or("");
    const bool waits = !waiting_.none() && try_again(triplet(address), answer);
    if (for_now(answer.code)) {
        const bool greylisted = answer.grey && *answer.grey != grey_verdict::passes;
        defer(triplet(address), greylisted, answer.said);
        // RFC 5321 3.8: the client is sent away, and nothing becomes of its transaction.
        if (answer.code == 421) refused(answer.code, answer.said);
    } else if (for_good(answer.code) && waits) {
        settle(triplet(address), answer.code, answer.said);
    } else if (positive(answer.code) && (waits || answer.may_be_deferred)) {
        kept_.push_back({.address = std::string(address), .number = number, .waits = waits});
    }
}

void attempts::count(grey_verdict verdict) noexcept {
    switch (verdict) {
        case grey_verdict::first:
            ++counts_.grey_first;
            break;
        case grey_verdict::early:
            ++counts_.grey_early;
            break;
        case grey_verdict::late:
            ++counts_.grey_late;
            break;
        case grey_verdict::passes:
            ++counts_.grey_passed;
            break;
    }
}

bool attempts::try_again(const std::string& named, const recipient_answer& answer) {
    const auto again = waiting_.try_again(named, answer.came);
    if (!again) return false;
    ++counts_.retries;
    counts_.latency[static_cast<std::size_t>(phase::retry)].record(again->since_last);
    if (again->first) {
        --counts_.not_retried;
        ++counts_.still_deferred;
    }
    if (again->greylisted && answer.grey == grey_verdict::passes) ++counts_.grey_in_time;
    return true;
}

void attempts::defer(const std::string& named, bool greylisted, nanoseconds said) {
    const auto made = waiting_.defer(named, greylisted, said);
    if (made.forgot) ++counts_.retries_forgotten;
    if (!made.first) return;
    ++counts_.deferred_recipients;
    ++counts_.not_retried;
}

void attempts::settle(const std::string& named, unsigned code, nanoseconds now) {
    const auto made = waiting_.settle(named, now);
    if (!made) return;
    --(made->retried ? counts_.still_deferred : counts_.not_retried);
    if (for_good(code)) {
        ++counts_.rejected_after_retry;
        return;
    }
    ++counts_.taken_after_retry;
    counts_.latency[static_cast<std::size_t>(phase::retried)].record(made->since_first);
}

void attempts::end(taken_recipient& one, unsigned code, nanoseconds now) {
    if (for_now(code)) {
        defer(triplet(one.address), false, now);
        one.waits = true;
    } else if (std::exchange(one.waits, false)) {
        settle(triplet(one.address), code, now);
    }
}

void attempts::answered(std::size_t number, unsigned code) {
    if (!from_.lmtp) {
        for (taken_recipient& one : kept_)
            one.code = code;
        return;
    }
    const auto one = std::lower_bound(
        kept_.begin(), kept_.end(), number,
        [](const taken_recipient& other, std::size_t wanted) { return other.number < wanted; });
    if (one != kept_.end() && one->number == number) one->code = code;
}

void attempts::let_go(nanoseconds now) {
    for (taken_recipient& one : kept_) {
        if (const unsigned code = std::exchange(one.code, 0U); code != 0) end(one, code, now);
    }
}

void attempts::refused(unsigned code, nanoseconds said) {
    for (taken_recipient& one : kept_)
        end(one, code, said);
}

void attempts::drop() noexcept {
    taken_ = 0;
    kept_.clear();
    if (kept_.capacity() > kept_room) base::release(kept_);
}

}  // namespace postal::bhm
