// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/judge.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ledger/reader.hpp"
#include "ledger/schema.hpp"

namespace postal::audit {
namespace {

using base::expected;
using ledger::finding;

// The messages of these numbers, in words and in that order.
expected<void> name_lost(ledger::database& sent, const std::vector<std::int64_t>& numbers,
                         judged& into) {
    auto ask = sent.prepare(
        "SELECT run, session, sequence, recipient, time FROM sent_messages WHERE number = ?1");
    if (!ask) return ask.error();
    for (const std::int64_t number : numbers) {
        ask->bind(1, number);
        const int step = ask->step();
        if (step != SQLITE_ROW && step != SQLITE_DONE) return sent.failure(step);
        if (step == SQLITE_ROW)
            into.first_lost.push_back(
                {ask->text(0), ask->text(1), ask->text(2), ask->text(3), ask->text(4)});
        ask->reset();
    }
    return {};
}

expected<void> check_sender(ledger::database& file) {
    const auto senders =
        file.number("SELECT count(*) FROM runs WHERE program IS NOT NULL AND role = 'sender'");
    if (!senders) return senders.error();
    if (*senders == 0)
        return base::fail("{}: no run in it has sent mail; give the ledger of postal", file.path());
    const auto open =
        file.number("SELECT count(*) FROM runs WHERE program IS NOT NULL AND ended_us IS NULL");
    if (!open) return open.error();
    if (*open > 0)
        return base::fail(
            "{}: a run in it has not noted its end, so that not all that it was told "
            "stands there",
            file.path());
    const auto sightings = file.number("SELECT EXISTS(SELECT 1 FROM seen)");
    if (!sightings) return sightings.error();
    if (*sightings > 0)
        return base::fail(
            "{}: has messages that were seen, perhaps before the cut; give a ledger "
            "that only postal has written to",
            file.path());
    return {};
}

expected<void> check_reader(ledger::database& file) {
    const auto readers =
        file.number("SELECT count(*) FROM runs WHERE program IS NOT NULL AND role <> 'sender'");
    if (!readers) return readers.error();
    if (*readers == 0) return base::fail("{}: no run in it has looked for mail", file.path());
    return {};
}

class counting {
  public:
    // What is in a mailbox that the server refused at last is out of reach, and so is not there.
    // Of what lies in one that the reader left alone nobody knows anything.
    void add(const ledger::judgement& one) {
        ++result_.acknowledged;
        switch (one.what) {
            case finding::lost:
            case finding::vanished:
            case finding::bounced:  // it has not arrived, whatever its sender is told
                return add_lost(*one.sent);
            case finding::not_looked_for:
                if (one.refused) return add_lost(*one.sent);
                ++not_asked_;
                left_alone_ = one.sent->recipient;
                return;
            case finding::misplaced:
                ++result_.misplaced;
                return;
            case finding::not_known:
                ++not_known_;
                return;
            case finding::found:
                break;
        }
        ++result_.found;
        if (one.copies > 1) ++result_.duplicated;
        if (one.first->what == ledger::condition::truncated) {
            ++result_.truncated;
        } else if (ledger::is_corrupt(one.first->what)) {
            ++result_.changed;
        }
    }
    [[nodiscard]] judged& result() noexcept { return result_; }
    // Rows of the sender's ledger, in its order.
    [[nodiscard]] const std::vector<std::int64_t>& first_lost() const noexcept { return first_; }
    [[nodiscard]] std::uint64_t not_known() const noexcept { return not_known_; }
    // Messages in mailboxes that the reader left alone, and one of these mailboxes.
    [[nodiscard]] std::uint64_t not_asked() const noexcept { return not_asked_; }
    [[nodiscard]] std::int64_t left_alone() const noexcept { return left_alone_; }

  private:
    void add_lost(const ledger::sent_entry& sent) {
        ++result_.lost;
        result_.oldest_lost_us =
            std::min(result_.oldest_lost_us.value_or(sent.time_us), sent.time_us);
        first_.insert(std::upper_bound(first_.begin(), first_.end(), sent.number), sent.number);
        if (first_.size() > judged::most_told) first_.pop_back();
    }

    judged result_;
    std::vector<std::int64_t> first_;
    std::uint64_t not_known_ = 0;
    std::uint64_t not_asked_ = 0;
    std::int64_t left_alone_ = 0;
};

}  // namespace

expected<std::uint64_t> count_acknowledged(const std::string& sent_ledger, std::int64_t until_us) {
    auto sent = ledger::open_to_read(sent_ledger);
    if (!sent) return sent.error();
    const auto whole = check_sender(*sent);
    if (!whole) return whole.error();
    auto ask = sent->prepare("SELECT count(*) FROM sent WHERE outcome = ?1 AND time_us <= ?2");
    if (!ask) return ask.error();
    ask->bind_all(ledger::outcome::accepted, until_us);
    const int step = ask->step();
    if (step != SQLITE_ROW) return sent->failure(step);
    return static_cast<std::uint64_t>(ask->number(0));
}

expected<judged> judge(const std::string& sent_ledger, const std::string& seen_ledger,
                       std::int64_t acknowledged_until_us) {
    auto sent = ledger::open_to_read(sent_ledger);
    if (!sent) return sent.error();
    const auto whole = check_sender(*sent);
    if (!whole) return whole.error();
    auto seen = ledger::open_to_read(seen_ledger);
    if (!seen) return seen.error();
    const auto read = check_reader(*seen);
    if (!read) return read.error();

    counting counted;
    ledger::questions wanted;
    wanted.on_judged = [&](const ledger::judgement& one, std::size_t) {
        const bool required = one.sent->what == ledger::outcome::accepted &&
                              one.sent->time_us <= acknowledged_until_us;
        if (required) counted.add(one);
    };
    auto both = ledger::reader::open({sent_ledger, seen_ledger});
    if (!both) return both.error();
    const auto answered = both->reconcile(wanted);
    if (!answered) return answered.error();
    if (counted.not_known() > 0)
        return base::fail(
            "{}: whoever looked has not ended: of {} messages nobody knows whether "
            "they are there",
            seen_ledger, counted.not_known());
    if (counted.not_asked() > 0) {
        const auto whose = both->addresses({counted.left_alone()});
        if (!whose) return whose.error();
        return base::fail(
            "nobody looked for {} of {} acknowledged messages: `read` did not visit the mailbox of "
            "{}, or left mail in it unread of its own will; it has to read all of all mailboxes",
            counted.not_asked(), counted.result().acknowledged,
            base::printable(whose->front(), 300));
    }
    // Rows of the first of joined ledgers have the numbers there that they have here.
    const auto named = name_lost(*sent, counted.first_lost(), counted.result());
    if (!named) return named.error();
    return counted.result();
}

}  // namespace postal::audit
