// SPDX-License-Identifier: GPL-3.0-or-later
// What the list of fields cannot say of a record: what must be there, what stands for what older
// records lack, and what must fit together.
#include "stats/record_reader.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/json_fields.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace postal::stats {
namespace {

constexpr std::string_view schema = "postal-record/1";
constexpr std::size_t most_ranks = 65536;
constexpr std::size_t most_phases = 1000;  // there are some twenty

// The phases of every program, in the order in which its protocol goes through them.
constexpr std::array<std::string_view, 21> phase_order{
    "connect", "tls",      "tls_resumed", "banner",   "ehlo",     "auth",  "login",
    "list",    "retrieve", "delete",      "queue",    "envelope", "data",  "agent",
    "service", "message",  "session",     "delivery", "transit",  "retry", "retried"};

auto order_of(const phase_figures& one) {
    return std::find(phase_order.begin(), phase_order.end(), one.name) - phase_order.begin();
}

template <class List, class Value>
void sort_by(List& list, Value value) {
    std::stable_sort(list.begin(), list.end(),
                     [&](const auto& one, const auto& other) { return value(one) < value(other); });
}

void sort(run_record& of) {
    const auto most = [](const auto& one) { return ~one.count; };
    sort_by(of.phases, order_of);
    if (of.agents) sort_by(of.agents->exits, most);
    sort_by(of.errors, most);
    sort_by(of.errors_with_warmup, most);
}

// Intervals follow each other; the percentile of nothing is not 0.
void settle_intervals(const json_fields& from, run_record& of) {
    double previous_s = 0;
    auto next = of.intervals.begin();
    from.each_object("intervals", [&](const json_fields& told) {
        interval_row& one = *next++;
        if (!told.has("start_s")) one.start_s = previous_s;
        if (one.start_s < previous_s || one.end_s < one.start_s)
            told.complain("t_s", "after the end of the interval before it");
        previous_s = one.end_s;
        if (one.messages == 0) one.message_p50 = one.message_p90 = one.message_p99 = std::nullopt;
    });
}

void check_seconds(const second_columns& of, complaint& problems) {
    const std::size_t size = of.t_s.size();
    const auto fits = [&](const auto& list) { return list.empty() || list.size() == size; };
    const auto may_fit = [&](const auto& list) { return !list || fits(*list); };
    if (of.messages.size() != size || of.errors.size() != size || !fits(of.worker_cpu_s) ||
        !fits(of.open_connections) || !may_fit(of.asked) || !may_fit(of.message_p50) ||
        !may_fit(of.message_p90) || !may_fit(of.message_p99))
        problems.add("seconds", "lists of one length");
    if (!std::is_sorted(of.t_s.begin(), of.t_s.end()))
        problems.add("seconds.t_s", "a list of growing numbers");
}

void check_samples(const run_record& of, complaint& problems) {
    for (std::size_t i = 0; i < of.samples.size(); ++i) {
        const sampled_source& one = of.samples[i];
        const std::string place = fmt::format("samples[{}]", i);
        if (!std::is_sorted(one.t_s.begin(), one.t_s.end()))
            problems.add(place + ".t_s", "a list of growing numbers");
        const auto fits = [&](const auto& list) {
            return list.empty() || list.size() == one.t_s.size();
        };
        for (const sample_series& each : one.series)
            if (!fits(each.values) || (each.most && !fits(*each.most)))
                problems.add(place + ".series", "a list of lists as long as t_s");
    }
}

// Each goal has its result, and is judged in each trial that counts.
void check_search(const run_record& of, complaint& problems) {
    if (!of.search) return;
    const capacity::search_record& search = *of.search;
    if (search.goals.empty() || search.result.goals.size() != search.goals.size())
        problems.add("capacity.result.goals", "a list as long as search_goals, of one or more");
    if (search.result.limiting >= search.goals.size())
        problems.add("capacity.result.limiting", "the number of a goal");
    for (std::size_t i = 0; i < search.trials.size(); ++i)
        if (const std::size_t size = search.trials[i].goals.size();
            size != 0 && size != search.goals.size())
            problems.add(fmt::format("capacity.trials[{}].goals", i),
                         "empty, or as long as search_goals");
}

// A rank stands in its place, and has no more intervals than the run.
void check_ranks(const run_record& of, complaint& problems) {
    if (of.ranks.size() > most_ranks)
        problems.add("ranks", fmt::format("a list of at most {}", most_ranks));
    for (std::size_t i = 0; i < of.ranks.size(); ++i) {
        if (of.ranks[i].rank != i)
            problems.add(fmt::format("ranks[{}].rank", i), "its place in the list");
        if (of.ranks[i].messages.size() > of.intervals.size())
            problems.add(fmt::format("ranks[{}].interval_messages", i),
                         "a list with at most one number an interval");
    }
}

base::expected<run_record> from_json(const json& root, counter_rows rows) {
    complaint problems{.counters = rows};
    const json_fields from{root, "", problems};
    if (!root.is_object()) return base::fail("is not a run record: not a JSON object");
    std::string found;
    from.read("schema", found);
    if (found.empty()) return base::fail("is not a run record: it names no schema");
    if (found != schema) {
        return base::fail("has schema \"{}\"; this program reads {}", found, schema);
    }
    for (const char* key : {"program", "totals"}) {
        if (!from.has(key)) return base::fail("{} is missing", key);
    }
    run_record to;
    to.counters = rows;
    fields<const json_fields>(from, to);
    if (problems) return base::failure{problems.first};
    if (!from.has("measured_s")) to.measured_s = std::max(0.0, to.duration_s - to.warmup_s);
    if (from.has("cap") && !from.object("cap").has("asked_per_s")) to.cap.reset();
    if (!from.object("generator").has("verdict") && to.generator.limited)
        to.generator.verdict = generator_verdict::limit;
    settle_intervals(from, to);
    check_seconds(to.seconds, problems);
    check_ranks(to, problems);
    if (to.phases.size() > most_phases)
        problems.add("latency_us", fmt::format("an object of at most {} phases", most_phases));
    check_samples(to, problems);
    check_search(to, problems);
    sort(to);
    if (problems) return base::failure{problems.first};
    return to;
}

}  // namespace

base::expected<run_record> parse_record(std::string_view text, counter_rows rows) {
    if (base::trim(text).empty()) return base::fail("is empty");
    const auto parsed = parse_foreign(text);
    if (!parsed) return base::fail("is not a run record: {}", parsed.error().message);
    return from_json(*parsed, rows);
}

std::optional<double> seconds_of_timestamp(const std::string& time) {
    std::tm utc{};
    const char* const rest = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
    if (rest == nullptr) return std::nullopt;
    std::string_view fraction = rest;
    if (!fraction.ends_with('Z')) return std::nullopt;
    fraction.remove_suffix(1);
    const auto part = base::parse_number("0" + std::string(fraction));
    if (!part) return std::nullopt;
    return static_cast<double>(::timegm(&utc)) + *part;
}

}  // namespace postal::stats
