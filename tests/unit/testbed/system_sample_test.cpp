// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of this machine, and of a server made of this test's own children.
//
// What a sample costs is measured on demand:
//     build/release/bin/unit_os "[measure]"
#include "testbed/system_sample.hpp"

#include "os/limits.hpp"
#include "os/usage.hpp"

#include "../temporary_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>
#include <utility>

using namespace postal;
using namespace std::chrono_literals;

namespace {

// A child that does something and then waits for its end, which comes with this or the test's.
class forked {
  public:
    explicit forked(const std::function<void()>& work = [] {}) {
        std::array<int, 2> ready{};
        if (::pipe2(ready.data(), O_CLOEXEC) != 0) FAIL("pipe2");
        pid_ = ::fork();
        if (pid_ < 0) FAIL("fork");
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            work();
            if (::write(ready[1], "", 1) != 1) ::_exit(1);
            while (true)
                ::pause();
        }
        ::close(ready[1]);
        char none = 0;
        if (::read(ready[0], &none, 1) != 1) FAIL("the child ended");
        ::close(ready[0]);
    }
    forked(forked&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
    forked& operator=(forked&&) = delete;
    ~forked() { end(); }

    pid_t pid() const { return pid_; }
    void end() {
        if (pid_ < 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

  private:
    pid_t pid_ = -1;
};

void burn(std::chrono::nanoseconds time) {
    const auto begun = os::thread_cpu_time();
    while (os::thread_cpu_time() - begun < time)
        continue;
}

constexpr std::size_t file_size = std::size_t{1} << 20U;

void write_file() {
    test::temporary_file file(std::string(file_size, 'x'));
    const int written = ::open(file.path().c_str(), O_WRONLY | O_CLOEXEC);
    (void)::fsync(written);
    ::close(written);
}

// A server that does at each letter: s starts a child that burns 100 ms and stays, e ends all of
// them, q starts one that burns and ends before the answer, w one that writes a file and ends.
class told_server {
  public:
    told_server() {
        if (::pipe2(orders_.data(), O_CLOEXEC) != 0 || ::pipe2(done_.data(), O_CLOEXEC) != 0)
            FAIL("pipe2");
        pid_ = ::fork();
        if (pid_ < 0) FAIL("fork");
        if (pid_ == 0) serve();
    }
    told_server(told_server&&) = delete;
    ~told_server() {
        end();
        for (const int one : {orders_[0], orders_[1], done_[0], done_[1]})
            ::close(one);
    }

    pid_t pid() const { return pid_; }
    void tell(char what) {
        REQUIRE(::write(orders_[1], &what, 1) == 1);
        REQUIRE(::read(done_[0], &what, 1) == 1);
    }
    void end() {
        if (pid_ < 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

  private:
    [[noreturn]] void serve() {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::vector<forked> stay;
        for (char what = 0; ::read(orders_[0], &what, 1) == 1;) {
            if (what == 's') stay.emplace_back([] { burn(100ms); });
            if (what == 'e') stay.clear();
            if (what == 'q') forked([] { burn(100ms); }).end();
            if (what == 'w') forked(write_file).end();
            if (::write(done_[1], &what, 1) != 1) break;
        }
        ::_exit(0);
    }

    std::array<int, 2> orders_{};
    std::array<int, 2> done_{};
    pid_t pid_ = -1;
};

testbed::system_sampler sampler_of(const std::vector<std::string>& devices = {}) {
    auto made = testbed::system_sampler::create(devices);
    if (!made) FAIL(made.error().message);
    return std::move(*made);
}

double cpu_s(const testbed::system_sample& sample) {
    double sum = 0;
    for (const auto& one : sample.programs.value())
        sum += one.cpu_s.value();
    return sum;
}

std::optional<std::uint64_t> written(const testbed::system_sample& sample) {
    return sample.programs.value().at(0).write_bytes;
}

const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));

}  // namespace

TEST_CASE("system sampler: this machine's counters go on") {
    auto sampler = sampler_of();
    const auto before = sampler.take();
    burn(30ms);
    const auto after = sampler.take();
    CHECK(after.time > before.time);
    REQUIRE(before.machine.processors);
    REQUIRE(after.machine.processors);
    CHECK(after.machine.processors->user_s >= before.machine.processors->user_s);
    CHECK(after.machine.context_switches.value() >= before.machine.context_switches.value());
    CHECK(after.machine.forks.value() >= before.machine.forks.value());
    CHECK(after.machine.dirty_bytes);
    CHECK(after.machine.writeback_bytes);
    CHECK(after.devices.empty());
    CHECK_FALSE(after.programs);
    CHECK_FALSE(sampler.problem());
}

TEST_CASE("system sampler: devices that are none are refused") {
    const auto refusal = [](const char* name) {
        const auto made = testbed::system_sampler::create({name});
        return made ? std::string("taken") : made.error().message;
    };
    CHECK(refusal("no-such-device") == "/dev/no-such-device: No such file or directory");
    CHECK(refusal("/dev/null") == "/dev/null: is not a block device");
    CHECK(refusal("/") == "/: is not a block device");
}

TEST_CASE("system sampler: devices are found by name, by path and by link") {
    std::string name;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/block"))
        if (std::filesystem::exists("/dev/" + entry.path().filename().string()))
            name = entry.path().filename().string();
    if (name.empty()) return;  // a container without devices
    const auto link =
        std::filesystem::temp_directory_path() / ("postal-device-" + std::to_string(::getpid()));
    std::filesystem::create_symlink("/dev/" + name, link);
    auto sampler = sampler_of({name, "/dev/" + name, link.string()});
    std::filesystem::remove(link);
    const auto sample = sampler.take();
    REQUIRE(sample.devices.size() == 3);
    REQUIRE(sample.devices[0]);
    CHECK(sample.devices[0]->reads <= sample.devices[1]->reads);
    CHECK(sample.devices[1]->reads <= sample.devices[2]->reads + 1);
}

TEST_CASE("device finder: another machine's devices go by their names") {
    auto finder = testbed::device_finder::elsewhere({"/dev/sdb", "sda", "dm-0"});
    const auto found =
        finder.find("8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n8 16 sdb 9 2 3 4 5 6 7 8 9 10 11\n");
    REQUIRE(found.size() == 3);
    CHECK(found[0].value().reads == 9);
    CHECK(found[1].value().reads == 1);
    CHECK_FALSE(found[2]);
    // Milliseconds go on, also after a text without the device.
    CHECK_FALSE(finder.find("")[1]);
    const auto later = finder.find("8 0 sda 1 2 3 4 5 6 7 8 9 4294967290 9\n");
    CHECK(later[1].value().busy_ms == 10);
    CHECK(later[1].value().queue_ms == 11);
}

TEST_CASE("system sampler: no such process") {
    auto sampler = sampler_of();
    forked gone;
    const pid_t pid = gone.pid();
    gone.end();
    const auto refused = sampler.watch(pid);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message ==
          "there is no process " + std::to_string(pid) + " to be watched");
    CHECK_FALSE(sampler.take().programs);
}

TEST_CASE("system sampler: what a server did before it was watched does not count") {
    forked server([] { burn(200ms); });
    auto sampler = sampler_of();
    REQUIRE(sampler.watch(server.pid()).has_value());
    REQUIRE(sampler.watch(server.pid()).has_value());  // again: nothing changes
    const auto begun = sampler.take();
    CHECK(cpu_s(begun) < 0.15);  // what it did before is not counted
    server.end();
    CHECK(cpu_s(sampler.take()) >= cpu_s(begun));
}

TEST_CASE(
    "process tree: each process once and behind its parent, in whichever order they are watched") {
    const auto ids = [](const std::vector<testbed::process_reading>& readings) {
        std::vector<pid_t> to;
        for (const auto& one : readings)
            to.push_back(one.stat.pid);
        return to;
    };
    told_server server;
    server.tell('s');
    forked other;
    testbed::process_tree tree;
    CHECK(tree.read().empty());
    const auto first = ids(tree.watch(server.pid()).value());
    REQUIRE(first.size() == 2);
    CHECK(first[0] == server.pid());
    CHECK(ids(tree.watch(::getpid()).value()) == std::vector<pid_t>{::getpid(), other.pid()});
    CHECK(tree.watch(other.pid()).value().empty());
    const std::vector<pid_t> all{::getpid(), other.pid(), first[0], first[1]};
    CHECK(ids(tree.read()) == all);
    server.tell('s');
    const auto more = ids(tree.read());
    REQUIRE(more.size() == 5);
    CHECK(std::vector<pid_t>(more.begin(), more.begin() + 4) == all);
    server.tell('e');
    CHECK(ids(tree.read()) == std::vector<pid_t>{::getpid(), other.pid(), server.pid()});
    CHECK_FALSE(tree.problem());
}

TEST_CASE("system sampler: children that burn CPU, are seen, end, and are waited for") {
    told_server server;
    auto sampler = sampler_of();
    REQUIRE(sampler.watch(server.pid()).has_value());
    double before = cpu_s(sampler.take());
    const double slack_s = 3 * tick_s;  // user, system and children are cut to whole ticks
    struct step {
        char what;
        double at_least_s;
        const char* reason;
    };
    for (const step& one :
         {step{'s', 0.1, "it was started between two samples"}, step{'s', 0.1, "one more"},
          step{'q', 0.1, "started, ended and waited for between two samples"},
          step{'e', 0, "what ends is counted already"}, step{'q', 0.1, "and what is owed is paid"},
          step{'e', 0, "nothing happens"}}) {
        INFO(one.what << ": " << one.reason);
        server.tell(one.what);
        const double now = cpu_s(sampler.take());
        CHECK(now >= before);
        CHECK(now - before + slack_s >= one.at_least_s);
        before = now;
    }
    // 400 ms; counted twice, the two that stayed would make it 600. What else the children do is
    // next to nothing in CPU, even on a busy machine.
    CHECK(before < 0.55);
    server.end();
    CHECK(cpu_s(sampler.take()) >= before);
}

TEST_CASE("system sampler: a server that hardly works, in nanoseconds, wake-ups and memory") {
    // It sleeps and wakes up now and then in two threads, and does not come to a tick.
    forked server([] {
        std::thread([] {
            while (true)
                std::this_thread::sleep_for(1ms);
        }).detach();
        std::thread([] {}).join();
    });
    auto sampler = sampler_of();
    REQUIRE(sampler.watch(server.pid()).has_value());
    testbed::program_usage now;
    for (int looks = 0; looks < 10'000 && now.wakeups.value_or(0) < 20; ++looks) {
        std::this_thread::sleep_for(1ms);
        const auto sample = sampler.take();
        REQUIRE(sample.programs.value().size() == 1);
        const auto levels = now;
        now = sample.programs->front();
        if (!now.memory_bytes) now.memory_bytes = levels.memory_bytes;
        if (!now.descriptors) now.descriptors = levels.descriptors;
    }
    CHECK(now.wakeups.value() >= 20);
    CHECK(now.cpu_s.value() > 0);
    CHECK(now.cpu_s.value() < 0.5);
    CHECK(now.memory_bytes.value() > 4096);
    CHECK(now.descriptors.value() >= 3);
    server.end();
    const auto after = sampler.take().programs.value().front();
    CHECK(after.wakeups.value() >= now.wakeups.value());
    CHECK(after.cpu_s.value() >= now.cpu_s.value());
}

TEST_CASE("system sampler: memory and descriptors are looked at whenever somebody wants it") {
    forked server;
    auto sampler = sampler_of();
    REQUIRE(sampler.watch(server.pid()).has_value());
    for (int looks = 0; looks < 20; ++looks) {
        sampler.be_thorough();
        const auto now = sampler.take().programs.value().front();
        CHECK(now.memory_bytes.has_value());
        CHECK(now.descriptors.has_value());
    }
}

TEST_CASE("system sampler: octets that a server's ended child has written are the server's") {
    told_server server;
    auto sampler = sampler_of();
    REQUIRE(sampler.watch(server.pid()).has_value());
    const auto before = written(sampler.take());
    auto own = sampler_of();
    REQUIRE(own.watch(::getpid()).has_value());
    write_file();
    // Neither where it may not be seen, nor on a file system in memory.
    if (written(own.take()).value_or(0) < file_size) return;
    server.tell('w');
    CHECK(written(sampler.take()).value() - before.value() >= file_size);
}

TEST_CASE("system sampler: a process whose parent ends stays watched") {
    std::array<int, 2> ids{};
    std::array<int, 2> hold{};
    REQUIRE(::pipe2(ids.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(hold.data(), O_CLOEXEC) == 0);
    forked starter([&] {
        const pid_t parent = ::getpid();  // which may be gone when the child first runs
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(hold[1]);
            char none = 0;
            // Burns once its parent is gone, so that the next sample shows it.
            while (::getppid() == parent)
                ::usleep(1000);
            burn(100ms);
            ::close(ids[1]);
            (void)!::read(hold[0], &none, 1);
            ::_exit(0);
        }
        (void)!::write(ids[1], &child, sizeof child);
    });
    ::close(ids[1]);
    pid_t child = 0;
    REQUIRE(::read(ids[0], &child, sizeof child) == sizeof child);
    auto sampler = sampler_of();
    REQUIRE(sampler.watch(starter.pid()).has_value());
    const double before = cpu_s(sampler.take());
    starter.end();
    char none = 0;
    REQUIRE(::read(ids[0], &none, 1) == 0);  // it has burnt
    CHECK(cpu_s(sampler.take()) - before + 2 * tick_s >= 0.1);
    ::close(hold[0]);
    ::close(hold[1]);
    ::close(ids[0]);
}

TEST_CASE("system sampler: what a sample costs", "[.][measure]") {
    constexpr int processes = 200;
    constexpr int samples = 300;
    REQUIRE(os::raise_descriptor_limit(1024).has_value());
    std::vector<forked> children;
    forked server([&] {
        for (int i = 0; i < processes; ++i)
            children.emplace_back();
    });
    std::vector<std::string> devices;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/block"))
        if (devices.size() < 5) devices.push_back(entry.path().filename().string());
    auto sampler = sampler_of(devices);
    REQUIRE(sampler.watch(server.pid()).has_value());
    const auto begun = os::thread_cpu_time();
    for (int i = 0; i < samples; ++i)
        (void)sampler.take();
    const auto each = (os::thread_cpu_time() - begun) / samples;
    std::cout << "a sample of " << devices.size() << " devices and " << processes << " processes: "
              << std::chrono::duration_cast<std::chrono::microseconds>(each).count()
              << " us of CPU\n";
    CHECK(each < 5ms);
}
