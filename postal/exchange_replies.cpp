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
    if (said.code == 421) return on_shutdown(said, now);
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
            result = on_mail_reply(front, said, now);
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
verdict exchange::on_shutdown(const refusal& said, load::steady_time now) {
    const bool answers = !idle();
    const stage quiet = open_ > 0 ? last_answered_ : stage::idle;
    const stage where = answers ? awaited() : quiet;
    books_.error(where, said);
    if (open_ == 0) return verdict::closing;
    transaction& front = slots_[first_slot_];
    const bool one_of_several = answers && where == stage::end && shop_.of_run.chosen.lmtp;
    if (one_of_several && front.open_units > 0) {
        refuse_next_unit(front, said, now);
    } else {
        refuse_open_units(front, said, now);
    }
    return verdict::closing;
}

verdict exchange::wrong_class(stage where, const refusal& said) {
    books_.error(where, {said.code, "unexpected_code", said.text});
    return verdict::broken;
}

verdict exchange::on_mail_reply(transaction& tx, const refusal& said, load::steady_time now) {
    if (positive(said)) return verdict::go_on;
    if (!negative(said)) return wrong_class(stage::mail, said);
    tx.mail_refused = true;
    books_.error(stage::mail, said);
    refuse_open_units(tx, said, now);
    // What has been said already in the same breath will be answered too.
    if (tx.said == 0) end_front();
    return verdict::go_on;
}

verdict exchange::on_rcpt_reply(transaction& tx, const refusal& said, load::steady_time now) {
    const std::size_t which = tx.answered++;
    if (positive(said)) {
        tx.accepted += tx.mail_refused ? 0 : 1;
        if (entries_ != nullptr && !tx.mail_refused) ledger_entries::rcpt_accepted(tx, which);
    } else if (!negative(said)) {
        return wrong_class(stage::rcpt, said);
    } else if (!tx.mail_refused) {
        books_.error(stage::rcpt, said);
        tx.any_deferred = tx.any_deferred || !said.permanent();
        if (entries_ != nullptr) entries_->rcpt_refused(tx, which, ends_now(said, now));
        if (shop_.of_run.chosen.lmtp) {
            books_.refused(1, said.permanent());
            --tx.open_units;
        }
    }
    if (!tx.envelope_answered()) return verdict::go_on;
    tx.envelope_done = now;
    if (tx.accepted > 0) return verdict::go_on;
    if (!tx.mail_refused) refuse_open_units(tx, {tx.any_deferred ? 450 : 550, {}, {}}, now);
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
        refuse_open_units(tx, said, now);
    }
    reset_due_ = !tx.mail_refused;
    end_front();
    return verdict::go_on;
}

verdict exchange::on_end_reply(transaction& tx, const refusal& said, load::steady_time now) {
    ++tx.ends;
    // RFC 3030 2: RSET must follow a chunk that failed. Before what is in flight behind it, it has
    // been said.
    const bool whole = tx.accepted == 0 || !shop_.of_run.chosen.lmtp;
    if (chunking_ && whole && negative(said) && open_ == 1) reset_due_ = !tx.mail_refused;
    if (tx.accepted == 0) {  // its outcome is known; the server only had to get to the end
        end_front();
        return verdict::go_on;
    }
    if (positive(said)) {
        count_accepted(tx, said, now);
    } else if (negative(said)) {
        books_.error(stage::end, said);
        refuse_next_unit(tx, said, now);
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

void exchange::count_accepted(transaction& tx, const refusal& said, load::steady_time now) {
    const bool lmtp = shop_.of_run.chosen.lmtp;
    books_.accepted(lmtp ? 1 : tx.accepted, tx.octets);
    if (tx.ends == 1) books_.took(phase::envelope, tx.envelope_done - tx.begun);
    books_.took(phase::data, now - tx.data_begun);
    books_.took(phase::message, now - tx.due);
    books_.took(phase::service, now - tx.begun);
    --tx.open_units;
    any_accepted_ = true;
    if (entries_ == nullptr) return;
    const ledger_entries::end how = ends_now(said, now);
    lmtp ? entries_->end_next(tx, how) : entries_->end_rest(tx, how);
}

// One message behind its data; over LMTP one recipient of it.
void exchange::refuse_next_unit(transaction& tx, const refusal& said, load::steady_time now) {
    if (!shop_.of_run.chosen.lmtp) return refuse_open_units(tx, said, now);
    books_.refused(1, said.permanent());
    --tx.open_units;
    if (entries_ != nullptr) entries_->end_next(tx, ends_now(said, now));
}

void exchange::refuse_open_units(transaction& tx, const refusal& said, load::steady_time now) {
    if (tx.open_units == 0) return;
    books_.refused(std::exchange(tx.open_units, 0), said.permanent());
    if (entries_ != nullptr) entries_->end_rest(tx, ends_now(said, now));
}

ledger_entries::end exchange::ends_now(const refusal& said, load::steady_time now) {
    ledger::outcome what = ledger::outcome::accepted;
    if (negative(said)) {
        what = said.permanent() ? ledger::outcome::rejected : ledger::outcome::deferred;
    }
    return {what, said, shop_.wall_clock_us(now)};
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

void exchange::lost(const breakage& how) {
    stage where = idle() ? stage::idle : awaited(how.written);
    for (; open_ > 0; end_front()) {
        transaction& tx = slots_[first_slot_];
        const bool complete = tx.complete_at > 0 && how.written >= tx.complete_at;
        if (tx.open_units > 0) {
            books_.lost(std::exchange(tx.open_units, 0), complete);
            const auto what = complete ? ledger::outcome::in_doubt : ledger::outcome::failed;
            if (entries_ != nullptr)
                entries_->end_rest(tx, {what, {}, shop_.wall_clock_us(how.now)});
            if (!how.reason.empty()) books_.error(where, how.reason, how.sample);
        }
        where = stage::mail;
    }
    expected_.clear();
    expected_head_ = 0;
    output_written();
}

}  // namespace postal
