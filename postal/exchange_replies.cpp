// The hearing half of an exchange: what each reply means for its transaction, and what a broken
// connection leaves behind. What is said stands in exchange.cpp.
#include <utility>

#include "postal/exchange.hpp"
#include "postal/workshop.hpp"

namespace postal {

namespace {

bool positive(const refusal& said) noexcept {
    return said.code / 100 == 2;
}
bool negative(const refusal& said) noexcept {
    return said.code >= 400;
}

}  // namespace

verdict exchange::on_reply(const proto::reply_parser& reply, load::steady_time now) {
    const refusal said{reply.code(), reply.enhanced(), reply.text()};
    if (said.code == 421) return on_shutdown(said);
    if (idle()) {
        unexpected("unexpected_reply", said.text);
        return verdict::broken;
    }
    const stage what = expected_[expected_head_];
    last_answered_ = what;
    transaction& front = slots_[first_slot_];
    verdict result = verdict::go_on;
    const bool more_ends =
        what == stage::end && shop_.of_run.chosen.lmtp && front.ends + 1 < front.accepted;
    if (!more_ends) ++expected_head_;
    forget_answered();
    switch (what) {
        case stage::mail:
            result = on_mail_reply(front, said);
            break;
        case stage::rcpt:
            result = on_rcpt_reply(front, said, now);
            break;
        case stage::data:
            result = on_data_reply(front, said, now);
            break;
        case stage::end:
            result = on_end_reply(front, said, now);
            break;
        default:
            result = on_rset_reply(said);
            break;
    }
    return result;
}

// With several messages under way there is never a moment in which nothing is expected, so what has
// been answered is dropped now and then.
void exchange::forget_answered() {
    constexpr std::size_t enough = 256;
    if (!idle() && expected_head_ < enough) return;
    expected_.erase(expected_.begin(),
                    expected_.begin() + static_cast<std::ptrdiff_t>(expected_head_));
    expected_head_ = 0;
}

// 421 may answer any command, or nothing at all (RFC 5321 3.8): the server closes, and the
// transaction it came to is deferred. Behind complete data over LMTP it is the answer for one
// recipient only.
verdict exchange::on_shutdown(const refusal& said) {
    const bool answers = !idle();
    const stage quiet = open_ > 0 ? last_answered_ : stage::idle;
    const stage where = answers ? awaited() : quiet;
    books_.error(where, said);
    if (open_ == 0) return verdict::closing;
    transaction& front = slots_[first_slot_];
    const bool one_of_several = answers && where == stage::end && shop_.of_run.chosen.lmtp;
    if (one_of_several && front.open_units > 0) {
        books_.refused(1, false);
        --front.open_units;
    } else {
        refuse_open_units(front, false);
    }
    return verdict::closing;
}

verdict exchange::wrong_class(stage where, const refusal& said) {
    books_.error(where, {said.code, "unexpected_code", said.text});
    return verdict::broken;
}

verdict exchange::on_mail_reply(transaction& tx, const refusal& said) {
    if (positive(said)) return verdict::go_on;
    if (!negative(said)) return wrong_class(stage::mail, said);
    tx.mail_refused = true;
    books_.error(stage::mail, said);
    refuse_open_units(tx, said.permanent());
    // What has been said already in the same breath will be answered too.
    if (tx.said == 0) end_front();
    return verdict::go_on;
}

verdict exchange::on_rcpt_reply(transaction& tx, const refusal& said, load::steady_time now) {
    ++tx.answered;
    if (positive(said)) {
        tx.accepted += tx.mail_refused ? 0 : 1;
    } else if (!negative(said)) {
        return wrong_class(stage::rcpt, said);
    } else if (!tx.mail_refused) {
        books_.error(stage::rcpt, said);
        tx.any_deferred = tx.any_deferred || !said.permanent();
        if (shop_.of_run.chosen.lmtp) {
            books_.refused(1, said.permanent());
            --tx.open_units;
        }
    }
    if (!tx.envelope_answered()) return verdict::go_on;
    tx.envelope_done = now;
    if (tx.accepted > 0) return verdict::go_on;
    if (!tx.mail_refused) refuse_open_units(tx, !tx.any_deferred);
    if (tx.next == utterance::data) {  // nothing has been said after the recipients
        reset_due_ = !tx.mail_refused;
        end_front();
    }
    return verdict::go_on;
}

verdict exchange::on_data_reply(transaction& tx, const refusal& said, load::steady_time now) {
    if (said.code == 354) {
        // A server may ask for the message although it has no recipient: RFC 2920 3.1.
        tx.next = tx.accepted > 0 ? utterance::message : utterance::end_of_data;
        tx.envelope_done = now;
        return verdict::go_on;
    }
    if (!negative(said)) return wrong_class(stage::data, said);
    if (tx.accepted > 0) {
        books_.error(stage::data, said);
        refuse_open_units(tx, said.permanent());
    }
    reset_due_ = !tx.mail_refused;
    end_front();
    return verdict::go_on;
}

verdict exchange::on_end_reply(transaction& tx, const refusal& said, load::steady_time now) {
    ++tx.ends;
    if (tx.accepted == 0) {  // its outcome is known; the server only had to get to the end
        end_front();
        return verdict::go_on;
    }
    if (positive(said)) {
        count_accepted(tx, now);
    } else if (negative(said)) {
        books_.error(stage::end, said);
        books_.refused(1, said.permanent());
        --tx.open_units;
    } else {
        return wrong_class(stage::end, said);
    }
    if (tx.open_units == 0) end_front();
    return verdict::go_on;
}

verdict exchange::on_rset_reply(const refusal& said) {
    if (positive(said)) return verdict::go_on;
    books_.error(stage::rset, said);
    return verdict::broken;
}

void exchange::count_accepted(transaction& tx, load::steady_time now) {
    const bool lmtp = shop_.of_run.chosen.lmtp;
    books_.accepted(lmtp ? 1 : tx.accepted, tx.octets);
    if (tx.ends == 1) books_.took(phase::envelope, tx.envelope_done - tx.begun);
    books_.took(phase::data, now - tx.data_begun);
    books_.took(phase::message, now - tx.due);
    books_.took(phase::service, now - tx.begun);
    --tx.open_units;
    any_accepted_ = true;
}

void exchange::refuse_open_units(transaction& tx, bool permanent) {
    books_.refused(std::exchange(tx.open_units, 0), permanent);
}

void exchange::end_front() {
    give_back(slots_[first_slot_]);
    first_slot_ = (first_slot_ + 1) % slots_.size();
    --open_;
}

void exchange::give_back(transaction& tx) noexcept {
    if (tx.message != nullptr) shop_.give_back(std::exchange(tx.message, nullptr));
}

// ---- when it breaks ----

stage exchange::awaited(std::uint64_t written) const noexcept {
    const stage what = awaited();
    const bool unfinished = what != stage::rset && written < slots_[first_slot_].complete_at;
    return unfinished ? stage::data : what;
}

void exchange::unexpected(std::string_view reason, std::string_view sample) {
    books_.error(idle() ? last_answered_ : awaited(), reason, sample);
}

void exchange::lost(std::string_view reason, std::string_view sample, std::uint64_t written) {
    stage where = idle() ? stage::idle : awaited(written);
    for (; open_ > 0; end_front()) {
        transaction& tx = slots_[first_slot_];
        const bool complete = tx.complete_at > 0 && written >= tx.complete_at;
        if (tx.open_units > 0) {
            books_.lost(std::exchange(tx.open_units, 0), complete);
            if (!reason.empty()) books_.error(where, reason, sample);
        }
        where = stage::mail;
    }
    expected_.clear();
    expected_head_ = 0;
    output_written();
}

}  // namespace postal
