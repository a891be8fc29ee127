// The record as it is read back, part by part in the order of the writer (record_writer.cpp).
#include "stats/record_reader.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/json_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace postal::stats {
namespace {

constexpr std::string_view schema = "postal-record/1";

// The phases of every program, in the order in which its protocol goes through them.
constexpr std::array<std::string_view, 18> phase_order{
    "connect", "tls",   "tls_resumed", "banner",  "ehlo",    "auth",
    "login",   "list",  "retrieve",    "delete",  "queue",   "envelope",
    "data",    "agent", "service",     "message", "session", "delivery"};

auto order_of(const recorded_phase& one) {
    return std::find(phase_order.begin(), phase_order.end(), one.name) - phase_order.begin();
}

// A whole number that is to fit; the largest instead of a larger one.
template <class Number>
Number limited(std::uint64_t value) {
    return static_cast<Number>(std::min<std::uint64_t>(
        value, static_cast<std::uint64_t>(std::numeric_limits<Number>::max())));
}

base::host_info read_host(const json_fields& from) {
    return {from.text("name"), from.text("kernel"), limited<unsigned>(from.count("cpus")),
            from.count("memory_bytes")};
}

// A counter stands in one of the two parts.
recorded_totals read_totals(const json_fields& from, const json_fields& integrity,
                            counter_rows rows) {
    recorded_totals to;
    for (const counter& one : rows) {
        const json_fields& part = one.kind == counter_kind::integrity ? integrity : from;
        const auto count = part.maybe_count(one.name);
        if (!count) continue;
        to.*one.value = *count;
        to.known.push_back(one.name);
    }
    return to;
}

recorded_rate read_rate(const json_fields& from, complaint& problems) {
    recorded_rate to;
    to.mean = from.maybe_number("mean");
    to.stddev = from.maybe_number("stddev");
    to.min = from.maybe_number("min");
    to.max = from.maybe_number("max");
    to.intervals = from.count("intervals");
    std::vector<double> bounds;
    from.each("ci95", [&](const json& bound, const std::string& path) {
        if (bound.is_number()) {
            bounds.push_back(bound.get<double>());
        } else if (!bound.is_null()) {
            problems.add(path, "a number");
        }
    });
    if (bounds.size() == 2) to.ci95 = {bounds[0], bounds[1]};
    return to;
}

recorded_phase read_phase(const std::string& name, const json_fields& from, complaint& problems) {
    recorded_phase to;
    to.name = name;
    to.count = from.count("count");
    to.mean_us = from.maybe_number("mean");
    to.p50_us = from.maybe_number("p50");
    to.p90_us = from.maybe_number("p90");
    to.p99_us = from.maybe_number("p99");
    to.p999_us = from.maybe_number("p999");
    to.max_us = from.maybe_number("max");
    const std::string buckets = from.text("buckets");
    if (buckets.empty()) return to;
    auto decoded = histogram::decode(buckets);
    if (decoded) {
        to.distribution = std::move(*decoded);
    } else {
        problems.add(from.path("buckets"), "a histogram: " + decoded.error().message);
    }
    return to;
}

std::vector<recorded_phase> read_phases(const json_fields& from, complaint& problems) {
    std::vector<recorded_phase> phases;
    from.members([&](const std::string& name, const json& member) {
        if (member.is_null()) return;
        const json_fields fields{member, from.path(name), problems};
        phases.push_back(read_phase(name, fields, problems));
    });
    std::stable_sort(phases.begin(), phases.end(),
                     [](const recorded_phase& one, const recorded_phase& other) {
                         return order_of(one) < order_of(other);
                     });
    return phases;
}

std::vector<recorded_interval> read_intervals(const json_fields& from, counter_rows rows,
                                              complaint& problems) {
    std::vector<recorded_interval> list;
    double previous_s = 0;
    from.each("intervals", [&](const json& element, const std::string& path) {
        const json_fields fields{element, path, problems};
        recorded_interval to;
        to.start_s = fields.maybe_number("start_s").value_or(previous_s);
        to.end_s = fields.number("t_s");
        if (to.start_s < previous_s || to.end_s < to.start_s) {
            problems.add(fields.path("t_s"), "after the end of the interval before it");
        }
        previous_s = to.end_s;
        for (const counter& one : rows)
            to.*one.value = fields.maybe_count(one.name).value_or(to.*one.value);
        if (to.messages > 0) {
            to.p50_us = fields.maybe_number("message_p50_us");
            to.p99_us = fields.maybe_number("message_p99_us");
        }
        to.worker_busy = fields.maybe_number("worker_busy");
        to.warmup = fields.flag("warmup");
        to.partial = fields.flag("partial");
        list.push_back(to);
    });
    return list;
}

std::vector<error_entry> read_errors(const json_fields& from, complaint& problems) {
    std::vector<error_entry> list;
    from.each("errors", [&](const json& element, const std::string& path) {
        const json_fields fields{element, path, problems};
        const int code = limited<int>(fields.count("code"));
        list.push_back({fields.text("stage"), code, fields.text(code == 0 ? "reason" : "enhanced"),
                        fields.count("count"), fields.text("sample")});
    });
    std::stable_sort(
        list.begin(), list.end(),
        [](const error_entry& one, const error_entry& other) { return one.count > other.count; });
    return list;
}

std::vector<threshold_result> read_thresholds(const json_fields& from, complaint& problems) {
    std::vector<threshold_result> list;
    from.each("thresholds", [&](const json& element, const std::string& path) {
        const json_fields fields{element, path, problems};
        list.push_back({fields.text("expression"), fields.maybe_number("value"),
                        fields.text("unit"), fields.flag("passed")});
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

void read_run(const json_fields& from, run_record& to, complaint& problems) {
    to.program = from.text("program");
    to.version = from.text("version");
    from.each("argv", [&](const json& word, const std::string& path) {
        if (word.is_string()) {
            to.argv.push_back(word.get<std::string>());
        } else {
            problems.add(path, "a text");
        }
    });
    to.seed = from.maybe_count("seed");
    to.started = from.text("started");
    to.duration_s = from.number("duration_s");
    to.warmup_s = from.number("warmup_s");
    to.interval_s = from.number("interval_s");
    to.measured_s =
        from.maybe_number("measured_s").value_or(std::max(0.0, to.duration_s - to.warmup_s));
    to.transcript = from.flag("transcript");
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

void read_security(const json_fields& from, run_record& to) {
    const auto add = [&](const char* name, std::string text) {
        if (!text.empty()) to.security.emplace_back(name, std::move(text));
    };
    if (from.has("tls")) {
        const json_fields tls = from.object("tls");
        add("library", tls.text("library"));
        add("handshakes", fmt::format("{} full, {} resumed", base::format_count(tls.count("full")),
                                      base::format_count(tls.count("resumed"))));
        add("versions", counts_text(tls.object("versions")));
        add("cipher suites", counts_text(tls.object("ciphers")));
        add("key exchange", counts_text(tls.object("groups")));
        add("certificates", counts_text(tls.object("verification")));
    }
    add("logins", counts_text(from.object("authentications")));
}

void read_generator(const json_fields& from, recorded_generator& to) {
    to.limited = from.flag("limited");
    to.reason = from.text("reason");
    to.worker_busy = from.maybe_number("worker_busy");
    to.slip_p99_us = from.maybe_number("schedule_slip_p99_us");
}

base::expected<run_record> from_json(const json& root, counter_rows rows) {
    complaint problems;
    const json_fields fields{root, "", problems};
    if (!root.is_object()) return base::fail("is not a run record: not a JSON object");
    const std::string found = fields.text("schema");
    if (found.empty()) return base::fail("is not a run record: it names no schema");
    if (found != schema) {
        return base::fail("has schema \"{}\"; this program reads {}", found, schema);
    }
    for (const char* key : {"program", "totals"}) {
        if (!fields.has(key)) return base::fail("{} is missing", key);
    }
    run_record to;
    to.counters = rows;
    read_run(fields, to, problems);
    to.host = read_host(fields.object("host"));
    const json_fields totals = fields.object("totals");
    to.totals = read_totals(totals, fields.object("integrity"), rows);
    to.cpu_user_s = totals.number("cpu_user_s");
    to.cpu_system_s = totals.number("cpu_system_s");
    to.max_rss_bytes = totals.count("max_rss_bytes");
    to.rate = read_rate(fields.object("rate").object("messages_per_minute"), problems);
    read_security(fields, to);
    to.phases = read_phases(fields.object("latency_us"), problems);
    to.intervals = read_intervals(fields, rows, problems);
    read_generator(fields.object("generator"), to.generator);
    to.errors = read_errors(fields, problems);
    to.thresholds = read_thresholds(fields, problems);
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
        // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
        std::string_view reason = broken.what();
        if (const auto end = reason.find("] "); end != reason.npos) reason.remove_prefix(end + 2);
        return base::fail("is not a run record: {}", reason);
    }
}

}  // namespace postal::stats
