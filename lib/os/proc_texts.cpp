// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/proc_texts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace postal::os {
namespace {

// The word in front, taken off with the blanks before it.
std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

// How many numbers stand in front of the line, which are put into `to`; at most as many as fit.
std::size_t take_numbers(std::string_view& line, std::span<std::uint64_t> to) {
    std::size_t count = 0;
    for (; count < to.size(); ++count) {
        const auto number = take_number(line);
        if (!number) break;
        to[count] = *number;
    }
    return count;
}

// Blanks and tabs may stand before the number.
std::optional<std::uint64_t> number_behind(std::string_view key, std::string_view line) {
    if (!line.starts_with(key)) return std::nullopt;
    line.remove_prefix(key.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return take_number(line);
}

std::optional<std::uint64_t> bytes_behind(std::string_view key, std::string_view line) {
    const auto kib = number_behind(key, line);
    if (!kib || *kib > std::numeric_limits<std::uint64_t>::max() / 1024) return std::nullopt;
    return *kib * 1024;
}

// "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", the sum of all processors.
std::optional<processor_times> processors_of(std::string_view line) {
    if (!line.starts_with("cpu ")) return std::nullopt;
    line.remove_prefix(4);
    std::array<std::uint64_t, 8> ticks{};
    if (take_numbers(line, ticks) < ticks.size()) return std::nullopt;
    const double tick_s = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    std::array<double, 8> s{};
    std::transform(ticks.begin(), ticks.end(), s.begin(),
                   [tick_s](std::uint64_t one) { return static_cast<double>(one) * tick_s; });
    return processor_times{s[0] + s[1], s[2] + s[5] + s[6], s[4], s[7], s[3]};
}

// "MAJOR MINOR NAME READS MERGED SECTORS MS WRITES MERGED SECTORS MS UNDERWAY BUSY_MS QUEUE_MS
// [DISCARDS MERGED SECTORS MS [FLUSHES MS]]"
std::optional<device_line> device_of(std::string_view line) {
    constexpr std::uint64_t most = std::numeric_limits<unsigned>::max();
    const auto major = take_number(line);
    const auto minor = take_number(line);
    if (!major || !minor || *major > most || *minor > most) return std::nullopt;
    device_line to;
    to.major = static_cast<unsigned>(*major);
    to.minor = static_cast<unsigned>(*minor);
    to.name = take_word(line);
    std::array<std::uint64_t, 17> f{};
    const std::size_t count = take_numbers(line, f);
    if (count < 11) return std::nullopt;
    to.counts = {f[0], f[2], f[4], f[6], f[9], f[10], {}, {}, {}};
    if (count >= 15) to.counts.discards = f[11];
    if (count < 17) return to;
    to.counts.flushes = f[15];
    to.counts.flush_ms = f[16];
    return to;
}

bool is_part(std::string_view name, const std::vector<std::string_view>& sorted) {
    const auto is_named = [&sorted](std::string_view whole) {
        return std::binary_search(sorted.begin(), sorted.end(), whole);
    };
    const auto whole = name.substr(0, name.find_last_not_of("0123456789") + 1);
    if (whole.empty() || whole.size() == name.size()) return false;
    return is_named(whole) || (whole.ends_with('p') && is_named(whole.substr(0, whole.size() - 1)));
}

std::uint64_t carried_on(std::uint64_t now, std::uint64_t before) {
    // What goes back by a little is summed up over processors while they count.
    const auto passed = static_cast<std::int32_t>(static_cast<std::uint32_t>(now - before));
    return passed > 0 ? before + static_cast<std::uint64_t>(passed) : before;
}

}  // namespace

std::optional<std::uint64_t> take_number(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return value;
}

std::string_view take_line(std::string_view& text) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

machine_counts parse_machine_counts(std::string_view text) {
    machine_counts to;
    while (!text.empty()) {
        const auto line = take_line(text);
        if (const auto times = processors_of(line)) to.processors = times;
        if (const auto count = number_behind("ctxt ", line)) to.context_switches = count;
        if (const auto count = number_behind("processes ", line)) to.forks = count;
        if (const auto bytes = bytes_behind("Dirty:", line)) to.dirty_bytes = bytes;
        if (const auto bytes = bytes_behind("Writeback:", line)) to.writeback_bytes = bytes;
    }
    return to;
}

std::vector<device_line> parse_devices(std::string_view text) {
    std::vector<device_line> to;
    while (!text.empty())
        if (const auto device = device_of(take_line(text))) to.push_back(*device);
    std::vector<std::string_view> names;
    for (const device_line& one : to)
        names.push_back(one.name);
    std::sort(names.begin(), names.end());
    for (device_line& one : to)
        if (is_part(one.name, names)) one.counts.flushes = one.counts.flush_ms = std::nullopt;
    return to;
}

void carry_on(device_counts& now, const device_counts& before) {
    // Another device has come in its place.
    if (now.reads < before.reads || now.writes < before.writes) return;
    now.busy_ms = carried_on(now.busy_ms, before.busy_ms);
    now.queue_ms = carried_on(now.queue_ms, before.queue_ms);
    if (now.flush_ms && before.flush_ms) now.flush_ms = carried_on(*now.flush_ms, *before.flush_ms);
}

// "PID (NAME) STATE PARENT ...", see proc(5); a name may hold blanks and brackets.
std::optional<process_stat> parse_process_stat(std::string_view text) {
    constexpr std::uint64_t most = std::numeric_limits<pid_t>::max();
    const auto pid = take_number(text);
    const auto end = text.rfind(") ");
    if (!pid || *pid > most || !text.starts_with(" (") || end == text.npos) return std::nullopt;
    process_stat to;
    to.pid = static_cast<pid_t>(*pid);
    to.name = text.substr(2, end - 2);
    text.remove_prefix(end + 2);
    std::array<std::string_view, 20> field{};  // from the third on
    for (auto& one : field)
        one = take_word(text);
    const auto number = [&field](std::size_t which) { return take_number(field[which - 3]); };
    const auto parent = number(4);
    const auto group = number(5);
    const auto user = number(14);
    const auto system = number(15);
    const auto children_user = number(16);
    const auto children_system = number(17);
    const auto threads = number(20);
    const auto start = number(22);
    if (!parent || *parent > most || !group || *group > most || !user || !system ||
        !children_user || !children_system || !threads || !start)
        return std::nullopt;
    to.parent = static_cast<pid_t>(*parent);
    to.user = *user;
    to.system = *system;
    to.children = *children_user + *children_system;
    to.start = *start;
    to.group = static_cast<pid_t>(*group);
    to.ended = field[0] == "Z" || field[0] == "X";
    to.threads = *threads;
    return to;
}

std::optional<process_io> parse_process_io(std::string_view text) {
    std::optional<std::uint64_t> read;
    std::optional<std::uint64_t> written;
    while (!text.empty()) {
        const auto line = take_line(text);
        if (const auto bytes = number_behind("read_bytes:", line)) read = bytes;
        if (const auto bytes = number_behind("write_bytes:", line)) written = bytes;
    }
    if (!read || !written) return std::nullopt;
    return process_io{*read, *written};
}

namespace {

// Of the last line that begins with it.
template <class Parse>
std::optional<std::uint64_t> value_of(std::string_view key, std::string_view text, Parse parse) {
    std::optional<std::uint64_t> found;
    while (!text.empty())
        if (const auto value = parse(key, take_line(text))) found = value;
    return found;
}

}  // namespace

std::optional<std::uint64_t> parse_voluntary_switches(std::string_view text) {
    return value_of("voluntary_ctxt_switches:", text, number_behind);
}

std::optional<std::uint64_t> parse_proportional_memory(std::string_view text) {
    return value_of("Pss:", text, bytes_behind);
}

}  // namespace postal::os
