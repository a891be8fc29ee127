// What the processors did, from made-up texts of /proc and from this machine's own.
#include "os/machine_time.hpp"

#include "os/host.hpp"
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
