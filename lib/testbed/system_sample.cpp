// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/system_sample.hpp"

#include "base/interrupted.hpp"
#include "base/text.hpp"
#include "os/usage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace postal::testbed {
namespace {

constexpr std::string_view device_folder = "/dev/";

// Appends the file from its beginning, as much as can be read. A file of /proc is made anew when
// it is read from offset 0.
void append(std::string& to, const base::file_descriptor& file) {
    std::array<char, 16384> chunk;
    off_t offset = 0;
    while (file.is_open()) {
        const ssize_t got = base::uninterrupted(
            [&] { return ::pread(file.get(), chunk.data(), chunk.size(), offset); });
        if (got <= 0) return;
        to.append(chunk.data(), static_cast<std::size_t>(got));
        offset += got;
    }
}

constexpr double ns_in_s = 1e9;
constexpr int between_thorough = 30;

std::uint64_t tick_ns() {
    const long ticks = std::max(1L, ::sysconf(_SC_CLK_TCK));
    return static_cast<std::uint64_t>(ns_in_s) / static_cast<std::uint64_t>(ticks);
}

std::optional<std::uint64_t> where(bool is_known, std::uint64_t amount) {
    return is_known ? std::optional(amount) : std::nullopt;
}

std::vector<program_usage> usage_of(const process_accounts& accounts) {
    const double tick_s = static_cast<double>(tick_ns()) / ns_in_s;
    std::vector<program_usage> to;
    for (const auto& [name, used] : accounts.programs()) {
        program_usage& one = to.emplace_back();
        one.name = name;
        one.user_s = static_cast<double>(used.user) * tick_s;
        one.system_s = static_cast<double>(used.system) * tick_s;
        one.children_s = static_cast<double>(used.children_ns) / ns_in_s;
        one.cpu_s = static_cast<double>(used.cpu_ns) / ns_in_s;
        one.read_bytes = where(used.io_known, used.read);
        one.write_bytes = where(used.io_known, used.written);
        one.wakeups = where(used.wakeups_known, used.wakeups);
        one.descriptors = where(used.descriptors_known, used.descriptors);
        one.memory_bytes = where(used.memory_known, used.memory);
    }
    return to;
}

}  // namespace

base::expected<device_finder> device_finder::here(const std::vector<std::string>& devices) {
    device_finder made;
    for (const std::string& name : devices) {
        const bool is_path = name.find('/') != name.npos;
        const std::string path = is_path ? name : std::string(device_folder) + name;
        struct stat about {};
        if (::stat(path.c_str(), &about) != 0)
            return base::fail("{}: {}", base::printable(path, 300), base::system_message(errno));
        if (!S_ISBLK(about.st_mode))
            return base::fail("{}: is not a block device", base::printable(path, 300));
        made.wanted_.push_back({{}, {major(about.st_rdev), minor(about.st_rdev)}, {}});
    }
    return made;
}

device_finder device_finder::elsewhere(const std::vector<std::string>& devices) {
    device_finder made;
    for (std::string_view name : devices) {
        if (name.starts_with(device_folder)) name.remove_prefix(device_folder.size());
        made.wanted_.push_back({std::string(name), {}, {}});
    }
    return made;
}

std::vector<std::optional<os::device_counts>> device_finder::find(std::string_view text) {
    const auto lines = os::parse_devices(text);
    std::vector<std::optional<os::device_counts>> found(wanted_.size());
    for (std::size_t index = 0; index < wanted_.size(); ++index) {
        wanted& one = wanted_[index];
        const auto line = std::find_if(lines.begin(), lines.end(), [&one](const auto& other) {
            return one.name.empty() ? one.number == std::pair(other.major, other.minor)
                                    : one.name == other.name;
        });
        if (line == lines.end()) continue;
        found[index] = line->counts;
        if (one.last) carry_on(*found[index], *one.last);
        one.last = found[index];
    }
    return found;
}

system_sampler::system_sampler(device_finder devices)
    : devices_(std::move(devices)), accounts_(tick_ns()) {}

base::expected<system_sampler> system_sampler::create(const std::vector<std::string>& devices) {
    auto found = device_finder::here(devices);
    if (!found) return found.error();
    system_sampler made(std::move(*found));
    const auto open = [](const char* path) {
        return base::file_descriptor(::open(path, O_RDONLY | O_CLOEXEC));
    };
    made.stat_ = open("/proc/stat");
    made.diskstats_ = open("/proc/diskstats");
    made.meminfo_ = open("/proc/meminfo");
    return {boost::system::in_place_value, std::move(made)};
}

base::expected<void> system_sampler::watch(pid_t root) {
    const auto found = processes_.watch(root);
    if (!found) return found.error();
    accounts_.begin(*found);
    watches_ = true;
    return {};
}

system_sample system_sampler::take() {
    system_sample to;
    to.time = std::chrono::steady_clock::now();
    text_.clear();
    append(text_, diskstats_);
    append(text_, stat_);
    append(text_, meminfo_);
    to.machine = os::parse_machine_counts(text_);
    to.devices = devices_.find(text_);
    if (watches_) look_at_programs(to);
    return to;
}

void system_sampler::look_at_programs(system_sample& to) {
    const bool is_thorough = to.time >= thorough_from_;
    const closeness how = is_thorough ? closeness::thorough : closeness::quick;
    const auto begun = os::thread_cpu_time();
    accounts_.look(processes_.read(how), how);
    to.programs = usage_of(accounts_);
    if (!is_thorough) return;
    // Of this thread alone: on a machine that is full the same work takes many times as long.
    const auto worked = os::thread_cpu_time() - begun;
    thorough_from_ = std::chrono::steady_clock::now() + between_thorough * worked;
}

}  // namespace postal::testbed
