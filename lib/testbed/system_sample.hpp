// SPDX-License-Identifier: GPL-3.0-or-later
// What a machine has done up to a moment, for the costs of a run: its processors, its devices, its
// memory, and the processes of a server.
//
// Flow: system_sampler::create(); watch() for each process that is the root of a server; take()
// each second. Another machine's samples come from remote_sampler.hpp. What is not known is empty:
// nothing here fails after create(). The files of /proc stay open; a sample of 5 devices and 200
// processes takes a few milliseconds.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "os/proc_texts.hpp"
#include "testbed/process_tree.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace postal::testbed {

// Since the first look at each process, see process_accounts.hpp.
struct program_usage {
    std::string name;  // the kernel's, up to 15 octets of any kind
    double user_s = 0;
    double system_s = 0;
    double children_s = 0;  // of processes that have ended: short-lived ones are in here
    // Octets from and to storage, as pages are read and made dirty; empty where they may not be
    // seen.
    std::optional<std::uint64_t> read_bytes;
    std::optional<std::uint64_t> write_bytes;
    // Of the three times together, in nanoseconds where the kernel lets us; each once.
    std::optional<double> cpu_s{};
    std::optional<std::uint64_t> wakeups{};  // voluntary context switches, see process_files.hpp
    // Now, of all its processes together; known in some of the samples only, see system_sampler.
    std::optional<std::uint64_t> descriptors{};
    std::optional<std::uint64_t> memory_bytes{};  // PSS: of shared pages each its share
};

// Counters are those since the machine was started.
struct system_sample {
    std::chrono::steady_clock::time_point time;  // CLOCK_MONOTONIC of this machine
    os::machine_counts machine;
    std::vector<std::optional<os::device_counts>> devices;  // in the order of their names
    std::optional<std::vector<program_usage>> programs;     // empty: no process is watched
};

// Finds chosen devices in /proc/diskstats.
class device_finder {
  public:
    // "/dev/sda1", "sda1" or a link to it. Fails when that is not a block device of this machine.
    [[nodiscard]] static base::expected<device_finder> here(
        const std::vector<std::string>& devices);

    // Another machine's, by their names in its /proc/diskstats, with or without "/dev/".
    [[nodiscard]] static device_finder elsewhere(const std::vector<std::string>& devices);

    // One for each device, empty where it is not in the text. Milliseconds go on beyond 2^32.
    [[nodiscard]] std::vector<std::optional<os::device_counts>> find(std::string_view text);

  private:
    struct wanted {
        std::string name;  // empty: goes by the number
        std::pair<unsigned, unsigned> number;
        std::optional<os::device_counts> last;
    };
    std::vector<wanted> wanted_;
};

// Descriptors and memory take long to look at, where processes are many: so that is done in a
// thirtieth of the time at most, and when somebody wants it.
class system_sampler {
  public:
    [[nodiscard]] static base::expected<system_sampler> create(
        const std::vector<std::string>& devices);

    // The processes that have this id or descend from it; what they use from now on counts. Fails
    // when there is no such process.
    [[nodiscard]] base::expected<void> watch(pid_t root);

    // The next take() looks at descriptors and memory, whatever that costs.
    void be_thorough() noexcept { thorough_from_ = {}; }

    [[nodiscard]] system_sample take();

    // What first kept a process from being seen.
    [[nodiscard]] const std::optional<std::string>& problem() const noexcept {
        return processes_.problem();
    }

  private:
    explicit system_sampler(device_finder devices);
    void look_at_programs(system_sample& to);

    base::file_descriptor stat_;
    base::file_descriptor diskstats_;
    base::file_descriptor meminfo_;
    device_finder devices_;
    process_tree processes_;
    process_accounts accounts_;
    bool watches_ = false;
    std::chrono::steady_clock::time_point thorough_from_{};
    std::string text_;  // keeps its memory
};

}  // namespace postal::testbed
