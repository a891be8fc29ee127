// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of /proc, from real machines and from nobody's.
#include "os/proc_texts.hpp"

#include "base/read_file.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

namespace {

// From a machine with two processors, Linux 6.18.
constexpr std::string_view stat_text =
    "cpu  2651652 35480 711014 1247688 14105 0 97716 1329 0 0\n"
    "cpu0 1301938 17679 348768 659362 3376 0 47406 680 0 0\n"
    "cpu1 1349713 17800 362245 588326 10728 0 50310 649 0 0\n"
    "intr 99 1 2 3\n"
    "ctxt 194908813\n"
    "btime 1795338390\n"
    "processes 1537853\n"
    "procs_running 1\n"
    "procs_blocked 0\n"
    "softirq 571276389 0 2188237 4 552059083 3985462 0 32 1925045 813430 10305096\n";
constexpr std::string_view diskstats_text =
    "   7       0 loop0 137 0 2782 14 24 68 8988 3 0 8 19 2 0 409602 0 4 0\n"
    " 254       0 vda 1764845 241729 128625514 2050549 2850663 384176 307727472 2510991 0 570720 "
    "4866100 1000417 10918 280948856 205390 599381 99169\n"
    " 254       1 vda1 5 0 40 1 7 0 56 2 0 3 3 0 0 0 0 0 0\n"
    " 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n"
    " 259       1 nvme0n1p1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
constexpr std::string_view meminfo_text =
    "MemTotal:       24684084 kB\n"
    "Dirty:             75824 kB\n"
    "Writeback:            12 kB\n"
    "WritebackTmp:          7 kB\n";

double seconds(double ticks) {
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

TEST_CASE("proc texts: what the machine did, from two files in one text") {
    for (const auto& text :
         {std::string(stat_text) + std::string(meminfo_text),
          std::string(meminfo_text) + "cat: no such\n" + std::string(stat_text)}) {
        const auto all = os::parse_machine_counts(text);
        REQUIRE(all.processors);
        CHECK(all.processors->user_s == Approx(seconds(2651652 + 35480)));
        CHECK(all.processors->system_s == Approx(seconds(711014 + 97716)));
        CHECK(all.processors->iowait_s == Approx(seconds(14105)));
        CHECK(all.processors->steal_s == Approx(seconds(1329)));
        CHECK(all.processors->idle_s == Approx(seconds(1247688)));
        CHECK(all.context_switches == 194908813U);
        CHECK(all.forks == 1537853U);
        CHECK(all.dirty_bytes == 75824U * 1024);
        CHECK(all.writeback_bytes == 12U * 1024);
    }
}

TEST_CASE("proc texts: what is not there, or not of its form, is not known") {
    for (const char* text :
         {"", "\n\n", "cpu", "cpu  1 2 3 4 5 6 7\n", "cpu0 1 2 3 4 5 6 7 8\n",
          "cpu 1 2 3 4 5 6 7 x", "cpu -1 2 3 4 5 6 7 8",
          "ctxt\nprocesses x\nDirty:\nWriteback: kB\n",
          "ctxt -4\nprocesses 99999999999999999999\nDirty: 18446744073709551615 kB\n"}) {
        INFO(text);
        const auto nothing = os::parse_machine_counts(text);
        CHECK_FALSE(nothing.processors);
        CHECK_FALSE(nothing.context_switches);
        CHECK_FALSE(nothing.forks);
        CHECK_FALSE(nothing.dirty_bytes);
        CHECK_FALSE(nothing.writeback_bytes);
    }
}

TEST_CASE("proc texts: devices, whose flushes are counted for the whole of them") {
    const auto devices = os::parse_devices(diskstats_text);
    REQUIRE(devices.size() == 5);
    CHECK(devices[0].major == 7);
    CHECK(devices[0].name == "loop0");
    CHECK(devices[0].counts == os::device_counts{137, 2782, 24, 8988, 8, 19, 2, 4, 0});
    CHECK(devices[1].name == "vda");
    CHECK(devices[1].counts == os::device_counts{1764845, 128625514, 2850663, 307727472, 570720,
                                                 4866100, 1000417, 599381, 99169});
    CHECK(devices[2].minor == 1);
    CHECK(devices[2].counts == os::device_counts{5, 40, 7, 56, 3, 3, 0, {}, {}});
    CHECK(devices[3].counts.flushes == 16U);
    CHECK_FALSE(devices[4].counts.flushes);
    CHECK_FALSE(devices[4].counts.flush_ms);
}

TEST_CASE("proc texts: devices of older kernels, and lines that are none") {
    const auto old = os::parse_devices("8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
    REQUIRE(old.size() == 1);
    CHECK(old[0].counts == os::device_counts{1, 3, 5, 7, 10, 11, {}, {}, {}});
    const auto newer = os::parse_devices("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    REQUIRE(newer.size() == 1);
    CHECK(newer[0].counts.discards == 12U);
    CHECK_FALSE(newer[0].counts.flushes);
    for (const char* text :
         {"", "8 0 sda", "8 0 sda 1 2 3 4 5 6 7 8 9 10\n", "8 sda 1 2 3 4 5 6 7 8 9 10 11",
          "99999999999 0 sda 1 2 3 4 5 6 7 8 9 10 11", "8 0 sda 1 2 3 4 5 6 -7 8 9 10 11",
          "8 0 sda 1 2 3 99999999999999999999 5 6 7 8 9 10 11"}) {
        INFO(text);
        CHECK(os::parse_devices(text).empty());
    }
    CHECK(os::parse_devices("8 0  7 6 5 4 3 2 1 9 8 7 6 5 4 3").size() == 1);  // a number for name
}

TEST_CASE("proc texts: milliseconds go on where the kernel's begin again") {
    constexpr std::uint64_t round = std::uint64_t{1} << 32U;
    os::device_counts before{10, 0, 10, 0, round - 5, 3 * round - 1, 0, 1, round - 1};
    os::device_counts now{10, 0, 11, 0, 2, 0, 0, 2, 1};
    os::carry_on(now, before);
    CHECK(now.busy_ms == round + 2);
    CHECK(now.queue_ms == 3 * round);
    CHECK(now.flush_ms == round + 1);
    before = now;
    now = {12, 0, 11, 0, 1, 7, 0, 2, 1};  // busy went back by one
    os::carry_on(now, before);
    CHECK(now.busy_ms == round + 2);
    CHECK(now.queue_ms == 3 * round + 7);
    before = now;
    now = {0, 0, 0, 0, 1, 1, 0, {}, {}};
    os::carry_on(now, before);
    CHECK(now == os::device_counts{0, 0, 0, 0, 1, 1, 0, {}, {}});
}

TEST_CASE("proc texts: a process by any name") {
    constexpr const char* behind =
        " S 1 4242 4242 0 -1 4194560 1186 4000 1 2 31 17 250 99 20 0 1 0 153 5500928 900 1844\n";
    for (const char* name : {"smtpd", "", "a b", "(sd-pam)", ") R 9 9", "x\ny", "\xff\xfe"}) {
        INFO(name);
        const auto stat = os::parse_process_stat("4242 (" + std::string(name) + ")" + behind);
        REQUIRE(stat);
        CHECK(*stat == os::process_stat{4242, name, 1, 31, 17, 349, 153, 4242});
    }
}

TEST_CASE("proc texts: a process that has ended, and nobody asked how") {
    const std::string behind = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19";
    for (const auto& [state, ended] :
         {std::pair("R", false), {"D", false}, {"T", false}, {"Z", true}, {"X", true}})
        CHECK(os::parse_process_stat(std::string("7 (Z) ") + state + behind)->ended == ended);
}

TEST_CASE("proc texts: what is no process") {
    const std::string whole = "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19";
    CHECK(os::parse_process_stat(whole));
    // Up to the start time, and no digit of the fields that count may be missing.
    for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
        INFO(length);
        CHECK_FALSE(os::parse_process_stat(whole.substr(0, length)));
    }
    for (const char* text : {"x (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
                             "7 x S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
                             "7 (x) S -1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
                             "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 x 14 15 16 17 18 19",
                             "4294967296 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"}) {
        INFO(text);
        CHECK_FALSE(os::parse_process_stat(text));
    }
}

TEST_CASE("proc texts: a process's I/O") {
    const auto io = os::parse_process_io(
        "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 8192\n"
        "cancelled_write_bytes: 3\n");
    REQUIRE(io);
    CHECK(*io == os::process_io{4096, 8192});
    for (const char* text : {"", "read_bytes: 4096\n", "read_bytes: x\nwrite_bytes: 1\n",
                             "rchar: 1\ncancelled_write_bytes: 3\nread_bytes: 1"})
        CHECK_FALSE(os::parse_process_io(text));
}

TEST_CASE("proc texts: how often a thread waited, and what memory a process has its share of") {
    struct row {
        std::string_view text;
        std::optional<std::uint64_t> wakeups;
        std::optional<std::uint64_t> memory;
    };
    for (const row& one : std::vector<row>{
             {"Name:\timap\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t7\n",
              150,
              {}},
             {"voluntary_ctxt_switches:\t0", 0, {}},
             {"nonvoluntary_ctxt_switches:\t7\n", {}, {}},
             {"Name:\tvoluntary_ctxt_switches:\t5\n", {}, {}},
             {"voluntary_ctxt_switches:\t-1\n", {}, {}},
             {"voluntary_ctxt_switches:\n9\n", {}, {}},
             {"Rss:     4096 kB\nPss:                 12 kB\nPss_Dirty:  3 kB\n", {}, 12 * 1024},
             {"Pss: 18446744073709551615 kB", {}, {}},
             {"Pss:\n", {}, {}},
             {"", {}, {}}}) {
        INFO(one.text);
        CHECK(os::parse_voluntary_switches(one.text) == one.wakeups);
        CHECK(os::parse_proportional_memory(one.text) == one.memory);
    }
}

TEST_CASE("proc texts: this machine's own") {
    const auto read = [](const char* path) {
        const auto text = base::read_file(path);
        return text ? *text : std::string{};
    };
    if (read("/proc/stat").empty()) return;  // /proc is not mounted
    const auto machine = os::parse_machine_counts(read("/proc/stat") + read("/proc/meminfo"));
    CHECK(machine.processors);
    CHECK(machine.context_switches);
    CHECK(machine.forks);
    CHECK(machine.dirty_bytes);
    CHECK(machine.writeback_bytes);
    const auto self = os::parse_process_stat(read("/proc/self/stat"));
    REQUIRE(self);
    CHECK(self->pid == ::getpid());
    CHECK(self->parent == ::getppid());
    CHECK(self->threads >= 1);
    CHECK(os::parse_voluntary_switches(read("/proc/self/status")));
}
