// SPDX-License-Identifier: GPL-3.0-or-later
// What a run record says of the machine and of our threads: plain data, filled by
// os::describe_host(), os::machine_time() and os::thread_watch.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace postal::base {

// What the kernel says of its wall clock (adjtimex(2)).
struct clock_state {
    bool synchronised = false;  // by NTP, PTP or the like
    std::uint64_t estimated_error_us = 0;
    std::uint64_t most_error_us = 0;
    // How fast the kernel lets it go, which the steady clock follows: a correction of its
    // frequency, the length of a tick (10,000 us, which chrony changes to slew), and by how much it
    // is slewed on top.
    std::int64_t status = 0;
    double frequency_ppm = 0;
    std::int64_t tick_us = 10'000;
    std::int64_t offset_us = 0;  // that is still to be slewed away
    double slew_ppm = 0;
    bool operator==(const clock_state&) const = default;

    // What such a clock may gain or lose in a second while its kernel is so set: a frequency that
    // it is corrected by is its own error, as far as that is known, and is never above
    // most_frequency.
    static constexpr double most_frequency = 500e-6;  // MAXFREQ (RFC 5905, A.1)
    [[nodiscard]] double most_drift() const noexcept {
        const double tick = static_cast<double>(tick_us) / 10'000 - 1;
        return most_frequency + (tick < 0 ? -tick : tick) +
               (slew_ppm < 0 ? -slew_ppm : slew_ppm) * 1e-6;
    }
};

struct host_info {
    std::string name;                // nodename
    std::string kernel;              // "Linux 6.1.0-18-amd64"
    unsigned cpus = 1;               // that this process may run on
    std::uint64_t memory_bytes = 0;  // physical memory; 0 when not known
    std::string processor{};         // "AMD EPYC 7B13"; "" where the kernel does not say
    std::string boot_id{};           // of the running kernel, and so of its clock; "": not known
    std::optional<clock_state> clock{};
};

// What the processors that this process may run on did, all together, up to some moment or between
// two.
struct machine_time {
    double all_s = 0;                    // 0: not known
    double idle_s = 0;                   // nothing to do, or waiting for a disk
    double stolen_s = 0;                 // taken by the hypervisor
    std::optional<double> pressure_s{};  // in which something waited for a processor (PSI)
    // In which the CPU quota of our cgroup, or of one above it, let it have none; of its processors
    // added up.
    std::optional<double> throttled_s{};
};

// What a thread did between two readings of its clocks.
struct thread_time {
    std::chrono::nanoseconds busy{};  // CPU time
    std::chrono::nanoseconds wall{};
    std::optional<std::chrono::nanoseconds>
        run_delay{};  // ready to run and waiting for a processor
    // Neither that, nor asleep as it meant to be: stopped, or held up by the system.
    std::chrono::nanoseconds still{};

    void add_time(const thread_time& other) noexcept {
        busy += other.busy;
        wall += other.wall;
        still += other.still;
        if (other.run_delay)
            run_delay = run_delay.value_or(std::chrono::nanoseconds{}) + *other.run_delay;
    }
};

}  // namespace postal::base
