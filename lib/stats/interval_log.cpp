// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of the per-interval log, from an interval's row.
//
// Lines are built whole and written with one fwrite and one fflush, so that a reader that follows
// the log never sees half of one. localtime_r follows TZ and daylight saving; the run's start is on
// the system clock and the interval's end is counted from there on the steady one, so a clock that
// is set during a run does not make the log jump.
#include "stats/interval_log.hpp"

#include "stats/record_writer.hpp"

#include <cerrno>
#include <ctime>
#include <utility>

namespace postal::stats {
namespace {

constexpr std::string_view agent_columns =
    ",deferred,rejected,agents_running,agent_p50_ms,agent_p99_ms";

constexpr std::string_view latency_heading = ",p50_ms,p90_ms,p99_ms,max_ms";
constexpr std::string_view error_columns =
    ",connect_errors,timeouts,errors_4xx,errors_5xx,other_errors,busy_percent"
    ",wait_percent,idle_percent,open_connections,worker_cpu_s";

constexpr std::string_view cap_column = ",asked";
constexpr std::string_view ranks_column = ",ranks";

std::string local_time(std::chrono::system_clock::time_point time, bool whole_minutes) {
    const auto rounded = std::chrono::round<std::chrono::seconds>(time.time_since_epoch());
    const auto clock = static_cast<std::time_t>(rounded.count());
    std::tm local{};
    ::localtime_r(&clock, &local);
    if (whole_minutes) return fmt::format("{:02}:{:02}", local.tm_hour, local.tm_min);
    return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

std::string milliseconds(const std::optional<std::chrono::nanoseconds>& value) {
    return value ? fmt::format("{:.3f}", static_cast<double>(value->count()) / 1e6) : "";
}

std::string percent(const std::optional<double>& share) {
    return share ? fmt::format("{:.1f}", *share * 100) : "";
}

std::string agent_fields(const interval_row& row) {
    return fmt::format(",{},{},{},{},{}", row.deferred, row.rejected,
                       row.agents_running.value_or(0), milliseconds(row.agent_p50),
                       milliseconds(row.agent_p99));
}

bool stands_with_agents(const counter& one) {
    return one.value == &counts::deferred || one.value == &counts::rejected;
}

std::string latency_fields(const interval_row& row) {
    std::string text;
    for (const auto& latency :
         {row.message_p50, row.message_p90, row.message_p99, row.message_max}) {
        text += "," + milliseconds(latency);
    }
    return text;
}

std::string error_fields(const interval_row& row) {
    const error_classes& errors = row.classes;
    std::string text;
    for (const std::uint64_t count :
         {errors.connect, errors.timeout, errors.temporary, errors.permanent, errors.other}) {
        text += fmt::format(",{}", count);
    }
    text += fmt::format(",{:.1f}", row.worker_busy.value_or(0) * 100);
    text += "," + percent(row.run_delay) + "," + percent(row.machine_idle);
    text += row.open_connections ? fmt::format(",{:.2f}", *row.open_connections) : ",";
    return text + fmt::format(",{:.3f}", row.worker_cpu_s.value_or(0));
}

std::string cap_field(const interval_row& row) {
    return fmt::format(",{:.1f}", row.asked.value_or(0));
}

std::string column_of(const counter& one) {
    return fmt::format(",{}", one.column.empty() ? one.name : one.column);
}

// Octets are whole KiB, as in the original.
std::string field_of(const counter& one, const interval_row& row) {
    return fmt::format(",{}", row.*one.value / (one.unit == counter_unit::octets ? 1024 : 1));
}

}  // namespace

interval_log::interval_log(std::FILE* stream, log_format format, const run_description& description)
    : stream_(stream),
      format_(format),
      run_(description),
      whole_minutes_(description.interval.count() > 0 &&
                     description.interval % std::chrono::minutes{1} ==
                         std::chrono::nanoseconds{0}) {}

template <class Text>
std::string interval_log::counters(logged from, Text text_of) const {
    std::string text;
    for (const counter& one : run_.counters) {
        if (!run_.has(one) || one.log != from) continue;
        const bool shown_before = run_.runs_agents && stands_with_agents(one);
        if (!shown_before) text += text_of(one);
    }
    return text;
}

std::string interval_log::header() const {
    if (format_ == log_format::jsonl) return {};
    std::string text = "time" + counters(logged::always, column_of);
    if (run_.runs_agents) text += agent_columns;
    if (format_ != log_format::extended) return text;
    text += latency_heading;
    text += counters(logged::extended, column_of);
    text.append(error_columns).append(run_.capped() ? cap_column : "");
    return text.append(run_.ranks > 1 ? ranks_column : "");
}

std::string interval_log::line(const interval_row& row) const {
    const auto end = run_.started + std::chrono::duration_cast<std::chrono::system_clock::duration>(
                                        std::chrono::duration<double>(row.end_s));
    if (format_ == log_format::jsonl) {
        return interval_text(run_, row,
                             timestamp(std::chrono::round<std::chrono::milliseconds>(end)));
    }
    const auto field = [&](const counter& one) { return field_of(one, row); };
    std::string text = local_time(end, whole_minutes_) + counters(logged::always, field);
    if (run_.runs_agents) text += agent_fields(row);
    if (format_ != log_format::extended) return text;
    text += latency_fields(row) + counters(logged::extended, field);
    text += error_fields(row);
    if (run_.capped()) text += cap_field(row);
    return run_.ranks > 1 ? text + fmt::format(",{}", row.ranks.value_or(1)) : text;
}

base::expected<void> interval_log::put(std::string text) {
    text += '\n';
    errno = 0;
    const bool written = std::fwrite(text.data(), 1, text.size(), stream_) == text.size();
    if (written && std::fflush(stream_) == 0) return {};
    const int error = errno;
    std::clearerr(stream_);  // it is told here, and to nobody else
    return base::fail("cannot write the interval log: {}", base::system_message(error));
}

base::expected<void> interval_log::write_header() {
    std::string text = header();
    if (text.empty()) return {};
    return put(std::move(text));
}

base::expected<void> interval_log::write(const interval_row& row) {
    return put(line(row));
}

}  // namespace postal::stats
