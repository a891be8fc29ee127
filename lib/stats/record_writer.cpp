// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/record_writer.hpp"

#include "base/write_file.hpp"
#include "stats/json_writer.hpp"

#include <ctime>

#include <fmt/format.h>

namespace postal::stats {
namespace {

template <class Has>
std::vector<counter> counters_where(counter_rows rows, Has has) {
    std::vector<counter> chosen;
    for (const counter& one : rows)
        if (has(one)) chosen.push_back(one);
    return chosen;
}

}  // namespace

std::string record_text(const run_record& record, int indent) {
    json_writer to(indent, counters_where(record.counters, [&](const counter& one) {
                       return record.totals.has(one);
                   }));
    to("schema", std::string_view("postal-record/1"));
    fields<json_writer>(to, record);
    return to.take();
}

std::string interval_text(const run_description& run, const interval_row& row,
                          std::string_view time) {
    json_writer to(-1,
                   counters_where(run.counters, [&](const counter& one) { return run.has(one); }));
    to("time", time);
    interval_row shown = row;
    if (run.ranks < 2) shown.ranks.reset();
    fields<json_writer>(to, shown);
    return to.take();
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

base::expected<void> write_record(const run_record& record, const std::string& path) {
    // On standard output in one line, for tools that take a line for an object.
    return base::write_file(path, record_text(record, path == "-" ? -1 : 2) + "\n");
}

}  // namespace postal::stats
