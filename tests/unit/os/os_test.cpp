// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernel says of this machine and process.
#include "os/host.hpp"
#include "os/limits.hpp"
#include "os/usage.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include <cmath>

using namespace postal;

TEST_CASE("os: the host has a name, a kernel, processors and memory") {
    const auto host = os::describe_host();
    CHECK_FALSE(host.name.empty());
    CHECK(host.kernel.starts_with("Linux "));
    CHECK(host.cpus >= 1);
    CHECK(host.cpus == os::usable_cpus());
    CHECK(host.memory_bytes > 1U << 20U);
    CHECK(host.boot_id.size() == 36);
    CHECK(host.boot_id == os::describe_host().boot_id);
}

TEST_CASE("os: a soft limit of descriptors is raised, and never lowered") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit low = before;
    low.rlim_cur = 64;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    REQUIRE(os::raise_descriptor_limit(128).has_value());
    CHECK(os::current_descriptor_limit().soft == 128);
    REQUIRE(os::raise_descriptor_limit(10).has_value());
    CHECK(os::current_descriptor_limit().soft == 128);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("os: more descriptors than the system allows are refused with what to set") {
    // Above fs.nr_open nobody may go, not even root.
    const auto refused = os::raise_descriptor_limit(std::uint64_t{1} << 40U);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message.find("1099511627776 open files are needed") == 0);
    CHECK(refused.error().message.find("ulimit -n 1099511627776") != std::string::npos);
    CHECK(refused.error().message.find("LimitNOFILE=1099511627776") != std::string::npos);
}

TEST_CASE("os: CPU time moves with work") {
    const auto before = os::thread_cpu_time();
    const auto process_before = os::process_usage();
    volatile unsigned sum = 0;
    while (os::thread_cpu_time() - before < std::chrono::milliseconds{5})
        sum = sum + 1;
    const auto after = os::process_usage();
    CHECK(after.user_s + after.system_s >= process_before.user_s + process_before.system_s);
    CHECK(after.max_rss_bytes > 100'000);
}

TEST_CASE("os: what a clock may drift by is what its kernel says") {
    struct rule {
        base::clock_state kernel;
        double most;
        const char* reason;
    };
    for (const rule& each : {
             rule{{}, 500e-6, "nobody slews it"},
             rule{{.frequency_ppm = -30}, 500e-6, "its own error, which the kernel takes away"},
             rule{{.tick_us = 10'833}, 500e-6 + 0.0833, "chrony slews it ahead"},
             rule{{.tick_us = 9'000}, 500e-6 + 0.1, "back, by all that the kernel takes"},
             rule{{.slew_ppm = 500}, 1000e-6, "adjtime(3)"},
             rule{{.tick_us = 10'100, .slew_ppm = -500}, 500e-6 + 0.01 + 500e-6, "both"},
         }) {
        INFO(each.reason);
        CHECK(each.kernel.most_drift() == Approx(each.most));
    }
    if (const auto own = os::clock_state()) {
        CHECK(own->most_drift() >= 500e-6);
        CHECK(own->most_drift() <= 0.7);
        CHECK(std::abs(own->frequency_ppm) <= 500);
    }
}
