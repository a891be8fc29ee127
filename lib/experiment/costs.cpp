// SPDX-License-Identifier: GPL-3.0-or-later
// The columns are rows of three tables: the name in the file, where the value comes from, and what
// its difference is a cost of.
#include "experiment/costs.hpp"

#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"
#include "stats/record_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace postal::experiment {
namespace {

using stats::json;
using stats::json_fields;
using amount = std::optional<double>;
using os::device_counts;
using os::machine_counts;
using os::processor_times;
using testbed::program_usage;

constexpr std::string_view cost_log_schema = "postal-costs/1";
constexpr std::size_t most_numbers = std::size_t{1} << 26U;  // of devices, and of programs
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

template <class Source, class Costs>
struct row {
    const char* key;
    amount (*get)(const Source&);
    amount Costs::*cost;
    bool is_level = false;  // no counter: its largest value counts
};

amount known(double number) {
    return number;
}
template <class Number>
amount known(const std::optional<Number>& number) {
    return number ? amount(static_cast<double>(*number)) : std::nullopt;
}
amount known(std::uint64_t number) {
    return static_cast<double>(number);
}

template <auto Member, class Source>
amount get(const Source& from) {
    return known(from.*Member);
}
template <double processor_times::*Time>
amount time_of(const machine_counts& from) {
    return from.processors ? amount((*from.processors).*Time) : std::nullopt;
}

constexpr std::array<row<machine_counts, costs>, 9> machine_rows{{
    {"user_s", time_of<&processor_times::user_s>, &costs::user_s},
    {"system_s", time_of<&processor_times::system_s>, &costs::system_s},
    {"iowait_s", time_of<&processor_times::iowait_s>, &costs::iowait_s},
    {"steal_s", time_of<&processor_times::steal_s>, &costs::steal_s},
    {"idle_s", time_of<&processor_times::idle_s>, &costs::idle_s},
    {"context_switches", get<&machine_counts::context_switches>, &costs::context_switches},
    {"forks", get<&machine_counts::forks>, &costs::forks},
    {"dirty_bytes", get<&machine_counts::dirty_bytes>, &costs::max_dirty_bytes, true},
    {"writeback_bytes", get<&machine_counts::writeback_bytes>, &costs::max_writeback_bytes, true},
}};

// Differences become what the costs say in in_units().
constexpr std::array<row<device_counts, device_costs>, 9> device_rows{{
    {"reads", get<&device_counts::reads>, &device_costs::reads},
    {"sectors_read", get<&device_counts::sectors_read>, &device_costs::read_kib},
    {"writes", get<&device_counts::writes>, &device_costs::writes},
    {"sectors_written", get<&device_counts::sectors_written>, &device_costs::written_kib},
    {"discards", get<&device_counts::discards>, &device_costs::discards},
    {"flushes", get<&device_counts::flushes>, &device_costs::flushes},
    {"flush_ms", get<&device_counts::flush_ms>, &device_costs::mean_flush_ms},
    {"busy_ms", get<&device_counts::busy_ms>, &device_costs::busy},
    {"queue_ms", get<&device_counts::queue_ms>, &device_costs::mean_queue},
}};

constexpr std::array<row<program_usage, program_costs>, 9> program_rows{{
    {"user_s", get<&program_usage::user_s>, &program_costs::user_s},
    {"system_s", get<&program_usage::system_s>, &program_costs::system_s},
    {"children_s", get<&program_usage::children_s>, &program_costs::children_s},
    {"read_bytes", get<&program_usage::read_bytes>, &program_costs::read_kib},
    {"write_bytes", get<&program_usage::write_bytes>, &program_costs::written_kib},
    {"cpu_s", get<&program_usage::cpu_s>, &program_costs::cpu_s},
    {"wakeups", get<&program_usage::wakeups>, &program_costs::wakeups},
    {"descriptors", get<&program_usage::descriptors>, &program_costs::max_descriptors, true},
    {"memory_bytes", get<&program_usage::memory_bytes>, &program_costs::max_memory_bytes, true},
}};

void scale(amount& of, double by) {
    if (of) *of *= by;
}

void in_units(device_costs& of, double window_s) {
    scale(of.read_kib, 0.5);
    scale(of.written_kib, 0.5);
    scale(of.busy, 1e-3 / window_s);
    // The kernel counts whole jiffies.
    if (of.busy) of.busy = std::min(1.0, *of.busy);
    scale(of.mean_queue, 1e-3 / window_s);
    const bool flushed = of.flushes && *of.flushes > 0;
    if (flushed) scale(of.mean_flush_ms, 1 / *of.flushes);
    if (!flushed) of.mean_flush_ms.reset();
}

void in_units(program_costs& of, double) {
    scale(of.read_kib, 1.0 / 1024);
    scale(of.written_kib, 1.0 / 1024);
    if (!of.cpu_s && of.user_s && of.system_s && of.children_s)
        of.cpu_s = *of.user_s + *of.system_s + *of.children_s;
}

// ---- samples become columns ----

// See costs.hpp about counters that go back.
void add_counter(cost_column& to, amount now) {
    if (now && to.last && *now < *to.last) {
        to.anew = to.anew || *to.last - *now >= 1;
        now = to.last;
    }
    if (now) to.last = now;
    if (now && !to.first) to.first = now;
    to.values.push_back(now && !to.anew ? *now - *to.first : no_value);
}

template <class Rows, class Source>
void add_values(cost_columns& to, const Rows& rows, const Source* from) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        const amount now = from != nullptr ? rows[index].get(*from) : std::nullopt;
        cost_column& column = to.columns[index];
        if (rows[index].is_level) {
            column.values.push_back(now.value_or(no_value));
        } else {
            add_counter(column, now);
        }
    }
}

// ---- a window ----

struct place {
    std::size_t before = 0;  // index of a sample
    double share = 0;        // of the way to the next one
};

std::optional<place> find(const std::vector<double>& seconds, double at) {
    if (seconds.empty() || !(at >= seconds.front() && at <= seconds.back())) return std::nullopt;
    const auto next = std::upper_bound(seconds.begin(), seconds.end(), at);
    const auto before = static_cast<std::size_t>(next - seconds.begin()) - 1;
    if (next == seconds.end()) return place{before, 0};
    return place{before, (at - seconds[before]) / (*next - seconds[before])};
}

double at(const cost_column& column, const place& where) {
    const double before = column.values[where.before];
    if (!(where.share > 0)) return before;
    return before + where.share * (column.values[where.before + 1] - before);
}

amount passed(const cost_column& column, const place& start, const place& end) {
    const double difference = at(column, end) - at(column, start);
    return difference >= 0 ? amount(difference) : std::nullopt;
}

amount largest(const cost_column& column, const place& start, const place& end) {
    amount most;
    for (std::size_t index = start.before + (start.share > 0 ? 1 : 0); index <= end.before; ++index)
        if (column.values[index] >= most.value_or(0)) most = column.values[index];
    return most;
}

template <class Rows, class Costs>
void fill(Costs& to, const Rows& rows, const cost_columns& from,
          const std::pair<place, place>& window) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        const auto difference = rows[index].is_level ? largest : passed;
        to.*rows[index].cost = difference(from.columns[index], window.first, window.second);
    }
}

template <class Costs, class Rows>
std::vector<Costs> fill_all(const Rows& rows, const std::vector<cost_columns>& from,
                            const std::pair<place, place>& window, double window_s) {
    std::vector<Costs> to;
    for (const cost_columns& one : from) {
        Costs& made = to.emplace_back();
        made.name = one.name;
        fill(made, rows, one, window);
        in_units(made, window_s);
    }
    return to;
}

// A level of all programs together is a column, too: they need not have the most of it at once.
cost_column summed(const std::vector<cost_columns>& programs, std::size_t row) {
    cost_column sum = programs.front().columns[row];
    for (std::size_t one = 1; one < programs.size(); ++one)
        for (std::size_t at = 0; at < sum.values.size(); ++at)
            sum.values[at] += programs[one].columns[row].values[at];
    return sum;
}

server_costs server_of(const std::vector<program_costs>& spent,
                       const std::vector<cost_columns>& programs,
                       const std::pair<place, place>& window) {
    server_costs to;
    if (programs.empty()) return to;
    const auto sum = [&spent](amount program_costs::*which) {
        amount all = 0;
        for (const program_costs& one : spent)
            all = all && one.*which ? amount(*all + *(one.*which)) : std::nullopt;
        return all;
    };
    const auto most = [&](amount program_costs::*which) {
        const auto row = std::find_if(program_rows.begin(), program_rows.end(),
                                      [which](const auto& one) { return one.cost == which; });
        const auto index = static_cast<std::size_t>(row - program_rows.begin());
        return largest(summed(programs, index), window.first, window.second);
    };
    to.cpu_s = sum(&program_costs::cpu_s);
    to.wakeups = sum(&program_costs::wakeups);
    to.max_descriptors = most(&program_costs::max_descriptors);
    to.max_memory_bytes = most(&program_costs::max_memory_bytes);
    return to;
}

// ---- the file ----

// A device's or a program's columns by their rows, as an archive writes them.
template <const auto& Rows>
struct told_columns {
    const cost_columns& of;
};

template <const auto& Rows>
std::vector<told_columns<Rows>> all_columns_of(const std::vector<cost_columns>& all) {
    std::vector<told_columns<Rows>> to;
    for (const cost_columns& one : all)
        to.push_back({one});
    return to;
}

template <class Rows>
void write(stats::json_writer& to, const Rows& rows, const cost_columns& from) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        const auto& values = from.columns[index].values;
        const bool any = std::any_of(values.begin(), values.end(),
                                     [](double one) { return std::isfinite(one); });
        to(rows[index].key, any ? std::optional(values) : std::nullopt);
    }
}

template <class Archive, const auto& Rows>
void fields(Archive& each, const told_columns<Rows>& one) {
    each("name", one.of.name);
    write(each, Rows, one.of);
}

// Empty where the column is absent or null.
std::vector<double> read_numbers(const json_fields& from, std::string_view key,
                                 stats::complaint& problems) {
    std::vector<double> to;
    from.each(key, [&](const json& element, const json_fields::place& path) {
        const double one = element.is_number() ? element.get<double>() : no_value;
        if (!element.is_null() && !(one >= 0 && std::isfinite(one)))
            problems.add(path, "a number, 0 or more");
        to.push_back(one);
    });
    return to;
}

std::size_t count_of(const json_fields& from, std::string_view list) {
    std::size_t count = 0;
    from.each(list, [&](const json&, const json_fields::place&) { ++count; });
    return count;
}

template <class Rows>
cost_columns read(const json_fields& from, const Rows& rows, std::size_t size,
                  stats::complaint& problems) {
    cost_columns to;
    from.read("name", to.name);
    for (const auto& one : rows) {
        auto values = read_numbers(from, one.key, problems);
        if (values.size() != size && !values.empty()) from.complain(one.key, "as long as t_s");
        values.resize(size, no_value);
        to.columns.push_back({std::move(values)});
    }
    return to;
}

}  // namespace

cost_log::cost_log(const std::vector<std::string>& devices,
                   std::chrono::steady_clock::time_point begun,
                   std::chrono::system_clock::time_point started)
    : started_(stats::timestamp(started)), begun_(begun) {
    machine_.columns.resize(machine_rows.size());
    for (const std::string& name : devices)
        devices_.push_back({name, std::vector<cost_column>(device_rows.size())});
}

void cost_log::add(const testbed::system_sample& sample) {
    const double now = base::seconds_of(sample.time - begun_);
    if (now < 0 || (!seconds_.empty() && now < seconds_.back() + 1e-3)) return;
    add_values(machine_, machine_rows, &sample.machine);
    for (std::size_t index = 0; index < devices_.size(); ++index) {
        const bool is_known = index < sample.devices.size() && sample.devices[index];
        add_values(devices_[index], device_rows, is_known ? &*sample.devices[index] : nullptr);
    }
    add_programs(sample);
    seconds_.push_back(now);
}

// Before it came up, and since processes are watched, a program has used nothing.
void cost_log::add_programs(const testbed::system_sample& sample) {
    const std::size_t size = seconds_.size();
    if (sample.programs && !watched_from_) watched_from_ = size;
    static const std::vector<program_usage> none;
    const auto& now = sample.programs ? *sample.programs : none;
    const auto named = [](const std::string& name) {
        return [&name](const auto& one) { return one.name == name; };
    };
    for (const program_usage& one : now) {
        if (std::any_of(programs_.begin(), programs_.end(), named(one.name))) continue;
        cost_column begin{std::vector<double>(size, 0), 0.0, 0.0};
        std::fill_n(begin.values.begin(), *watched_from_, no_value);
        programs_.push_back({one.name, std::vector(program_rows.size(), begin)});
    }
    for (cost_columns& one : programs_) {
        const auto found = std::find_if(now.begin(), now.end(), named(one.name));
        add_values(one, program_rows, found == now.end() ? nullptr : &*found);
    }
}

std::optional<costs> cost_log::between(std::chrono::nanoseconds start,
                                       std::chrono::nanoseconds end) const {
    const auto from = find(seconds_, base::seconds_of(start));
    const auto until = find(seconds_, base::seconds_of(end));
    if (!from || !until || end <= start) return std::nullopt;
    costs to;
    to.window_s = base::seconds_of(end - start);
    for (std::size_t at = from->before;
         at + 1 < seconds_.size() && seconds_[at] < base::seconds_of(end); ++at)
        to.longest_gap_s = std::max(to.longest_gap_s, seconds_[at + 1] - seconds_[at]);
    fill(to, machine_rows, machine_, {*from, *until});
    to.devices = fill_all<device_costs>(device_rows, devices_, {*from, *until}, to.window_s);
    to.programs = fill_all<program_costs>(program_rows, programs_, {*from, *until}, to.window_s);
    to.server = server_of(to.programs, programs_, {*from, *until});
    return to;
}

std::string to_json(const cost_log& log) {
    stats::json_writer to(-1, {}, stats::decimals::needed);
    to("schema", cost_log_schema);
    to("started", log.started_);
    to("t_s", log.seconds_);
    to.group("machine", [&](auto& inner) { write(inner, machine_rows, log.machine_); });
    to("devices", all_columns_of<device_rows>(log.devices_));
    to("programs", all_columns_of<program_rows>(log.programs_));
    return to.take();
}

base::expected<cost_log> from_json(std::string_view text) {
    const auto parsed = stats::parse_schema(text, cost_log_schema, "is no file of costs");
    if (!parsed) return parsed.error();
    stats::complaint problems;
    const json_fields members{*parsed, "", problems};
    cost_log to;
    members.read("started", to.started_);
    to.seconds_ = read_numbers(members, "t_s", problems);
    const std::size_t size = to.seconds_.size();
    // A column that is absent is as long as the others.
    for (const auto& [key, columns] :
         {std::pair{"devices", device_rows.size()}, std::pair{"programs", program_rows.size()}})
        if (count_of(members, key) * columns > most_numbers / (size + 1))
            return base::fail("has too many {}: at most {} numbers in all their columns", key,
                              most_numbers);
    for (std::size_t at = 1; at < size; ++at)
        if (!(to.seconds_[at] > to.seconds_[at - 1])) members.complain("t_s", "in order of time");
    to.machine_ = read(members.object("machine"), machine_rows, size, problems);
    members.each_object("devices", [&](const json_fields& one) {
        to.devices_.push_back(read(one, device_rows, size, problems));
    });
    members.each_object("programs", [&](const json_fields& one) {
        to.programs_.push_back(read(one, program_rows, size, problems));
    });
    if (problems) return base::failure{problems.first};
    return to;
}

}  // namespace postal::experiment
