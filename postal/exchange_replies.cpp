// SPDX-License-Identifier: GPL-3.0-or-later
// The hearing half of an exchange: what each reply means for its transaction, and what a broken
// connection leaves behind. What is said stands in exchange.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "postal/exchange.hpp"

namespace postal::sender {

using units = message_outcomes::units;

// The deadline moves with each whole reply, not with each octet, so that a server that drips cannot
// hold a session for ever: that is why they are counted.
exchange::heard exchange::hear(std::string_view octets, moment now) {
    heard result;
    while (!octets.empty() && result.what == hearing::go_on) {
        const proto::reply_event event = parser_.feed(octets);
        if (event == proto::reply_event::malformed) {
            unexpected(base::error_name::of(parser_.problem()), parser_.offending());
            result.what = hearing::broken;
        } else if (event == proto::reply_event::reply) {
            ++result.replies;
            result.what = on_reply({parser_.code(), parser_.text()}, now);
        }
    }
    return result;
}

hearing exchange::on_reply(const reply& said, moment now) {
    const bool for_recipient =
        plan_.chosen.lmtp && !idle() && awaited() == stage::end && slots_[first_slot_].accepted > 0;
    if (said.code == 421 && !for_recipient) return on_shutdown(said, now);
    if (idle()) {
        unexpected("unexpected_reply", said.text);
        return hearing::broken;
    }
    const stage what = expected_[expected_head_];
    last_answered_ = what;
    transaction& front = slots_[first_slot_];
    const bool more = for_recipient && front.ends + 1 < front.accepted;
    if (!more) ++expected_head_;
    forget_answered();
    switch (what) {
        case stage::mail:
            return on_mail_reply(front, said, now);
        case stage::rcpt:
            return on_rcpt_reply(front, said, now);
        case stage::data:
            return on_data_reply(front, said, now);
        case stage::end: {
            const hearing how = on_end_reply(front, said, now);
            closing_ = closing_ || said.code == 421;
            return closing_ && !more && how == hearing::go_on ? hearing::closing : how;
        }
        default:
            return on_rset_reply(said);
    }
}

// With several messages under way there is never a moment in which nothing is expected, so what has
// been answered is dropped now and then.
void exchange::forget_answered() {
    constexpr std::size_t enough = 256;
    if (idle()) {
        expected_.clear();
    } else if (expected_head_ >= enough) {
        expected_.erase(expected_.begin(),
                        expected_.begin() + static_cast<std::ptrdiff_t>(expected_head_));
    } else {
        return;
    }
    expected_head_ = 0;
}

// 421 may answer any command, or nothing at all (RFC 5321 3.8): the server closes, and the
// transaction it came to is deferred. Behind complete data over LMTP it is the answer for one
// recipient only, and those for the others follow (RFC 2033 4.2): see on_reply().
hearing exchange::on_shutdown(const reply& said, moment now) {
    const bool answers = !idle();
    const stage quiet = open_ > 0 ? last_answered_ : stage::idle;
    const stage where = answers ? awaited() : quiet;
    outcomes_.error(where, said, server_);
    if (open_ == 0) return hearing::closing;
    outcomes_.end(slots_[first_slot_], units::rest, said, now);
    return hearing::closing;
}

hearing exchange::wrong_class(stage where, const reply& said) {
    outcomes_.error(where, {said.code, "unexpected_code", said.text}, server_);
    return hearing::broken;
}

hearing exchange::on_mail_reply(transaction& tx, const reply& said, moment now) {
    if (said.positive()) return hearing::go_on;
    if (!said.negative()) return wrong_class(stage::mail, said);
    tx.mail_refused = true;
    outcomes_.error(stage::mail, said, server_);
    outcomes_.end(tx, units::rest, said, now);
    // What has been said already in the same breath will be answered too.
    if (tx.said == 0) end_front(now.steady);
    return hearing::go_on;
}

hearing exchange::on_rcpt_reply(transaction& tx, const reply& said, moment now) {
    const std::size_t which = tx.answered++;
    if (said.positive()) {
        tx.accepted += tx.mail_refused ? 0 : 1;
        if (!tx.mail_refused) outcomes_.accept_recipient(tx, which);
    } else if (!said.negative()) {
        return wrong_class(stage::rcpt, said);
    } else if (!tx.mail_refused) {
        outcomes_.error(stage::rcpt, said, server_);
        if (!said.permanent() || tx.refusal / 100 != 4) tx.refusal = said.code;
        outcomes_.refuse_recipient(tx, which, said, now);
    }
    if (!tx.envelope_answered()) return hearing::go_on;
    tx.envelope_done = now.steady;
    if (tx.accepted > 0) return hearing::go_on;
    if (!tx.mail_refused) {
        outcomes_.end(tx, units::rest, {tx.refusal, {}, {}}, now);
    }
    if (tx.next == utterance::data) {  // nothing has been said after the recipients
        reset_due_ = !tx.mail_refused;
        end_front(now.steady);
    }
    return hearing::go_on;
}

hearing exchange::on_data_reply(transaction& tx, const reply& said, moment now) {
    if (said.code == 354) {
        // A server may ask for the message although it has no recipient: RFC 2920 3.1.
        tx.next = tx.accepted > 0 ? utterance::message : utterance::end_of_data;
        tx.envelope_done = now.steady;
        return hearing::go_on;
    }
    if (!said.negative()) return wrong_class(stage::data, said);
    if (tx.accepted > 0) {
        outcomes_.error(stage::data, said, server_);
        outcomes_.end(tx, units::rest, said, now);
    }
    reset_due_ = !tx.mail_refused;
    end_front(now.steady);
    return hearing::go_on;
}

hearing exchange::on_end_reply(transaction& tx, const reply& said, moment now) {
    ++tx.ends;
    // RFC 3030 2: RSET must follow a chunk that failed. Before what is in flight behind it, it has
    // been said.
    const bool whole = tx.accepted == 0 || !plan_.chosen.lmtp;
    if (chunking_ && whole && said.negative() && open_ == 1) reset_due_ = !tx.mail_refused;
    if (tx.accepted == 0) {  // its outcome is known; the server only had to get to the end
        end_front(now.steady);
        return hearing::go_on;
    }
    if (!said.positive() && !said.negative()) return wrong_class(stage::end, said);
    if (said.negative()) outcomes_.error(stage::end, said, server_);
    outcomes_.end(tx, units::next, said, now);
    any_accepted_ = any_accepted_ || said.positive();
    if (tx.open_units == 0) end_front(now.steady);
    return hearing::go_on;
}

hearing exchange::on_rset_reply(const reply& said) {
    if (said.positive()) return hearing::go_on;
    outcomes_.error(stage::rset, said, server_);
    return hearing::broken;
}

void exchange::end_front(load::steady_time now) {
    give_back(slots_[first_slot_]);
    first_slot_ = (first_slot_ + 1) % slots_.size();
    --open_;
    if (departed_ > 0) --departed_;
    // Before that the server was at work on another message.
    if (open_ > 0) slots_[first_slot_].data_begun = std::max(slots_[first_slot_].data_begun, now);
}

void exchange::give_back(transaction& tx) noexcept {
    if (tx.message != nullptr) maker_.take_back(std::exchange(tx.message, nullptr));
}

// ---- when it breaks ----

stage exchange::awaited(std::uint64_t written) const noexcept {
    const stage what = awaited();
    const bool unfinished = what != stage::rset && written < slots_[first_slot_].complete_at;
    return unfinished ? stage::data : what;
}

// RFC 2033 4.2: one reply for each recipient.
std::string exchange::broken_among_recipients() const {
    if (!plan_.chosen.lmtp || idle() || awaited() != stage::end) return {};
    const transaction& front = slots_[first_slot_];
    if (front.ends == 0 || front.ends >= front.accepted) return {};
    return fmt::format("{} of {} recipients answered", front.ends, front.accepted);
}

void exchange::unexpected(base::error_name reason, std::string_view sample) {
    outcomes_.error(idle() ? last_answered_ : awaited(), reason, sample, server_);
}

void exchange::lost(const breakage& how, moment now) {
    const bool awaits_reply = !idle();
    const stage broke_at = awaits_reply ? awaited(how.written) : stage::idle;
    const bool is_error = !how.reason.text().empty();
    bool is_counted = how.is_counted;
    stage where = broke_at;
    for (; open_ > 0; end_front(now.steady)) {
        transaction& tx = slots_[first_slot_];
        const bool complete = tx.complete_at > 0 && how.written >= tx.complete_at;
        if (tx.open_units > 0) {
            const auto what = complete ? ledger::outcome::in_doubt : ledger::outcome::failed;
            outcomes_.end(tx, units::rest, what, {}, now);
            if (is_error) outcomes_.error(where, how.reason, how.sample, server_);
            is_counted = true;
        }
        where = stage::mail;
    }
    // A reply that never came is an error also where each message has its outcome already.
    if (is_error && awaits_reply && !is_counted)
        outcomes_.error(broke_at, how.reason, how.sample, server_);
    expected_.clear();
    expected_head_ = 0;
    output_written();
}

}  // namespace postal::sender
