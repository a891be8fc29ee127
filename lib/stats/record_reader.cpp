// The record as it is read back, part by part in the order of the writer (record_writer.cpp).
#include "stats/record_reader.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/json_fields.hpp"
#include "stats/record_commands.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace postal::stats {
namespace {

constexpr std::string_view schema = "postal-record/1";
constexpr std::size_t most_ranks = 65536;

// The phases of every program, in the order in which its protocol goes through them.
constexpr std::array<std::string_view, 21> phase_order{
    "connect", "tls",      "tls_resumed", "banner",   "ehlo",     "auth",  "login",
    "list",    "retrieve", "delete",      "queue",    "envelope", "data",  "agent",
    "service", "message",  "session",     "delivery", "transit",  "retry", "retried"};

auto order_of(const recorded_phase& one) {
    return std::find(phase_order.begin(), phase_order.end(), one.name) - phase_order.begin();
}

// A counter stands in one of the two parts.
recorded_totals read_totals(const json_fields& from, const json_fields& integrity,
                            counter_rows rows) {
    recorded_totals to;
    for (const counter& one : rows) {
        std::optional<std::uint64_t> count;
        (one.kind == counter_kind::integrity ? integrity : from).read(one.name, count);
        if (!count) continue;
        to.*one.value = *count;
        to.known.push_back(one.name);
    }
    return to;
}

// `what` it has values of.
recorded_rate read_rate(const json_fields& from, std::string_view what, complaint& problems) {
    recorded_rate to;
    from.read("mean", to.mean, "stddev", to.stddev, "min", to.min, "max", to.max, what, to.count);
    from.read_signed("trend", to.trend);
    std::vector<double> bounds;
    from.each("ci95", [&](const json& bound, const json_fields::place& path) {
        if (bound.is_number()) {
            bounds.push_back(bound.get<double>());
        } else if (!bound.is_null()) {
            problems.add(path, "a number");
        }
    });
    if (bounds.size() == 2) to.ci95 = {bounds[0], bounds[1]};
    return to;
}

// A list that is not there says nothing of any stretch.
std::vector<recorded_interval> read_seconds(const json_fields& from, double width_s,
                                            complaint& problems) {
    std::uint64_t in_warmup = 0;
    std::vector<double> ends, asked, open, cpu_s;
    std::vector<std::uint64_t> messages, errors;
    std::vector<std::optional<double>> p50, p90, p99;
    from.read("warmup", in_warmup, "t_s", ends, "messages", messages, "errors", errors, "asked",
              asked, "open_connections", open, "worker_cpu_s", cpu_s, "message_p50_us", p50,
              "message_p90_us", p90, "message_p99_us", p99);
    const auto fits = [&](const auto& list) { return list.empty() || list.size() == ends.size(); };
    if (messages.size() != ends.size() || errors.size() != ends.size() || !fits(asked) ||
        !fits(open) || !fits(cpu_s) || !fits(p50) || !fits(p90) || !fits(p99)) {
        problems.add("seconds", "lists of one length");
        return {};
    }
    const auto known = [](const auto& list, std::size_t index) {
        return list.empty() ? std::optional<double>() : list[index];
    };
    std::vector<recorded_interval> list;
    double previous_s = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        recorded_interval& to = list.emplace_back();
        to.start_s = previous_s;
        to.end_s = ends[i];
        if (to.end_s < to.start_s) problems.add("seconds.t_s", "a list of growing numbers");
        previous_s = to.end_s;
        to.messages = messages[i];
        to.error_events = errors[i];
        to.warmup = i < in_warmup;
        to.partial = to.end_s - to.start_s < width_s - second_counts::whole_enough_s;
        to.asked = known(asked, i);
        to.open_connections = known(open, i);
        to.worker_cpu_s = known(cpu_s, i);
        to.p50_us = known(p50, i);
        to.p90_us = known(p90, i);
        to.p99_us = known(p99, i);
    }
    return list;
}

recorded_phase read_phase(const std::string& name, const json_fields& from) {
    recorded_phase to;
    to.name = name;
    std::string buckets;
    from.read("count", to.count, "not_accepted", to.not_accepted, "mean", to.mean_us, "p50",
              to.p50_us, "p90", to.p90_us, "p99", to.p99_us, "p999", to.p999_us, "max", to.max_us,
              "buckets", buckets);
    if (buckets.empty()) return to;
    auto decoded = histogram::decode(buckets);
    if (decoded) {
        to.distribution = std::move(*decoded);
    } else {
        from.complain("buckets", "a histogram: " + decoded.error().message);
    }
    return to;
}

std::vector<recorded_phase> read_phases(const json_fields& from) {
    std::vector<recorded_phase> phases;
    from.members([&](const std::string& name, const json& member) {
        if (!member.is_null()) phases.push_back(read_phase(name, from.object(name)));
    });
    std::stable_sort(phases.begin(), phases.end(), [](const auto& one, const auto& other) {
        return order_of(one) < order_of(other);
    });
    return phases;
}

void read_counters(const json_fields& from, counter_rows rows, counts& to) {
    for (const counter& one : rows)
        from.read(one.name, to.*one.value);
}

std::vector<recorded_interval> read_intervals(const json_fields& from, counter_rows rows) {
    std::vector<recorded_interval> list;
    double previous_s = 0;
    from.each_object("intervals", [&](const json_fields& fields) {
        recorded_interval& to = list.emplace_back();
        to.start_s = previous_s;
        fields.read("start_s", to.start_s, "t_s", to.end_s, "warmup", to.warmup, "draining",
                    to.draining, "partial", to.partial, "worker_busy", to.worker_busy, "run_delay",
                    to.run_delay, "ranks", to.ranks, "asked", to.asked, "agents_running",
                    to.agents_running, "open_connections", to.open_connections, "worker_cpu_s",
                    to.worker_cpu_s);
        if (to.start_s < previous_s || to.end_s < to.start_s) {
            fields.complain("t_s", "after the end of the interval before it");
        }
        previous_s = to.end_s;
        read_counters(fields, rows, to);
        if (to.messages > 0) {
            fields.read("message_p50_us", to.p50_us, "message_p90_us", to.p90_us, "message_p99_us",
                        to.p99_us);
        }
    });
    return list;
}

// A rank stands in its place, and has no more intervals than the run.
std::vector<rank_share> read_ranks(const json_fields& from, counter_rows rows,
                                   std::size_t intervals) {
    std::vector<rank_share> list;
    from.each_object("ranks", [&](const json_fields& fields) {
        if (list.size() == most_ranks)
            return from.complain("ranks", fmt::format("a list of at most {}", most_ranks));
        rank_share& to = list.emplace_back();
        fields.read("rank", to.rank, "host", to.host, "workers", to.workers, "sessions",
                    to.sessions, "processors", to.processors, "machine_processors",
                    to.machine_processors);
        if (to.rank != list.size() - 1) fields.complain("rank", "its place in the list");
        fields.read_signed("wall_offset_s", to.wall_offset_s);
        fields.read_signed("clock_offset_s", to.clock_offset_s);
        fields.read_signed("clock_drift", to.clock_drift);
        fields.read_signed("clock_step_s", to.clock_step_s);
        fields.read("clock_drift_limit", to.clock_drift_limit, "clock_steps", to.clock_steps,
                    "wall_steps", to.wall_steps);
        fields.read("clock_bound_s", to.clock_bound_s, "start_late_s", to.start_late_s,
                    "missed_start", to.missed_start, "message_p50_us", to.p50_us, "message_p99_us",
                    to.p99_us, "ended", to.ended, "done_s", to.done_s, "lost_s", to.lost_s,
                    "unaccounted", to.unaccounted, "verdict", to.verdict, "reason", to.reason,
                    "worker_busy", to.worker_busy);
        read_counters(fields.object("totals"), rows, to.totals);
        read_counters(fields.object("totals_with_warmup"), rows, to.totals_with_warmup);
        fields.read("interval_messages", to.messages);
        if (to.messages.size() > intervals)
            fields.complain("interval_messages", "a list with at most one number an interval");
    });
    return list;
}

std::vector<error_entry> read_errors(const json_fields& from) {
    std::vector<error_entry> list;
    from.each_object("errors", [&](const json_fields& fields) {
        error_entry& to = list.emplace_back();
        fields.read("stage", to.stage, "code", to.code, "count", to.count, "sample", to.sample);
        fields.read(to.code == 0 ? "reason" : "enhanced", to.detail);
    });
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& one, const auto& other) { return one.count > other.count; });
    return list;
}

std::vector<threshold_result> read_thresholds(const json_fields& from) {
    std::vector<threshold_result> list;
    from.each_object("thresholds", [&](const json_fields& fields) {
        threshold_result& to = list.emplace_back();
        fields.read("expression", to.expression, "value", to.value, "unit", to.unit, "passed",
                    to.passed, "reached", to.reached);
    });
    return list;
}

// Options are shown as they stand, whatever their names.
std::string plain(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return value.dump();
    std::vector<std::string> pieces;
    for (const json& element : value) {
        pieces.push_back(element.is_string() ? element.get<std::string>() : element.dump());
    }
    return base::join(pieces, ", ");
}

base::host_info read_host(const json_fields& from) {
    base::host_info to;
    to.cpus = 0;
    from.read("name", to.name, "kernel", to.kernel, "cpus", to.cpus, "memory_bytes",
              to.memory_bytes, "boot_id", to.boot_id);
    if (!from.has("clock")) return to;
    base::clock_state& clock = to.clock.emplace();
    from.object("clock").read("synchronised", clock.synchronised, "estimated_error_us",
                              clock.estimated_error_us, "most_error_us", clock.most_error_us);
    return to;
}

void read_run(const json_fields& from, run_record& to) {
    from.read("program", to.program, "version", to.version, "argv", to.argv, "seed", to.seed,
              "started", to.started, "ended", to.ended, "duration_s", to.duration_s, "warmup_s",
              to.warmup_s, "interval_s", to.interval_s, "transcript", to.transcript);
    if (from.has("interrupted")) {
        recorded_interruption& by = to.interrupted.emplace();
        from.object("interrupted")
            .read("signal", by.signal, "at_s", by.at_s, "early", by.early, "cut_short",
                  by.cut_short);
    }
    to.measured_s = std::max(0.0, to.duration_s - to.warmup_s);
    from.read("measured_s", to.measured_s);
    to.host = read_host(from.object("host"));
    from.object("options").members([&](const std::string& name, const json& value) {
        to.options.emplace_back(name, plain(value));
    });
}

// "TLSv1.3 x 90, TLSv1.2 x 10"
std::string counts_text(const json_fields& from) {
    std::vector<std::string> pieces;
    from.members([&](const std::string& name, const json& value) {
        if (!value.is_number_unsigned()) return;
        pieces.push_back(
            fmt::format("{} x {}", name, base::format_count(value.get<std::uint64_t>())));
    });
    return base::join(pieces, ", ");
}

recorded_tls read_tls(const json_fields& from) {
    recorded_tls to;
    from.read("library", to.library, "full", to.full, "resumed", to.resumed);
    to.versions = counts_text(from.object("versions"));
    to.ciphers = counts_text(from.object("ciphers"));
    to.groups = counts_text(from.object("groups"));
    to.verification = counts_text(from.object("verification"));
    return to;
}

void read_security(const json_fields& from, run_record& to) {
    const auto add = [&](const char* name, std::string text) {
        if (!text.empty()) to.security.emplace_back(name, std::move(text));
    };
    if (from.has("tls")) {
        to.tls = read_tls(from.object("tls"));
        add("library", to.tls->library);
        add("handshakes", fmt::format("{} full, {} resumed", base::format_count(to.tls->full),
                                      base::format_count(to.tls->resumed)));
        add("versions", to.tls->versions);
        add("cipher suites", to.tls->ciphers);
        add("key exchange", to.tls->groups);
        add("certificates", to.tls->verification);
    }
    add("logins", counts_text(from.object("authentications")));
}

recorded_agents read_agents(const json_fields& from) {
    recorded_agents to;
    from.read("started", to.started, "cpu_user_s", to.cpu_user_s, "cpu_system_s", to.cpu_system_s,
              "max_rss_bytes", to.max_rss_bytes);
    const json_fields exits = from.object("exits");
    exits.members([&](const std::string& name, const json&) {
        exits.read(name, to.exits.emplace_back(name, 0).second);
    });
    std::stable_sort(to.exits.begin(), to.exits.end(),
                     [](const auto& one, const auto& other) { return one.second > other.second; });
    return to;
}

recorded_connections read_connections(const json_fields& from) {
    recorded_connections to;
    from.read("messages_per_connection", to.messages, "recipients_per_transaction", to.recipients,
              "tls_share", to.tls_share, "pipelined_share", to.pipelined_share, "most_open",
              to.most_open);
    return to;
}

recorded_generator read_generator(const json_fields& from) {
    recorded_generator to;
    from.read("limited", to.limited, "reason", to.reason, "worker_busy", to.worker_busy,
              "schedule_slip_p99_us", to.slip_p99_us, "run_delay", to.run_delay, "loop_late_p99_us",
              to.loop_late_p99_us, "loop_late_max_us", to.loop_late_max_us, "machine_idle",
              to.machine_idle, "machine_steal", to.machine_steal, "cpu_pressure", to.cpu_pressure);
    from.read("cause", to.cause, "traffic", to.traffic, "main_busy", to.main_busy, "ledger_busy",
              to.ledger_busy, "throttled", to.throttled, "stopped_s", to.stopped_s);
    to.verdict = to.limited ? "limit" : "none";
    from.read("verdict", to.verdict);
    return to;
}

base::expected<run_record> from_json(const json& root, counter_rows rows) {
    complaint problems;
    const json_fields fields{root, "", problems};
    if (!root.is_object()) return base::fail("is not a run record: not a JSON object");
    std::string found;
    fields.read("schema", found);
    if (found.empty()) return base::fail("is not a run record: it names no schema");
    if (found != schema) {
        return base::fail("has schema \"{}\"; this program reads {}", found, schema);
    }
    for (const char* key : {"program", "totals"}) {
        if (!fields.has(key)) return base::fail("{} is missing", key);
    }
    run_record to;
    to.counters = rows;
    read_run(fields, to);
    const json_fields totals = fields.object("totals");
    to.totals = read_totals(totals, fields.object("integrity"), rows);
    const json_fields with_warmup = fields.object("totals_with_warmup");
    to.totals_with_warmup = read_totals(with_warmup, with_warmup, rows);
    if (fields.has("agents")) to.agents = read_agents(fields.object("agents"));
    read_commands(fields, to);
    read_profile(fields, to);
    if (fields.has("connection_use"))
        to.connection_use = read_connections(fields.object("connection_use"));
    totals.read("cpu_user_s", to.cpu_user_s, "cpu_system_s", to.cpu_system_s, "max_rss_bytes",
                to.max_rss_bytes);
    const json_fields rates = fields.object("rate");
    to.rate = read_rate(rates.object("messages_per_minute"), "intervals", problems);
    to.rate_by_second = read_rate(rates.object("messages_per_second"), "stretches", problems);
    if (rates.has("under_load")) {
        recorded_load& load = to.under_load.emplace();
        rates.object("under_load")
            .read("start_s", load.start_s, "end_s", load.end_s, "messages", load.messages,
                  "messages_per_second", load.per_second);
    }
    const json_fields seconds = fields.object("seconds");
    seconds.read("width_s", to.second_width_s);
    to.seconds = read_seconds(seconds, to.second_width_s, problems);
    read_security(fields, to);
    to.phases = read_phases(fields.object("latency_us"));
    to.intervals = read_intervals(fields, rows);
    to.ranks = read_ranks(fields, rows, to.intervals.size());
    fields.object("cap").read("asked_per_s", to.cap.asked_per_s, "reached_per_s",
                              to.cap.reached_per_s, "all_busy", to.cap.all_busy, "behind",
                              to.cap.behind);
    to.generator = read_generator(fields.object("generator"));
    fields.object("not_in_effect").members([&](const std::string& name, const json&) {
        to.not_in_effect.push_back(name);
    });
    to.errors = read_errors(fields);
    to.thresholds = read_thresholds(fields);
    if (problems) return base::failure{problems.first};
    return to;
}

}  // namespace

bool recorded_totals::has(const counter& one) const noexcept {
    return std::find(known.begin(), known.end(), one.name) != known.end();
}

const recorded_phase* run_record::find_phase(std::string_view name) const noexcept {
    const auto found = std::find_if(phases.begin(), phases.end(),
                                    [&](const recorded_phase& one) { return one.name == name; });
    return found == phases.end() ? nullptr : &*found;
}

const recorded_phase* run_record::main_phase() const noexcept {
    for (const std::string_view name : {"message", "retrieve", "session"}) {
        if (const recorded_phase* found = find_phase(name); found != nullptr) return found;
    }
    return nullptr;
}

base::expected<run_record> parse_record(std::string_view text, counter_rows rows) {
    if (base::trim(text).empty()) return base::fail("is empty");
    try {
        return from_json(json::parse(text), rows);
    } catch (const json::exception& broken) {
        return base::fail("is not a run record: {}", reason_of(broken));
    }
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
