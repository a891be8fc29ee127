#include "postal-audit/judge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ledger/reader.hpp"
#include "ledger/schema.hpp"

namespace postal::audit {
namespace {

using base::expected;
using ledger::finding;

// The last microsecond of the year 9999, behind which times have another form.
constexpr std::int64_t last_time_us = 253'402'300'799'999'999;

// As ledger::discrepancy_row tells times, so that texts compare as times do.
expected<std::string> time_text(ledger::database& file, std::int64_t us) {
    const std::int64_t time = std::clamp<std::int64_t>(us, 0, last_time_us);
    auto ask = file.prepare("SELECT strftime('%Y-%m-%dT%H:%M:%S', ?1, 'unixepoch')");
    if (!ask) return ask.error();
    ask->bind(1, time / 1'000'000);
    const int step = ask->step();
    if (step != SQLITE_ROW) return file.failure(step);
    return {boost::system::in_place_value,
            fmt::format("{}.{:06}Z", ask->text(0), time % 1'000'000)};
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

void count(const ledger::judgement& one, judged& into, std::uint64_t& not_known) {
    ++into.acknowledged;
    switch (one.what) {
        case finding::lost:
        case finding::vanished:
            ++into.lost;
            into.oldest_lost_us =
                std::min(into.oldest_lost_us.value_or(one.sent->time_us), one.sent->time_us);
            return;
        case finding::misplaced:
            ++into.misplaced;
            return;
        case finding::not_known:
        case finding::not_looked_for:
            ++not_known;
            return;
        case finding::found:
            break;
    }
    ++into.found;
    if (one.copies > 1) ++into.duplicated;
    if (one.first->what == ledger::condition::truncated) {
        ++into.truncated;
    } else if (ledger::is_corrupt(one.first->what)) {
        ++into.changed;
    }
}

}  // namespace

expected<std::uint64_t> count_acknowledged(const std::string& sent_ledger, std::int64_t until_us) {
    auto sent = ledger::open_to_read(sent_ledger);
    if (!sent) return sent.error();
    const auto whole = check_sender(*sent);
    if (!whole) return whole.error();
    auto ask = sent->prepare("SELECT count(*) FROM sent WHERE outcome = ?1 AND time_us <= ?2");
    if (!ask) return ask.error();
    ask->bind(1, static_cast<std::int64_t>(ledger::outcome::accepted));
    ask->bind(2, until_us);
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
    const auto until = time_text(*sent, acknowledged_until_us);
    if (!until) return until.error();

    judged result;
    std::uint64_t not_known = 0;
    ledger::questions wanted;
    wanted.on_judged = [&](const ledger::judgement& one, std::size_t) {
        const bool required = one.sent->what == ledger::outcome::accepted &&
                              one.sent->time_us <= acknowledged_until_us;
        if (required) count(one, result, not_known);
    };
    wanted.list = ledger::discrepancy::lost;
    wanted.on_row = [&](const ledger::discrepancy_row& row) {
        if (result.lost == 0 || result.first_lost.size() == judged::most_told) return;
        if (row.outcome != ledger::to_text(ledger::outcome::accepted) || row.ended > *until) return;
        result.first_lost.push_back({row.run, row.session, row.sequence, row.recipient, row.ended});
    };
    auto both = ledger::reader::open({sent_ledger, seen_ledger});
    if (!both) return both.error();
    const auto answered = both->reconcile(wanted);
    if (!answered) return answered.error();
    if (not_known > 0)
        return base::fail(
            "{}: whoever looked has not ended: of {} messages nobody knows whether "
            "they are there",
            seen_ledger, not_known);
    return result;
}

}  // namespace postal::audit
