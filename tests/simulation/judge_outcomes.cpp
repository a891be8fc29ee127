// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "judgements.hpp"
#include "words_sent.hpp"

namespace simulation {

namespace {

using postal::ledger::outcome;
using postal::ledger::sent_row;

class outcome_judgement {
  public:
    outcome_judgement(const evidence& what, const rows_by_message& rows, verdict& found)
        : what_(what), messages_(rows), found_(found) {}

    void connection(const connection_record& one);
    [[nodiscard]] std::vector<std::int64_t> take_times() { return std::move(service_ns_); }

  private:
    void transaction(const connection_record& line, std::size_t which,
                     const sent_transaction* sent);
    void left_out(const connection_record& line, const message_number& number);
    void with_liar(const connection_record& line, std::size_t which, const sent_transaction* sent,
                   const rows_of_message& rows);

    const evidence& what_;
    const rows_by_message& messages_;
    verdict& found_;
    std::vector<std::int64_t> service_ns_;
};

outcome of_reply(const said_reply& one) {
    if (!one.negative()) return outcome::accepted;
    return one.code < 500 ? outcome::deferred : outcome::rejected;
}

void outcome_judgement::connection(const connection_record& one) {
    const line_number& at = one.line.number();
    if (!one.nonsense.empty())
        found_.wrong("connection {}.{}: {}", at.session, at.connection, one.nonsense);
    const std::string& said = one.line.from(side::client).said();
    const std::vector<sent_transaction> sent = transactions_in(said);
    if (sent.size() + one.left_out.size() > one.begun) {
        found_.wrong("connection {}.{}: {} transactions, of which {} were to begin", at.session,
                     at.connection, sent.size(), one.begun);
        return;
    }
    for (std::size_t which = 0; which + one.left_out.size() < one.begun; ++which)
        transaction(one, which, which < sent.size() ? &sent[which] : nullptr);
    for (const std::uint64_t place : one.left_out)
        left_out(one, {at.session, one.first_sequence + place});
}

// A server without 8BITMIME must not be sent what needs it (RFC 6152 3).
void outcome_judgement::left_out(const connection_record& line, const message_number& number) {
    if (line.takes_8bit) found_.wrong("message {}.{} was left out", number.first, number.second);
    const auto rows = messages_.find(number);
    if (rows == messages_.end()) return;
    for (const sent_row* row : rows->second) {
        if (row->what != outcome::failed)
            found_.wrong("message {}.{} was left out, and is {}", number.first, number.second,
                         to_text(row->what));
    }
}

// What a recipient's row must say, by what was heard of his message; nothing: either of two.
class expectation {
  public:
    expectation(const connection_record& line, std::size_t which, const sent_transaction* sent)
        : line_(line),
          served_(which < line.served.size() ? &line.served[which] : nullptr),
          complete_(sent != nullptr && sent->complete) {}

    [[nodiscard]] bool heard(const said_reply& one) const { return line_.was_heard(one); }
    // Of the recipient of that number; `lmtp`: his message has a reply of its own.
    [[nodiscard]] outcome of(std::size_t recipient, bool lmtp) const {
        if (served_ == nullptr) return lost();
        if (heard(served_->mail) && served_->mail.negative()) return of_reply(served_->mail);
        if (const said_reply* own = rcpt(recipient); own != nullptr && own->negative())
            return of_reply(*own);
        if (heard(served_->content) && served_->content.negative())
            return of_reply(served_->content);
        if (const said_reply* end = end_of(recipient, lmtp)) return of_reply(*end);
        const bool sent_away =
            std::any_of(served_->rcpt.begin(), served_->rcpt.end(),
                        [this](const auto& one) { return one.code == 421 && heard(one); });
        return sent_away ? outcome::deferred : lost();
    }
    // The reply that ends the recipient's message, if it was heard.
    [[nodiscard]] const said_reply* end_of(std::size_t recipient, bool lmtp) const {
        const said_reply* own = rcpt(recipient);
        if (own == nullptr || !own->positive()) return nullptr;
        std::size_t place = 0;
        for (std::size_t before = 0; lmtp && before < recipient; ++before)
            place += served_->rcpt[before].positive() ? 1 : 0;
        if (place >= served_->ends.size() || !heard(served_->ends[place])) return nullptr;
        return &served_->ends[place];
    }
    // A goodbye that answers nothing defers what it comes to.
    [[nodiscard]] bool may_be_deferred() const { return heard(line_.goodbye); }
    [[nodiscard]] outcome lost() const { return complete_ ? outcome::in_doubt : outcome::failed; }

  private:
    [[nodiscard]] const said_reply* rcpt(std::size_t recipient) const {
        if (served_ == nullptr || recipient >= served_->rcpt.size()) return nullptr;
        const said_reply& one = served_->rcpt[recipient];
        return heard(one) ? &one : nullptr;
    }

    const connection_record& line_;
    const served_transaction* served_;
    bool complete_;
};

void outcome_judgement::transaction(const connection_record& line, std::size_t which,
                                    const sent_transaction* sent) {
    const line_number& at = line.line.number();
    const message_number number{at.session, line.sequence_of(which)};
    const auto known = messages_.find(number);
    if (known == messages_.end())
        return found_.wrong("message {}.{} was begun and has no row", number.first, number.second);
    if (line.lies) return with_liar(line, which, sent, known->second);
    const expectation expected(line, which, sent);
    for (const sent_row* row : known->second) {
        std::size_t recipient = 0;
        if (sent != nullptr) {
            while (recipient < sent->recipients.size() &&
                   what_.rows.address(sent->recipients[recipient]) != row->recipient)
                ++recipient;
        }
        const outcome should_be = expected.of(recipient, what_.of.lmtp);
        const bool either = should_be == expected.lost() && expected.may_be_deferred() &&
                            row->what == outcome::deferred && row->code == 421;
        if (row->what != should_be && !either) {
            found_.wrong("message {}.{} to recipient {} is {}, and should be {}", number.first,
                         number.second, recipient, to_text(row->what), to_text(should_be));
        }
        const said_reply* end = expected.end_of(recipient, what_.of.lmtp);
        if (should_be != outcome::accepted || end == nullptr || !row->counted) continue;
        const steady_time begun = line.line.from(side::client).left_at(sent->begins);
        service_ns_.push_back((line.heard_at(*end) - begun).count());
    }
}

// Whatever is said: what is in doubt left whole, and what failed did not.
void outcome_judgement::with_liar(const connection_record& line, std::size_t which,
                                  const sent_transaction* sent, const rows_of_message& rows) {
    const bool complete = sent != nullptr && sent->complete;
    const bool arrived = which < line.served.size() && line.served[which].whole;
    for (const sent_row* row : rows) {
        const bool right = row->what == outcome::in_doubt ? complete
                           : row->what == outcome::failed ? !complete && !arrived
                                                          : true;
        if (!right)
            found_.wrong("message {}.{} is {}, {}", row->session, row->sequence, to_text(row->what),
                         complete ? "and left whole" : "and did not leave whole");
    }
}

}  // namespace

std::vector<std::int64_t> judge_outcomes(const evidence& what, const rows_by_message& rows,
                                         verdict& found) {
    outcome_judgement judge(what, rows, found);
    for (const connection_record& one : what.connections)
        judge.connection(one);
    return judge.take_times();
}

}  // namespace simulation
