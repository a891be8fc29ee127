// SPDX-License-Identifier: GPL-3.0-or-later
// A fork of the server from before it had threads; see guardian.hpp.
//
// The pages of the list are touched by the threads that use them, and read by the guardian only
// when the server is gone. An entry counts once its number is written, which is last.
#include "os/guardian.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace postal::os {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int server_slot = 3;
constexpr int signal_slot = 4;
constexpr std::uint64_t latest_note_s = 5;  // from a child's start to its entry
// Where a child cannot be watched for lack of descriptors, it is asked after so often.
constexpr auto ask_again = 1s;

bool is_readable(int descriptor, int timeout_ms) {
    pollfd asked{descriptor, POLLIN, 0};
    return ::poll(&asked, 1, timeout_ms) == 1;
}

sigset_t only_sigterm() {
    sigset_t made;
    ::sigemptyset(&made);
    ::sigaddset(&made, SIGTERM);
    return made;
}

// Nobody waits for the end of what it was started with: streams, listening sockets, a lock. SIGTERM
// is blocked already.
void leave_everything(int server) {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const int kept = ::fcntl(server, F_DUPFD_CLOEXEC, 64);
    const sigset_t asked = only_sigterm();
    const int told = ::signalfd(-1, &asked, SFD_CLOEXEC | SFD_NONBLOCK);
    const int kept_told = ::fcntl(told, F_DUPFD_CLOEXEC, 64);
    for (int number = 0; number <= 2; ++number)
        ::dup2(null, number);
    ::dup2(kept, server_slot);
    ::dup2(kept_told, signal_slot);
    ::syscall(SYS_close_range, signal_slot + 1, ~0U, 0);
    for (const int number : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2})
        std::signal(number, SIG_IGN);
    ::setsid();
    if (::chdir("/") != 0) return;
}

// Whether any came since.
bool take_signals(int told) {
    signalfd_siginfo one{};
    bool any = false;
    while (::read(told, &one, sizeof one) == sizeof one)
        any = true;
    return any;
}

// As many descriptors as there may be, for as many children.
void raise_own_limit() {
    rlimit now{};
    if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
    now.rlim_cur = now.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &now);
}

}  // namespace

struct guardian::list::entry {
    std::atomic<pid_t> pid;                // 0: nobody
    std::atomic<std::uint64_t> noted;      // clock_ticks() then
    std::atomic<std::int64_t> deadline;    // of the steady clock, in nanoseconds
    std::atomic<std::size_t> next_unused;  // of the free places
};

struct guardian::ward {
    child who;
    base::file_descriptor end;  // none: could not be opened yet
    std::uint64_t noted = 0;
    steady_clock::time_point due;
    int signals = 0;  // sent

    // Whether it still runs; the first time it is looked at it must be the one that was noted.
    bool runs() {
        if (end.is_open()) return !is_readable(end.get(), 0);
        base::file_descriptor opened = watch_process(who.pid);
        const bool lacking = !opened.is_open() && (errno == EMFILE || errno == ENFILE);
        // Once it is open, the number cannot become another's unseen.
        const auto found = find_process(who.pid);
        const auto a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
        // Where /proc does not show it (hidepid), it must at least still lead its group.
        const bool same = !found ? ::getpgid(who.pid) == who.pid
                                 : !found->ended && found->start <= noted &&
                                       found->start + latest_note_s * a_second >= noted;
        if (!same || (!opened.is_open() && !lacking)) return false;
        end = std::move(opened);
        who.pidfd = end.get();
        return !end.is_open() || !is_readable(end.get(), 0);
    }
};

// ---- the list ----

std::size_t guardian::list::add(pid_t child, steady_clock::time_point deadline,
                                std::uint64_t now) noexcept {
    std::size_t place = free_;
    if (place != nowhere) {
        free_ = first_[place].next_unused.load(std::memory_order_relaxed);
    } else if (used_ < places_) {
        place = used_++;
    } else {
        return nowhere;
    }
    entry& to = first_[place];
    to.noted.store(now, std::memory_order_relaxed);
    to.deadline.store(std::chrono::nanoseconds(deadline.time_since_epoch()).count(),
                      std::memory_order_relaxed);
    to.pid.store(child, std::memory_order_release);
    return place;
}

void guardian::list::remove(std::size_t place) noexcept {
    if (place >= used_) return;
    entry& from = first_[place];
    from.pid.store(0, std::memory_order_release);
    from.next_unused.store(free_, std::memory_order_relaxed);
    free_ = place;
}

// ---- the server's side ----

base::expected<guardian> guardian::start(const settings& wanted) {
    guardian made(wanted);
    void* const memory = ::mmap(nullptr, made.size(), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return base::fail("no memory for the list of children: {}", base::system_message(errno));
    }
    made.entries_ = static_cast<list::entry*>(memory);
    const auto begun = made.begin();
    if (!begun) return begun.error();
    return made;
}

// In look_after() the server has threads; what the fork does is its own, but for memory, which
// glibc keeps usable across a fork.
base::expected<void> guardian::begin() {
    const base::file_descriptor server = watch_process(::getpid());
    if (!server.is_open()) {
        return base::fail("cannot watch this process: {}", base::system_message(errno));
    }
    // It has its name from its first moment, for whoever looks through processes for children.
    std::array<char, 16> own_name{};
    ::prctl(PR_GET_NAME, own_name.data(), 0, 0, 0);
    ::prctl(PR_SET_NAME, settings_.name, 0, 0, 0);
    // Nor does a SIGTERM end it in its first moment.
    const sigset_t blocked = only_sigterm();
    sigset_t before;
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const pid_t pid = ::fork();
    if (pid == 0) guard(server.get());
    const int problem = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::prctl(PR_SET_NAME, own_name.data(), 0, 0, 0);
    if (pid < 0) {
        return base::fail("cannot start the guardian of agents: {}", base::system_message(problem));
    }
    process_.pid = pid;
    process_.pidfd = watch_process(pid).release();
    return {};
}

base::expected<bool> guardian::look_after() {
    if (process_.pid > 0) {
        if (process_.pidfd < 0 || !is_readable(process_.pidfd, 0)) return false;
        reap();
    }
    const auto begun = begin();
    if (!begun) return begun.error();
    return true;
}

void guardian::reap() noexcept {
    while (::waitpid(process_.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (process_.pidfd >= 0) ::close(process_.pidfd);
    process_ = {};
}

guardian::guardian(guardian&& other) noexcept
    : settings_(other.settings_),
      entries_(std::exchange(other.entries_, nullptr)),
      process_(std::exchange(other.process_, {})) {}

guardian::~guardian() {
    if (process_.pid > 0 && is_empty()) {
        ::kill(process_.pid, SIGKILL);
        reap();
    }
    if (process_.pidfd >= 0) ::close(process_.pidfd);
    if (entries_ != nullptr) ::munmap(entries_, size());
}

guardian::list guardian::list_of(unsigned thread) noexcept {
    list made;
    made.first_ = entries_ + thread * settings_.most_children;
    made.places_ = settings_.most_children;
    return made;
}

std::size_t guardian::size() const noexcept {
    return settings_.lists * settings_.most_children * sizeof(list::entry);
}

bool guardian::is_empty() const noexcept {
    const std::size_t all = settings_.lists * settings_.most_children;
    return std::all_of(entries_, entries_ + all, [](const list::entry& one) {
        return one.pid.load(std::memory_order_acquire) == 0;
    });
}

// ---- the guardian's side ----

void guardian::guard(int server) noexcept {
    leave_everything(server);
    while (!is_readable(server_slot, -1)) {
    }
    static_cast<void>(take_signals(signal_slot));  // those were for the server
    try {
        keep_deadlines(signal_slot);
    } catch (const std::exception&) {
        // Out of memory: nobody can be told, and the agents go on as they would without it.
    }
    ::_exit(0);
}

void guardian::keep_deadlines(int told) {
    raise_own_limit();
    auto wards = take_over();
    while (!wards.empty()) {
        const auto now = steady_clock::now();
        std::erase_if(wards, [&](ward& one) { return is_done(one, now); });
        std::vector<pollfd> asked{{told, POLLIN, 0}};
        auto next = now + 1h;
        for (const ward& one : wards) {
            if (one.end.is_open()) asked.push_back({one.end.get(), POLLIN, 0});
            next = std::min({next, one.due, one.end.is_open() ? next : now + ask_again});
        }
        if (wards.empty()) return;
        const auto pause = std::chrono::ceil<std::chrono::milliseconds>(std::max(next - now, 0ns));
        ::poll(asked.data(), asked.size(), static_cast<int>(pause.count()));
        if (!take_signals(told)) continue;
        for (ward& each : wards)
            if (each.signals == 0) each.due = now;
    }
}

std::vector<guardian::ward> guardian::take_over() const {
    std::vector<ward> wards;
    const std::size_t all = settings_.lists * settings_.most_children;
    for (const list::entry* one = entries_; one != entries_ + all; ++one) {
        ward made;
        made.who.pid = one->pid.load(std::memory_order_acquire);
        if (made.who.pid == 0) continue;
        made.noted = one->noted.load(std::memory_order_relaxed);
        made.due = steady_clock::time_point(
            std::chrono::nanoseconds(one->deadline.load(std::memory_order_relaxed)));
        if (!made.runs()) continue;
        signal_group(made.who, SIGCONT);
        wards.push_back(std::move(made));
    }
    return wards;
}

// Signals it when it is time, and says whether there is nothing left to do.
bool guardian::is_done(ward& one, steady_clock::time_point now) const {
    if (!one.runs()) return true;
    if (now < one.due) return false;
    if (one.signals == 2) return true;
    signal_group(one.who, one.signals == 0 ? SIGTERM : SIGKILL);
    if (one.signals == 0) signal_group(one.who, SIGCONT);
    ++one.signals;
    one.due = now + settings_.kill_after;
    return false;
}

}  // namespace postal::os
