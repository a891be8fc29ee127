// A run_report as JSON, part by part in the order in which people read it.
//
// number() lets no infinity and no NaN through, and a missing value becomes null, so that the text
// is valid JSON whatever was measured. Keys keep their order (ordered_json). Times are UTC, ISO
// 8601 with milliseconds; latencies microseconds, to the nanosecond.
//
// What gets members or elements is made an object or an array first: where memory fails while null
// becomes one, the library's destructor crashes.
#include "stats/record_writer.hpp"

#include "base/write_file.hpp"
#include "stats/record_commands.hpp"
#include "stats/record_values.hpp"

#include <algorithm>
#include <ctime>
#include <functional>

namespace postal::stats {
namespace {

// Those counters that are wanted and mean something in the run.
template <class Wanted>
void add_counters(json& to, const run_description& run, const counts& counted, Wanted wanted) {
    for (const counter& one : run.counters)
        if (run.has(one) && wanted(one)) to[one.name] = counted.*one.value;
}

bool is_integrity(const counter& one) {
    return one.kind == counter_kind::integrity;
}

// `what` was it the values of.
json rate_of(const rate_summary& rate, const std::string& what) {
    json ci95 = nullptr;
    if (rate.ci95) ci95 = json::array({number((*rate.ci95)[0]), number((*rate.ci95)[1])});
    return {{"mean", number(rate.mean)},
            {"stddev", number(rate.stddev)},
            {"min", number(rate.min)},
            {"max", number(rate.max)},
            {"ci95", ci95},
            {what, rate.count},
            {"effective_" + what, number(rate.effective)},
            {"trend", number(rate.trend)}};
}

json loaded_of(const loaded_time& loaded) {
    return {{"start_s", number(loaded.start_s)},
            {"end_s", number(loaded.end_s)},
            {"messages", loaded.messages},
            {"messages_per_second", number(loaded.per_second())}};
}

// Over an interval or a second.
template <class Stretch>
json mean_open(const Stretch& one) {
    const double length_s = one.end_s - one.start_s;
    return length_s > 0 ? number(one.connected_s / length_s) : json(nullptr);
}

// A list a member, so that an hour of seconds stays small; what is not known is no member.
json seconds_of(const second_counts& seconds) {
    const std::vector<second_count>& all = seconds.all();
    const auto any = [&](auto what) { return std::any_of(all.begin(), all.end(), what); };
    json object{
        {"width_s", seconds.width_s()},
        {"warmup", std::count_if(all.begin(), all.end(), std::mem_fn(&second_count::warmup))}};
    const auto list = [&](const char* name, auto value_of) {
        json& values = object[name] = json::array();
        for (const second_count& one : all)
            values.push_back(value_of(one));
    };
    list("t_s", [](const auto& one) { return number(one.end_s); });
    list("messages", std::mem_fn(&second_count::messages));
    list("errors", std::mem_fn(&second_count::errors));
    list("worker_cpu_s", [](const auto& one) { return number(one.worker_cpu_s); });
    list("open_connections", [](const auto& one) { return mean_open(one); });
    if (any([](const auto& one) { return one.asked.has_value(); }))
        list("asked", [](const auto& one) { return number(one.asked.value_or(0)); });
    if (any([](const auto& one) { return one.p50.has_value(); })) {
        list("message_p50_us", [](const auto& one) { return microseconds(one.p50); });
        list("message_p90_us", [](const auto& one) { return microseconds(one.p90); });
        list("message_p99_us", [](const auto& one) { return microseconds(one.p99); });
    }
    return object;
}

json latencies_of(const run_report& report) {
    json object = json::object();
    const auto& names = report.description().phases;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!report.description().shows_phase(i)) continue;
        const ranking values = report.latency(i);
        object[names[i]] = latency_of(values);
        if (!values.whole())
            object[report.description().what_counts()] = latency_of(ranking(values.accepted()));
    }
    return object;
}

void add_load(json& to, const generator_load& load) {
    to["run_delay"] = number(load.run_delay);
    to["loop_late_p99_us"] = microseconds(load.loop_late_p99);
    to["loop_late_max_us"] = microseconds(load.loop_late_max);
    to["machine_idle"] = number(load.machine_idle);
    to["machine_steal"] = number(load.machine_steal);
    to["cpu_pressure"] = number(load.cpu_pressure);
    to["main_busy"] = load.main ? number(load.main->busy) : json(nullptr);
    if (load.ledger) to["ledger_busy"] = number(load.ledger->busy);
    to["throttled"] = number(load.throttled);
    to["stopped_s"] = number(load.stopped_s);
}

json generator_of(const run_report& report) {
    const generator_summary generator = report.generator();
    json object{{"limited", generator.limited},
                {"verdict", to_text(generator.verdict)},
                {"cause", to_text(generator.cause)},
                {"traffic", generator.traffic},
                {"worker_busy", number(generator.worker_busy)},
                {"schedule_slip_p99_us", microseconds(generator.slip_p99)}};
    add_load(object, generator);
    object["reason"] = generator.reason;
    return object;
}

json cap_of(const cap_summary& cap) {
    return {{"asked_per_s", number(cap.asked_per_s)},
            {"reached_per_s", number(cap.reached_per_s)},
            {"all_busy", number(cap.all_busy)},
            {"behind", cap.behind}};
}

json connections_of(const connection_summary& use) {
    return {{"messages_per_connection", number(use.messages)},
            {"recipients_per_transaction", number(use.recipients)},
            {"tls_share", number(use.tls)},
            {"pipelined_share", number(use.pipelined)},
            {"most_open", use.most_open}};
}

json errors_of(const tally& total) {
    json array = json::array();
    for (const auto& entry : total.errors.by_count()) {
        const bool reply = entry.code != 0;
        array.push_back({{"stage", entry.stage},
                         {"code", entry.code},
                         {"enhanced", reply ? entry.detail : ""},
                         {"reason", reply ? "" : entry.detail},
                         {"count", entry.count},
                         {"sample", entry.sample}});
    }
    return array;
}

json names_of(const named_counts& counts) {
    json object = json::object();
    for (const auto& one : counts.sorted())
        object[one.name] = one.count;
    return object;
}

// Also of those that nobody has struck.
json limits_of(const run_description& run, const named_counts& struck) {
    json object = json::object();
    for (const std::string& name : run.limits)
        object[name] = 0;
    object.update(names_of(struck));
    return object;
}

json agents_of(const agent_counts& agents) {
    return {{"started", agents.started()},
            {"cpu_user_s", seconds(agents.user())},
            {"cpu_system_s", seconds(agents.system())},
            {"max_rss_bytes", agents.max_rss_bytes()},
            {"exits", names_of(agents.exits())}};
}

json tls_of(const std::string& library, const tls_counts& tls) {
    return {{"library", library},
            {"full", tls.full},
            {"resumed", tls.resumed},
            {"versions", names_of(tls.versions)},
            {"ciphers", names_of(tls.ciphers)},
            {"groups", names_of(tls.groups)},
            {"verification", names_of(tls.verifications)}};
}

json thresholds_of(const run_report& report) {
    json array = json::array();
    for (const auto& one : report.thresholds) {
        array.push_back({{"expression", one.expression},
                         {"value", number(one.value)},
                         {"unit", one.unit},
                         {"passed", one.passed},
                         {"reached", one.reached}});
    }
    return array;
}

json options_of(const run_description& run) {
    json object = json::object();
    for (const auto& [name, value] : run.options)
        std::visit([&, &key = name](const auto& one) { object[key] = one; }, value);
    return object;
}

json host_of(const base::host_info& host) {
    json object{{"name", host.name},
                {"kernel", host.kernel},
                {"cpus", host.cpus},
                {"memory_bytes", host.memory_bytes},
                {"boot_id", host.boot_id}};
    if (!host.clock) return object;
    object["clock"] = {{"synchronised", host.clock->synchronised},
                       {"estimated_error_us", host.clock->estimated_error_us},
                       {"most_error_us", host.clock->most_error_us},
                       {"status", host.clock->status},
                       {"frequency_ppm", number(host.clock->frequency_ppm)},
                       {"tick_us", host.clock->tick_us},
                       {"offset_us", host.clock->offset_us},
                       {"slew_ppm", number(host.clock->slew_ppm)}};
    return object;
}

// Of all ranks.
std::uint64_t workers_of(const run_report& report) {
    if (report.ranks().empty()) return report.description().workers;
    std::uint64_t all = 0;
    for (const rank_share& one : report.ranks())
        all += one.workers;
    return all;
}

json interruption_of(const std::optional<interruption>& one) {
    if (!one) return nullptr;
    return {{"signal", one->signal.empty() ? json(nullptr) : json(one->signal)},
            {"at_s", number(one->at_s)},
            {"early", one->early},
            {"cut_short", one->cut_short}};
}

json head_of(const run_report& report) {
    const run_description& run = report.description();
    return {{"schema", "postal-record/1"},
            {"program", run.program},
            {"version", run.version},
            {"argv", run.argv},
            {"options", options_of(run)},
            {"seed", run.seed},
            {"workers", workers_of(report)},
            {"transcript", run.transcript},
            {"started", timestamp(run.started)},
            {"ended", report.end().why},
            {"interrupted", interruption_of(report.end().interrupted)},
            {"duration_s", number(report.end().duration_s)},
            {"warmup_s", seconds(run.warmup)},
            {"measured_s", number(report.measured_s())},
            {"interval_s", seconds(run.interval)},
            {"align_minutes", run.align_minutes},
            {"host", host_of(run.host)}};
}

json interval_of(const run_description& run, const interval_row& row) {
    json object{{"start_s", number(row.start_s)},
                {"t_s", number(row.end_s)},
                {"warmup", row.warmup},
                {"partial", row.partial},
                {"draining", row.draining}};
    add_counters(object, run, row, [](const counter& one) { return one.log != logged::never; });
    object["message_p50_us"] = microseconds(row.message_p50);
    object["message_p90_us"] = microseconds(row.message_p90);
    object["message_p99_us"] = microseconds(row.message_p99);
    object["message_max_us"] = microseconds(row.message_max);
    if (row.asked) object["asked"] = number(*row.asked);
    if (run.ranks > 1) object["ranks"] = row.ranks;
    object["open_connections"] = mean_open(row);
    object["worker_cpu_s"] = number(row.worker_cpu_s);
    object["worker_busy"] = number(row.worker_busy);
    object["slip_p99_us"] = microseconds(row.slip_p99);
    add_load(object, row);
    if (row.agents_running) {
        object["agents_running"] = *row.agents_running;
        object["agent_p50_us"] = microseconds(row.agent_p50);
        object["agent_p99_us"] = microseconds(row.agent_p99);
    }
    return object;
}

// Clocks are compared to the microsecond, drifts are millionths.
json fine_number(const std::optional<double>& value) {
    if (!value || !std::isfinite(*value)) return nullptr;
    return std::round(*value * 1e9) / 1e9;
}

json rank_of(const run_description& run, const rank_share& share) {
    const auto all_of = [&](const counts& counted) {
        json object = json::object();
        add_counters(object, run, counted, [](const counter&) { return true; });
        return object;
    };
    return {{"rank", share.rank},
            {"host", share.host},
            {"workers", share.workers},
            {"sessions", share.sessions},
            {"processors", share.processors},
            {"machine_processors", share.machine_processors},
            {"wall_offset_s", fine_number(share.wall_offset_s)},
            {"clock_offset_s", fine_number(share.clock_offset_s)},
            {"clock_bound_s", fine_number(share.clock_bound_s)},
            {"clock_drift", fine_number(share.clock_drift)},
            {"clock_drift_limit", fine_number(share.clock_drift_limit)},
            {"clock_steps", share.clock_steps},
            {"wall_steps", share.wall_steps},
            {"clock_step_s", fine_number(share.clock_step_s)},
            {"start_late_s", fine_number(share.start_late_s)},
            {"missed_start", share.missed_start},
            {"totals", all_of(share.totals)},
            {"totals_with_warmup", all_of(share.totals_with_warmup)},
            {"interval_messages", share.messages},
            {"message_p50_us", number(share.p50_us)},
            {"message_p99_us", number(share.p99_us)},
            {"ended", share.ended},
            {"done_s", number(share.done_s)},
            {"lost_s", number(share.lost_s)},
            {"unaccounted", share.unaccounted},
            {"verdict", share.verdict},
            {"reason", share.reason},
            {"worker_busy", number(share.worker_busy)}};
}

json record_of(const run_report& report) {
    json record = head_of(report);
    const run_description& run = report.description();
    const tally& total = report.totals();
    json& totals = record["totals"] = json::object();
    add_counters(totals, run, total.counted(), std::not_fn(is_integrity));
    totals.update({{"cpu_user_s", number(report.end().cpu_user_s)},
                   {"cpu_system_s", number(report.end().cpu_system_s)},
                   {"max_rss_bytes", report.end().max_rss_bytes}});
    json& with_warmup = record["totals_with_warmup"] = json::object();
    add_counters(with_warmup, run, report.totals_with_warmup().counted(),
                 std::not_fn(is_integrity));
    json integrity = json::object();
    add_counters(integrity, run, total.counted(), is_integrity);
    if (!integrity.empty()) record["integrity"] = std::move(integrity);
    if (!report.totals_with_warmup().authentications.empty()) {
        record["authentications"] = names_of(total.authentications);
    }
    if (!run.limits.empty()) record["limits"] = limits_of(run, total.limits);
    if (run.runs_agents) record["agents"] = agents_of(total.agents);
    if (!run.tls_library.empty()) record["tls"] = tls_of(run.tls_library, total.tls);
    if (!run.commands.empty()) record["commands"] = commands_of(run, total.commands);
    if (run.profile) record["profile"] = profile_of(*run.profile, total.actions);
    if (run.serves) record["connection_use"] = connections_of(report.connections());
    record["rate"] = {{"messages_per_minute", rate_of(report.rate(), "intervals")},
                      {"messages_per_second", rate_of(report.seconds().rate(), "stretches")}};
    if (const auto loaded = report.seconds().loaded(); run.serves && loaded)
        record["rate"]["under_load"] = loaded_of(*loaded);
    record["latency_us"] = latencies_of(report);
    record["intervals"] = json::array();
    for (const auto& row : report.intervals())
        record["intervals"].push_back(interval_of(run, row));
    record["seconds"] = seconds_of(report.seconds());
    if (const auto cap = report.cap()) record["cap"] = cap_of(*cap);
    if (report.ranks().size() > 1) {
        json& ranks = record["ranks"] = json::array();
        for (const rank_share& share : report.ranks())
            ranks.push_back(rank_of(run, share));
    }
    record["generator"] = generator_of(report);
    record["not_in_effect"] = names_of(report.not_in_effect());
    record["errors"] = errors_of(total);
    record["errors_with_warmup"] = errors_of(report.totals_with_warmup());
    record["thresholds"] = thresholds_of(report);
    return record;
}

// Octets that are no UTF-8 become replacement characters.
std::string text_of(const json& object, int indent) {
    return object.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string record_text(const run_report& report, int indent) {
    return text_of(record_of(report), indent);
}

std::string timestamp(std::chrono::system_clock::time_point time) {
    const auto since = time.time_since_epoch();
    const auto whole = std::chrono::floor<std::chrono::seconds>(since);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since - whole);
    const auto clock = static_cast<std::time_t>(whole.count());
    std::tm utc{};
    ::gmtime_r(&clock, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                       utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                       ms.count());
}

base::expected<void> write_record(const run_report& report, const std::string& path) {
    // On standard output in one line, for tools that take a line for an object.
    return base::write_file(path, record_text(report, path == "-" ? -1 : 2) + "\n");
}

std::string interval_text(const run_description& run, const interval_row& row,
                          std::string_view time) {
    json object{{"time", time}};
    object.update(interval_of(run, row));
    return text_of(object, -1);
}

}  // namespace postal::stats
