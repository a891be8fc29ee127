#include "judge.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "apparatus.hpp"
#include "ledger/reconciler.hpp"
#include "postal/phases.hpp"
#include "sink.hpp"
#include "words_sent.hpp"

namespace simulation {

namespace {

using postal::ledger::discrepancy;
using postal::ledger::outcome;
using postal::ledger::sent_row;
using message_number = std::pair<std::uint64_t, std::uint64_t>;  // session, sequence
using rows_of_message = std::vector<const sent_row*>;

class judgement {
  public:
    explicit judgement(const evidence& what) : what_(what) {
        for (const sent_row& row : what_.rows.sent())
            messages_[{row.session, row.sequence}].push_back(&row);
    }

    std::vector<std::string> all() {
        sums();
        rows();
        for (const connection_record& one : what_.connections)
            connection(one);
        served();
        times();
        reconciled();
        return std::move(found_);
    }

  private:
    template <class... Values>
    void wrong(fmt::format_string<Values...> words, Values&&... values) {
        constexpr std::size_t enough = 10;
        if (found_.size() < enough)
            found_.push_back(fmt::format(words, std::forward<Values>(values)...));
    }
    template <class Number>
    void equal(std::string_view what, Number is, Number should_be) {
        if (is != should_be) wrong("{}: {}, and not {}", what, is, should_be);
    }

    void sums();
    void rows();
    void connection(const connection_record& one);
    void transaction(const connection_record& line, std::size_t which,
                     const sent_transaction* sent);
    void left_out(const connection_record& line, const message_number& number);
    void with_liar(const connection_record& line, std::size_t which, const sent_transaction* sent,
                   const rows_of_message& rows);
    void served();
    void unheard();
    void both_sides();
    void times();
    void compare(std::string_view phase, const postal::stats::histogram& measured,
                 std::vector<std::int64_t> truth);
    void reconciled();
    void compare(const postal::ledger::summary& found);

    const evidence& what_;
    std::map<message_number, rows_of_message, std::greater<>> messages_;
    std::vector<std::int64_t> service_ns_;
    std::vector<std::string> found_;
};

// ---- counts ----

void judgement::sums() {
    for (const auto& [who, counts] :
         {std::pair("sender", &what_.senders), std::pair("servers", &what_.servers)}) {
        const std::uint64_t ended = counts->messages + counts->rejected + counts->deferred +
                                    counts->failed + counts->in_doubt;
        if (counts->started != ended)
            wrong("of the {}: {} messages were started and {} ended", who, counts->started, ended);
    }
    const postal::stats::tally& sender = what_.senders;
    const bool stops = what_.of.stop_gently || what_.of.stop_now;
    if (!stops) equal("messages started", sender.started, what_.of.messages);
    if (what_.of.open_loop) equal("due", sender.due, sender.started + sender.not_started);
    equal("messages that waited in vain", sender.unserved.count(),
          sender.started - sender.messages + sender.not_started);
    if (sender.started > what_.of.messages)
        wrong("{} messages were started, of {}", sender.started, what_.of.messages);
}

void judgement::rows() {
    std::array<std::uint64_t, 5> counted{};
    std::map<std::uint64_t, std::uint64_t> next;  // sequence, by session
    std::uint64_t recipients = 0;
    std::uint64_t octets = 0;
    for (const auto& [number, all] : messages_) {
        std::vector<postal::ledger::address_id> to;
        for (const sent_row* one : all) {
            to.push_back(one->recipient);
            if (one->counted) ++counted[static_cast<std::size_t>(one->what)];
            if (one->what != outcome::accepted) continue;
            ++recipients;
            octets += one->counted ? one->octets : 0;
        }
        std::sort(to.begin(), to.end());
        if (std::adjacent_find(to.begin(), to.end()) != to.end())
            wrong("message {}.{} has ended twice for a recipient", number.first, number.second);
        next[number.first] = std::max(next[number.first], number.second + 1);
    }
    for (const auto& [session, last] : next) {
        for (std::uint64_t sequence = 0; sequence < last; ++sequence) {
            if (!messages_.contains({session, sequence}))
                wrong("message {}.{} has no row", session, sequence);
        }
    }
    const postal::stats::tally& sender = what_.senders;
    equal("rows that count as accepted", counted[0], sender.messages);
    equal("rows that count as rejected", counted[1], sender.rejected);
    equal("rows that count as deferred", counted[2], sender.deferred);
    equal("rows that count as failed", counted[3], sender.failed);
    equal("rows that count as in doubt", counted[4], sender.in_doubt);
    equal("recipients that accepted", sender.recipients, recipients);
    equal("octets that were accepted", sender.bytes, octets);
}

// ---- outcomes ----

outcome of_reply(const said_reply& one) {
    if (!one.negative()) return outcome::accepted;
    return one.code < 500 ? outcome::deferred : outcome::rejected;
}

void judgement::connection(const connection_record& one) {
    const line_number& at = one.line.number();
    if (!one.nonsense.empty())
        wrong("connection {}.{}: {}", at.session, at.connection, one.nonsense);
    const std::string& said = one.line.from(side::client).said();
    const std::vector<sent_transaction> sent = transactions_in(said);
    if (sent.size() + one.left_out.size() > one.begun) {
        wrong("connection {}.{}: {} transactions, of which {} were to begin", at.session,
              at.connection, sent.size(), one.begun);
        return;
    }
    for (std::size_t which = 0; which + one.left_out.size() < one.begun; ++which)
        transaction(one, which, which < sent.size() ? &sent[which] : nullptr);
    for (const std::uint64_t place : one.left_out)
        left_out(one, {at.session, one.first_sequence + place});
}

// A server without 8BITMIME must not be sent what needs it (RFC 6152 3).
void judgement::left_out(const connection_record& line, const message_number& number) {
    if (line.takes_8bit) wrong("message {}.{} was left out", number.first, number.second);
    for (const sent_row* row : messages_[number]) {
        if (row->what != outcome::failed)
            wrong("message {}.{} was left out, and is {}", number.first, number.second,
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

void judgement::transaction(const connection_record& line, std::size_t which,
                            const sent_transaction* sent) {
    const line_number& at = line.line.number();
    const message_number number{at.session, line.sequence_of(which)};
    const auto known = messages_.find(number);
    if (known == messages_.end())
        return wrong("message {}.{} was begun and has no row", number.first, number.second);
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
            wrong("message {}.{} to recipient {} is {}, and should be {}", number.first,
                  number.second, recipient, to_text(row->what), to_text(should_be));
        }
        const said_reply* end = expected.end_of(recipient, what_.of.lmtp);
        if (should_be != outcome::accepted || end == nullptr || !row->counted) continue;
        const steady_time begun = line.line.from(side::client).left_at(sent->begins);
        service_ns_.push_back((line.heard_at(*end) - begun).count());
    }
}

// Whatever is said: what is in doubt left whole, and what failed did not.
void judgement::with_liar(const connection_record& line, std::size_t which,
                          const sent_transaction* sent, const rows_of_message& rows) {
    const bool complete = sent != nullptr && sent->complete;
    const bool arrived = which < line.served.size() && line.served[which].whole;
    for (const sent_row* row : rows) {
        const bool right = row->what == outcome::in_doubt ? complete
                           : row->what == outcome::failed ? !complete && !arrived
                                                          : true;
        if (!right)
            wrong("message {}.{} is {}, {}", row->session, row->sequence, to_text(row->what),
                  complete ? "and left whole" : "and did not leave whole");
    }
}

// ---- what the servers counted ----

void judgement::served() {
    std::uint64_t messages = 0;
    std::uint64_t recipients = 0;
    for (const connection_record& line : what_.connections) {
        for (const served_transaction& one : line.served) {
            recipients += one.delivered.size();
            messages += what_.of.lmtp ? one.delivered.size() : !one.delivered.empty();
        }
    }
    equal("messages that the servers count", what_.servers.messages, messages);
    equal("recipients that the servers count", what_.servers.recipients, recipients);
    unheard();
    both_sides();
}

// Whether nothing is to break and everybody has all the time and the room that he needs: with less
// of it two who write and do not read wait for each other until one gives up.
bool is_calm(const scenario& of) {
    const auto harmless = [](const server_fault& one) {
        const bool of_mail = one.stage == postal::proto::server_stage::rset ||
                             one.stage == postal::proto::server_stage::mail;
        return one.close == postal::proto::cut::no && one.code != 421 && one.delay.count() == 0 &&
               !of_mail;
    };
    return of.room == scenario().room && of.losses.empty() && of.lies.empty() && !of.stop_gently &&
           !of.stop_now && !of.servers_stop &&
           std::all_of(of.refusals.begin(), of.refusals.end(), harmless);
}

// As long as no connection breaks both count the same events: docs/method.md.
void judgement::both_sides() {
    const auto broken = [](const connection_record& one) {
        return one.goodbye.code != 0 || !one.left_out.empty();
    };
    const auto& all = what_.connections;
    if (!is_calm(what_.of) || std::any_of(all.begin(), all.end(), broken)) return;
    equal("started at the servers", what_.servers.started, what_.senders.started);
    equal("rejected by the servers", what_.servers.rejected, what_.senders.rejected);
    equal("deferred by the servers", what_.servers.deferred, what_.senders.deferred);
    equal("failed at the servers", what_.servers.failed, what_.senders.failed);
    equal("in doubt at the servers", what_.servers.in_doubt, what_.senders.in_doubt);
}

// Those whose reply never left are unheard for certain. Others may be that left with it in part: a
// server knows what has left by the whole of what it wrote at once.
void judgement::unheard() {
    std::uint64_t least = 0;
    for (const connection_record& line : what_.connections) {
        if (line.lies) return;
        const std::size_t left = line.line.from(side::server).said().size();
        for (const served_transaction& one : line.served) {
            if (one.delivered.empty()) continue;
            for (const said_reply& end : one.ends)
                least += end.positive() && end.end > left ? 1 : 0;
        }
    }
    if (what_.servers.unheard < least)
        wrong("{} messages are unheard, and not {} or more", what_.servers.unheard, least);
}

// ---- times ----

void judgement::times() {
    const bool lies = std::any_of(what_.connections.begin(), what_.connections.end(),
                                  [](const auto& one) { return one.lies; });
    if (lies) return;
    using postal::sender::phase;
    const auto& measured = what_.senders.latency;
    const auto& service = measured[static_cast<std::size_t>(phase::service)];
    compare("service", service, service_ns_);
    // Parts of it.
    for (const phase part : {phase::envelope, phase::data}) {
        if (measured[static_cast<std::size_t>(part)].max() > service.max())
            wrong("a part of a message took longer than the whole");
    }
    if (what_.of.rate == 0)
        compare("message", measured[static_cast<std::size_t>(phase::message)], service_ns_);
}

void judgement::compare(std::string_view phase, const postal::stats::histogram& measured,
                        std::vector<std::int64_t> truth) {
    if (measured.count() != truth.size())
        return wrong("{}: {} times were measured, of {}", phase, measured.count(), truth.size());
    if (truth.empty()) return;
    constexpr std::int64_t most_below_all_buckets = 520;  // ns: histogram.hpp
    std::sort(truth.begin(), truth.end());
    if (measured.min().count() != truth.front() || measured.max().count() != truth.back()) {
        return wrong("{}: from {} to {} ns, and not from {} to {}", phase, measured.min().count(),
                     measured.max().count(), truth.front(), truth.back());
    }
    for (const unsigned percent : {50U, 90U, 99U}) {
        const std::size_t rank = (percent * truth.size() + 99) / 100;
        const std::int64_t right = truth[rank - 1];
        const std::int64_t is = measured.quantile(percent / 100.0).count();
        if (std::abs(is - right) > right / 128 + most_below_all_buckets)
            wrong("{}: p{} is {} ns, and not {}", phase, percent, is, right);
    }
}

// ---- the ledger ----

void judgement::reconciled() {
    using namespace postal::ledger;
    std::map<message_number, std::vector<seen_entry>> copies;
    std::int64_t number = 0;
    for (const seen_row& row : what_.rows.seen()) {
        if (row.run != apparatus::run) continue;
        seen_entry one;
        one.number = ++number;
        one.observer = 2;
        one.mailbox = row.mailbox;
        one.time_us = static_cast<std::int64_t>(row.time_us);
        one.sent_us = static_cast<std::int64_t>(row.sent_us);
        one.what = row.what;
        one.through = row.through;
        copies[{row.session, row.sequence}].push_back(one);
    }
    observation all_seen;
    all_seen.sinks_until_us = std::numeric_limits<std::int64_t>::max();
    reconciler judge({}, all_seen);
    for (const auto& [message, rows] : messages_) {
        message_entry one;
        one.run = 1;
        one.session = static_cast<std::int64_t>(message.first);
        for (const sent_row* row : rows) {
            one.sent.push_back({++number, row->recipient, row->sender, row->what,
                                static_cast<std::int64_t>(row->time_us)});
        }
        one.octets = static_cast<std::int64_t>(rows.front()->octets);
        if (const auto found = copies.find(message); found != copies.end())
            one.seen = std::move(found->second);
        judge.add(one);
    }
    compare(judge.result());
}

// What the scenario has done to accepted mail, and nothing else, is what the ledger is to say.
void judgement::compare(const postal::ledger::summary& found) {
    using copies_by_mailbox = std::map<postal::ledger::address_id, std::uint64_t>;
    std::map<message_number, copies_by_mailbox> there;
    postal::ledger::summary truth;
    for (const connection_record& line : what_.connections) {
        for (std::size_t which = 0; which < line.served.size(); ++which) {
            const served_transaction& served = line.served[which];
            if (served.foreign) continue;
            const std::uint64_t session = line.line.number().session;
            const std::uint64_t sequence = served.sequence;
            const bool changed = served.changed;
            std::optional<harm> how = harm_of(what_.of, session, line.sequence_of(which));
            for (const std::string& mailbox : served.delivered) {
                const std::string_view to = how == harm::elsewhere ? somebody_else : mailbox;
                there[{session, sequence}][what_.rows.address(to)] += how == harm::lost    ? 0
                                                                      : how == harm::twice ? 2
                                                                                           : 1;
                truth.corrupt[0] += changed ? (how == harm::lost    ? 0
                                               : how == harm::twice ? 2
                                                                    : 1)
                                            : 0;
                how.reset();
            }
        }
    }
    const auto elsewhere = what_.rows.address(somebody_else);
    for (const auto& [message, rows] : messages_) {
        copies_by_mailbox& copies = there[message];
        std::uint64_t missing = 0;
        for (const sent_row* row : rows) {
            const std::uint64_t number = copies[row->recipient];
            const bool accepted = row->what == outcome::accepted;
            ++truth.sent[static_cast<std::size_t>(row->what)];
            truth.found += accepted && number > 0 ? 1 : 0;
            truth.unacknowledged[static_cast<std::size_t>(row->what)] +=
                !accepted && number > 0 ? 1 : 0;
            truth.duplicated += number > 1 ? 1 : 0;
            missing += accepted && number == 0 ? 1 : 0;
        }
        const std::uint64_t strays = copies[elsewhere];
        truth.misdelivered += strays;
        truth.misplaced += std::min(strays, missing);
        truth.lost += missing - std::min(strays, missing);
    }
    equal("ledger: accepted", found.acknowledged(), truth.acknowledged());
    equal("ledger: found", found.found, truth.found);
    equal("ledger: lost", found.lost, truth.lost);
    equal("ledger: duplicated", found.duplicated, truth.duplicated);
    equal("ledger: corrupt", found.all_corrupt(), truth.corrupt[0]);
    equal("ledger: misdelivered", found.misdelivered, truth.misdelivered);
    equal("ledger: misplaced", found.misplaced, truth.misplaced);
    equal("ledger: out of order", found.out_of_order, std::uint64_t{0});
    equal("ledger: seen before it was sent", found.seen_before_sent, std::uint64_t{0});
    for (std::size_t each = 0; each < truth.sent.size(); ++each) {
        const std::string_view name = to_text(static_cast<outcome>(each));
        if (found.unacknowledged[each] != truth.unacknowledged[each])
            wrong("ledger: {} {} and found, and not {}", found.unacknowledged[each], name,
                  truth.unacknowledged[each]);
    }
}

}  // namespace

std::vector<std::string> judge(const evidence& what) {
    return judgement(what).all();
}

}  // namespace simulation
