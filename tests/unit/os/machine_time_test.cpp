// SPDX-License-Identifier: GPL-3.0-or-later
// What the processors did, from made-up texts of /proc and from this machine's own.
#include "os/machine_time.hpp"

#include "os/cgroup_time.hpp"
#include "os/host.hpp"
#include "os/thread_watch.hpp"
#include "os/usage.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace postal;

namespace {

constexpr const char* stat_text =
    "cpu  300 0 300 4000 200 0 0 200 9 9\n"
    "cpu0 100 0 100 700 100 0 0 0 9 9\n"
    "cpu1 100 0 100 300 0 0 0 500 0 0\n"
    "cpu12 0 0 0 1000\n"
    "intr 99 1 2 3\n";

double seconds(double ticks) {
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

TEST_CASE("machine time: the processors that the process may use, and no others") {
    const auto all = os::parse_machine_time(stat_text, "", {});
    CHECK(all.all_s == Approx(seconds(3000)));
    CHECK(all.idle_s == Approx(seconds(2100)));
    CHECK(all.stolen_s == Approx(seconds(500)));
    CHECK_FALSE(all.pressure_s);
    const auto one = os::parse_machine_time(stat_text, "", {1});
    CHECK(one.all_s == Approx(seconds(1000)));
    CHECK(one.idle_s == Approx(seconds(300)));
    CHECK(one.stolen_s == Approx(seconds(500)));
    const auto two = os::parse_machine_time(stat_text, "", {0, 12});
    CHECK(two.idle_s == Approx(seconds(1800)));
}

TEST_CASE("machine time: pressure is the time in which something waited") {
    const auto read = [](const char* text) { return os::parse_machine_time("", text, {}); };
    const auto known = read(
        "some avg10=88.98 avg60=55.30 avg300=63.57 total=6234540\n"
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
    REQUIRE(known.pressure_s);
    CHECK(*known.pressure_s == Approx(6.23454));
    CHECK(known.all_s == 0);
    for (const char* text : {"", "full avg10=0.00 total=7\n", "some\nfull total=7\n"}) {
        INFO(text);
        CHECK_FALSE(read(text).pressure_s);
    }
}

TEST_CASE("machine time: a text of another form is not known") {
    for (const char* text : {"", "\n", "cpu", "cpu ", "cpu  1 2 3", "nothing\ncpus\n"}) {
        INFO(text);
        CHECK(os::parse_machine_time(text, "", {}).idle_s == 0);
    }
}

TEST_CASE("machine time: this machine's goes on") {
    if (!(os::machine_time().all_s > 0)) return;  // /proc is not mounted
    os::machine_watch watch;
    base::machine_time sum;
    while (!(sum.all_s > 0))
        sum = watch.since_last();
    CHECK(sum.idle_s <= sum.all_s + 1e-6);  // differences of floating-point numbers
    CHECK(os::usable_processors().size() == os::usable_cpus());
}

TEST_CASE("os: a thread that shares its processor knows how long it waited for it") {
    cpu_set_t before;
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(os::usable_processors().at(0), &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    const auto meter = os::run_delay_meter::of_this_thread();
    const auto begun = meter.read();
    std::atomic<bool> over{false};
    std::thread other([&] {  // on the same processor
        while (!over)
            continue;
    });
    auto waited = begun;
    while (begun && *waited - *begun < std::chrono::milliseconds(1))
        waited = meter.read();
    over = true;
    other.join();
    CHECK(::sched_setaffinity(0, sizeof before, &before) == 0);
    if (begun) CHECK(*waited > *begun);
    CHECK_FALSE(os::run_delay_meter().read());
}

TEST_CASE("os: another thread's times are those that it reads itself") {
    std::atomic<pid_t> number{0};
    std::atomic<bool> over{false};
    std::chrono::nanoseconds own{0};
    std::thread other([&] {
        number = ::gettid();
        while (!over || os::thread_cpu_time() < std::chrono::milliseconds(5))
            own = os::thread_cpu_time();
    });
    while (number == 0)
        std::this_thread::yield();
    auto watch = os::thread_watch::of(number);
    watch.look(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    const auto first = watch.take();
    CHECK(first.wall >= std::chrono::seconds(1));
    CHECK(first.still.count() == 0);  // nobody knows how long it meant to sleep
    const auto seen = os::thread_cpu_time(number);
    CHECK(seen.has_value());
    over = true;
    other.join();
    if (seen) CHECK(*seen <= own + std::chrono::milliseconds(100));
    CHECK_FALSE(os::thread_cpu_time(pid_t{0x3ffffff}).has_value());
    CHECK_FALSE(os::run_delay_meter::of(0x3ffffff).read().has_value());
}

TEST_CASE("os: who neither runs, waits nor means to sleep stands still") {
    const auto meter = os::run_delay_meter::of_this_thread();
    os::thread_watch watch;
    watch.look(std::chrono::steady_clock::now());
    CHECK(watch.take().wall.count() == 0);  // knows nothing
    const auto now = std::chrono::steady_clock::now();
    const auto begin = [&] { watch.begin(now); };
    using std::chrono::seconds;
    begin();
    watch.look(now + seconds(3), seconds(1));
    const auto stopped = watch.take();
    CHECK(stopped.wall == seconds(3));
    if (meter.read()) CHECK(stopped.still > seconds(1));
    CHECK(stopped.still <= seconds(2));
    begin();
    watch.look(now + seconds(3), seconds(3));
    CHECK(watch.take().still.count() == 0);
    begin();
    watch.look(now + seconds(3));
    CHECK(watch.take().still.count() == 0);
}

TEST_CASE("cgroup: whose quotas a process is held by") {
    const auto files = [](const char* groups, const char* mounts) {
        return os::parse_quota_files(groups, mounts);
    };
    using list = std::vector<std::string>;
    constexpr const char* second = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
    CHECK(files("0::/a/b\n", second) == list{"/sys/fs/cgroup/a/b/cpu.stat",
                                             "/sys/fs/cgroup/a/cpu.stat",
                                             "/sys/fs/cgroup/cpu.stat"});
    CHECK(files("0::/\n", second) == list{"/sys/fs/cgroup/cpu.stat"});
    // Version 1, with a blank in the name of the folder.
    constexpr const char* first =
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        "32 31 0:29 / /sys/fs/my\\040groups rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:30 / /sys/fs/memory rw - cgroup cgroup rw,memory\n";
    CHECK(files("4:memory:/x\n2:cpu,cpuacct:/q\n0::/\n", first) ==
          list{"/sys/fs/my groups/q/cpu.stat", "/sys/fs/my groups/cpu.stat"});
    // A container sees its own group where all of them are mounted.
    constexpr const char* inside = "1 2 0:3 /docker/12 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    CHECK(files("0::/docker/12/x\n", inside) ==
          list{"/sys/fs/cgroup/x/cpu.stat", "/sys/fs/cgroup/cpu.stat"});
    CHECK(files("0::/../other\n", second) == list{"/sys/fs/cgroup/cpu.stat"});
    CHECK(files("0::/docker/123\n", inside) == list{"/sys/fs/cgroup/cpu.stat"});
    for (const char* text :
         {"", "\n", "0", "0:", "0::", "0::a", ":::", "2:cpu", "x:cpuset:/a", "-"}) {
        INFO(text);
        CHECK(files(text, second).empty());
        CHECK(files("0::/a\n", text).empty());
    }
    std::string deep = "0::";
    for (int i = 0; i < 1000; ++i)
        deep += "/a";
    CHECK(os::parse_quota_files(deep, second).size() == 64);
}

TEST_CASE("cgroup: throttled time of both versions, in seconds") {
    CHECK(os::parse_throttled("usage_usec 9\nnr_throttled 3\nthrottled_usec 1500000\n") == 1.5);
    CHECK(os::parse_throttled("nr_periods 22\nthrottled_time 842441169\n") == Approx(0.842441169));
    for (const char* text : {"", "usage_usec 9\n", "throttled_usec", "throttled_usec \n",
                             "throttled_usec -1\n", "throttled_usec 99999999999999999999999\n"}) {
        INFO(text);
        CHECK_FALSE(os::parse_throttled(text).has_value());
    }
}
