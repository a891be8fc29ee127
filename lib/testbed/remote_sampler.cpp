// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/remote_sampler.hpp"

#include "base/text.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace postal::testbed {
namespace {

constexpr std::array files{"/proc/stat", "/proc/diskstats", "/proc/meminfo"};
constexpr std::uint64_t longest_output = std::uint64_t{16} << 20U;
constexpr std::size_t longest_problem = 300;

// "exit status 255: ssh: connect to host x port 22: Connection refused"
std::string failure_of(const os::child_end& end, std::string_view output) {
    const auto said = base::trim(os::take_line(output).substr(0, longest_problem));
    return fmt::format("{} {}{}{}", end.signalled ? "ended by signal" : "exit status",
                       end.status_or_signal, said.empty() ? "" : ": ", said);
}

}  // namespace

remote_sampler::remote_sampler(os::spawner& children, const remote_plan& plan)
    : children_(&children),
      command_(plan.command),
      time_limit_(plan.time_limit),
      devices_(device_finder::elsewhere(plan.devices)) {
    command_.insert(command_.end(), files.begin(), files.end());
}

remote_sampler::~remote_sampler() {
    if (!last_.ended.is_open()) return;
    signal_group(last_.running, SIGKILL);
    while (::waitpid(last_.running.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::optional<system_sample> remote_sampler::take() {
    auto sample = collect();
    if (!last_.ended.is_open()) start();
    return sample;
}

std::optional<system_sample> remote_sampler::collect() {
    if (!last_.ended.is_open()) return std::nullopt;
    if (const auto end = reap(last_.running)) {
        last_.ended.close();
        return sample_of(*end);
    }
    if (clock::now() - started_ < time_limit_) return std::nullopt;
    note("takes too long and is killed");
    signal_group(last_.running, SIGKILL);
    return std::nullopt;
}

void remote_sampler::start() {
    started_ = clock::now();
    auto started =
        os::start_printing(*children_, command_.front(), command_, longest_output, false);
    if (!started) return note(started.error().message);
    last_ = std::move(*started);
}

std::optional<system_sample> remote_sampler::sample_of(const os::child_end& end) {
    const auto text = os::read_printed(last_, command_.front(), longest_output);
    const std::string_view output = text ? std::string_view{*text} : std::string_view{};
    // Of one that failed any number may be cut short.
    if (end.signalled || end.status_or_signal != 0) {
        note(failure_of(end, output));
        return std::nullopt;
    }
    system_sample to;
    to.time = written_at();
    to.machine = os::parse_machine_counts(output);
    to.devices = devices_.find(output);
    if (to.machine.processors) return to;
    note("prints nothing of use");
    return std::nullopt;
}

// The kernel stamps with the other clock, which may have been set meanwhile.
remote_sampler::clock::time_point remote_sampler::written_at() const {
    const auto now = clock::now();
    struct stat about {};
    if (::fstat(last_.printed.get(), &about) != 0) return now;
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const auto ago = wall - std::chrono::seconds{about.st_mtim.tv_sec} -
                     std::chrono::nanoseconds{about.st_mtim.tv_nsec};
    return std::clamp(now - ago, started_, now);
}

void remote_sampler::note(std::string_view what) {
    if (!problem_)
        problem_ = base::printable(fmt::format("{}: {}", command_.front(), what), longest_problem);
}

}  // namespace postal::testbed
