// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/announced.hpp"

#include <nlohmann/json.hpp>

#include "base/saturated.hpp"
#include "experiment/metrics.hpp"
#include "ledger/reader.hpp"
#include "stats/foreign_json.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"
#include "stats/record_writer.hpp"

#include <algorithm>
#include <limits>

namespace postal::experiment {
namespace {

constexpr std::string_view announced_schema = "postal-announced/1";

// Since the acceptance; nothing: never.
std::optional<std::chrono::nanoseconds> first_told(const ledger::judgement& of) {
    constexpr std::int64_t longest_us = std::numeric_limits<std::int64_t>::max() / 1000;
    std::optional<std::int64_t> first_us;
    for (const ledger::seen_entry& one : of.here)
        if (one.announced_us != 0 && (!first_us || one.announced_us < *first_us))
            first_us = one.announced_us;
    if (!first_us) return std::nullopt;
    const std::int64_t after = base::saturated_difference(*first_us, of.sent->time_us);
    return std::chrono::microseconds(std::clamp<std::int64_t>(after, 0, longest_us));
}

}  // namespace

template <class Archive>
void fields(Archive& each, stats::field<Archive, announced_account>& of) {
    each("from", of.from);
    stats::plain_fields<true>(each, "accepted", of.accepted, "announced", of.announced, "times",
                              of.times);
}

std::optional<double> announced_account::within_us(double share) const {
    if (accepted == 0) return std::nullopt;
    const std::uint64_t rank = stats::histogram::rank_of(share, accepted);
    if (rank > announced) return never;
    return static_cast<double>(times.at_rank(rank).count()) / 1e3;
}

base::expected<announced_account> read_announced(const std::string& path,
                                                 std::chrono::system_clock::time_point from) {
    auto book = ledger::reader::open(path);
    if (!book) return book.error();
    announced_account made{.from = stats::timestamp(from)};
    const std::int64_t from_us =
        std::chrono::duration_cast<std::chrono::microseconds>(from.time_since_epoch()).count();
    ledger::questions wanted;
    wanted.on_judged = [&](const ledger::judgement& one, std::size_t) {
        if (one.sent->what != ledger::outcome::accepted || one.sent->time_us < from_us) return;
        ++made.accepted;
        const auto told = first_told(one);
        if (!told) return;
        ++made.announced;
        made.times.record(*told);
    };
    const auto done = book->reconcile(wanted);
    if (!done) return done.error();
    return {boost::system::in_place_value, std::move(made)};
}

std::string to_json(const announced_account& of) {
    return stats::fields_text(of, announced_schema);
}

base::expected<announced_account> announced_from_json(std::string_view text) {
    const auto tree =
        stats::parse_schema(text, announced_schema, "is no account of what was announced");
    if (!tree) return tree.error();
    stats::complaint problems;
    announced_account to;
    fields<const stats::json_fields>(stats::json_fields(*tree, "", problems), to);
    if (problems) return base::failure{problems.first};
    if (to.times.count() != to.announced)
        return base::fail("times is not of as many messages as announced says");
    if (to.announced > to.accepted) return base::fail("announced is not at most what was accepted");
    return {boost::system::in_place_value, std::move(to)};
}

}  // namespace postal::experiment
