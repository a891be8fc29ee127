// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/exchange.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "proto/smtp/client_commands.hpp"
#include "proto/smtp/esmtp_parameters.hpp"

namespace postal::sender {

exchange::exchange(const plan& of, message_maker& maker, message_outcomes& outcomes,
                   unsigned session)
    : plan_(of), maker_(maker), outcomes_(outcomes), session_(session) {}

void exchange::begin(const proto::capabilities& offered, std::uint64_t left,
                     std::optional<std::uint32_t> sender) {
    const options& chosen = plan_.chosen;
    offered_ = offered;
    pipelining_ = offered.pipelining && chosen.pipelining != pipelining::off;
    chunking_ = offered.chunking && chosen.chunking == offer::automatic;
    const bool overlap = chosen.pipelining == pipelining::overlap || chosen.in_flight > 1;
    most_open_ = !pipelining_ ? 1 : chunking_ ? chosen.in_flight : overlap ? 2 : 1;
    if (slots_.size() < most_open_) slots_.resize(most_open_);
    left_ = left;
    sender_ = sender;
    reset_due_ = left_one_out_ = closing_ = false;
    any_accepted_ = false;
    last_answered_ = stage::ehlo;
    output_written();  // what a broken connection left
    first_slot_ = open_ = departed_ = 0;
    expected_.clear();
    expected_head_ = 0;
    parser_.reset();
}

std::string exchange::left_out() const {
    const options& chosen = plan_.chosen;
    const bool several = chosen.in_flight > 1;
    if (chosen.chunking == offer::off || (chunking_ && (pipelining_ || !several))) return {};
    return fmt::format(
        "{}: the server offers no {}{}",
        several ? fmt::format("--in-flight {}", chosen.in_flight) : "--chunking auto",
        chunking_ ? "PIPELINING" : "CHUNKING",
        several ? fmt::format(", at most {} in flight", most_open_) : "");
}

// ---- saying ----

void exchange::compose(moment now, std::uint64_t written) {
    queued_ = written;
    wants_ticket_ = false;
    while (pipelining_ || idle()) {
        transaction* newest =
            open_ == 0 ? nullptr : &slots_[(first_slot_ + open_ - 1) % slots_.size()];
        if (newest != nullptr && newest->next != utterance::nothing) {
            if (!say_next(*newest)) break;
        } else if (reset_due_) {
            say_rset();
        } else if (may_begin()) {
            // RFC 3030 2: when a chunk fails, its transaction stays open until RSET; and nobody
            // knows yet whether the one that is still under way does.
            if (chunking_ && open_ > 0) say_rset();
            begin_transaction(now);
        } else {
            break;
        }
    }
}

bool exchange::may_begin() {
    if (left_ == 0 || open_ == most_open_ || closing_) return false;
    if (left_one_out_ && !idle()) return false;
    left_one_out_ = false;
    wants_ticket_ = !has_ticket() && !over_;
    return has_ticket();
}

void exchange::begin_transaction(moment now) {
    transaction& tx = slots_[(first_slot_ + open_) % slots_.size()];
    std::vector<std::uint32_t> recipients = std::move(tx.recipients);
    std::vector<fate> fates = std::move(tx.fates);
    tx = transaction{};
    tx.recipients = std::move(recipients);
    tx.fates = std::move(fates);
    tx.session = session_;
    tx.sequence = sequence_++;
    maker_.make(tx, sender_, plan_.chosen.lmtp ? ticket_.messages : plan_.chosen.recipients.most,
                now.wall());
    tx.octets = chunking_ ? tx.message->total_octets() : tx.message->declared_octets();
    tx.begins_at = next_octet();
    tx.overlapped = !chunking_ && open_ > 0;
    tx.begun = tx.data_begun = now.steady;  // until they have left
    tx.due = now.steady;  // until it has left; in an open loop what the schedule says counts
    if (plan_.chosen.open_loop) tx.each_due = std::move(ticket_.each);
    ticket_ = {};
    outcomes_.start(tx);
    --left_;
    const base::error_name missing = missing_for(tx);
    if (!missing.text().empty()) return leave_out(tx, missing, now);
    ++open_;
}

// Mail that the server does not take must not be sent to it (RFC 6152 3, RFC 6531 3.1).
base::error_name exchange::missing_for(const transaction& tx) const noexcept {
    if (tx.message->needs_smtputf8() && !offered_.smtputf8) return "no_smtputf8";
    if (tx.message->needs_8bit() && !offered_.eight_bit_mime) return "no_8bitmime";
    return {};
}

// RSET takes its place, so that it costs a round trip as the server's own refusal would: the
// messages of a run that all need what is missing must not end as fast as they can be made.
void exchange::leave_out(transaction& tx, base::error_name missing, moment now) {
    outcomes_.error(stage::mail, missing, "the server does not offer what the message needs",
                    server_);
    outcomes_.end(tx, message_outcomes::units::rest, ledger::outcome::failed, {}, now);
    give_back(tx);
    say_rset();
    left_one_out_ = true;
}

// False when a reply must come before anything else is said.
bool exchange::say_next(transaction& tx) {
    switch (tx.next) {
        case utterance::mail:
            say_mail(tx);
            return true;
        case utterance::rcpt:
            say_rcpt(tx);
            return true;
        case utterance::data:
            say_data(tx);
            return chunking_;
        case utterance::message:
            say_message(tx);
            return true;
        case utterance::end_of_data:
            tx.data_at = next_octet();
            text_.append(proto::end_of_data);
            expect(stage::end);
            tx.next = utterance::nothing;
            return true;
        case utterance::wait:
        case utterance::nothing:
            break;
    }
    return false;
}

// What is passed through takes the place of what we would say ourselves.
void exchange::say_mail(transaction& tx) {
    const options& chosen = plan_.chosen;
    const passed_parameters& passed = chosen.mail_parameters;
    proto::mail_parameters with;
    if (offered_.size && !passed.has("SIZE")) {
        with.size = chunking_ ? tx.message->total_octets() : tx.message->declared_octets();
    }
    with.eight_bit_mime =
        offered_.eight_bit_mime && tx.message->needs_8bit() && !passed.has("BODY");
    with.smtputf8 = offered_.smtputf8 && tx.message->needs_smtputf8() && !passed.has("SMTPUTF8");
    with.others = passed.text;
    if (asks_for_dsn()) {
        with.ret = chosen.dsn.ret;
        name_envelope(tx);
        with.envid = envid_;
    }
    proto::append_mail(text_, tx.sender, with);
    expect(stage::mail);
    tx.next = utterance::rcpt;
}

bool exchange::asks_for_dsn() const noexcept {
    return offered_.dsn && plan_.chosen.dsn.wanted;
}

// RFC 3461 4.4: the message's id, as in its Message-ID; without the host where that is too long.
void exchange::name_envelope(const transaction& tx) {
    const mail::identity& id = tx.message->id();
    envid_.clear();
    mail::append_run(id.run, envid_);
    envid_ += fmt::format(".{}.{}", id.session, id.sequence);
    const std::string_view host = plan_.helo;
    const bool plain = proto::is_envid_value(host) && host.find('+') == std::string_view::npos;
    if (plain && envid_.size() + 1 + host.size() <= proto::most_envid_octets) {
        envid_.append("@").append(host);
    }
}

void exchange::say_rcpt(transaction& tx) {
    const std::uint32_t one = tx.recipients[tx.said++];
    const options& chosen = plan_.chosen;
    const std::string_view address = plan_.recipients[one].address;
    proto::rcpt_parameters with;
    with.others = chosen.rcpt_parameters.text;
    if (asks_for_dsn()) {
        with.notify = chosen.dsn.notify;
        // RFC 6533 has another type for others, which DSN alone does not promise.
        with.orcpt = mail::is_ascii(address);
    }
    proto::append_rcpt(text_, address, with);
    expect(stage::rcpt);
    if (tx.said == tx.recipients.size()) tx.next = utterance::data;
}

void exchange::say_data(transaction& tx) {
    if (chunking_) {
        proto::append_bdat_last(text_, tx.octets);
        say_message(tx);
        return;
    }
    text_.append(proto::data_command);
    expect(stage::data);
    tx.next = utterance::wait;
}

void exchange::say_message(transaction& tx) {
    tx.data_at = next_octet();
    segments_.push_back({text_.size(), tx.message});
    message_octets_ += chunking_ ? tx.message->total_octets() : tx.message->stuffed_octets();
    sending_.push_back(std::exchange(tx.message, nullptr));
    if (!chunking_) text_.append(proto::end_of_data);
    tx.complete_at = next_octet();
    tx.next = utterance::nothing;
    expect(stage::end);
}

void exchange::say_rset() {
    text_.append(proto::rset_command);
    expect(stage::rset);
    reset_due_ = false;
}

net::gather& exchange::gather_output() {
    std::size_t from = 0;
    const std::string_view text = text_;
    for (const segment& one : segments_) {
        add_text(text.substr(from, one.text_end - from));
        for (const std::string_view part :
             chunking_ ? one.message->raw_parts() : one.message->stuffed_parts()) {
            output_.add(part);
            if (transcript_ != nullptr) transcript_->sent_data(part);
        }
        from = one.text_end;
    }
    add_text(text.substr(from));
    return output_;
}

void exchange::add_text(std::string_view text) {
    output_.add(text);
    if (transcript_ != nullptr) transcript_->sent(text);
}

void exchange::output_written() noexcept {
    output_.clear();
    text_.clear();
    segments_.clear();
    message_octets_ = 0;
    for (mail::message* one : sending_) {
        maker_.take_back(one);
    }
    sending_.clear();
}

void exchange::octets_left(std::uint64_t written, load::steady_time when) noexcept {
    for (; departed_ < open_; ++departed_) {
        transaction& tx = slots_[(first_slot_ + departed_) % slots_.size()];
        if (tx.begins_at < written) {
            tx.begins_at = transaction::not_said;
            tx.begun = when;
            tx.due = when;
        }
        if (tx.data_at >= written) return;
        tx.data_begun = std::max(tx.data_begun, when);
    }
}

}  // namespace postal::sender
