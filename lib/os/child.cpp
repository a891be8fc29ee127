// SPDX-License-Identifier: GPL-3.0-or-later
// clone(2) on a stack of its own; before_exec.cpp is the child's way from there to its program.
//
// The thread waits for a word that the kernel clears when the child leaves our memory, by its exec
// or its end (CLONE_CHILD_CLEARTID), and not for the kernel itself as vfork does, which no clock
// ends: once the child has its user's identity, any process of that user may stop it. A child that
// was killed on its way runs no instruction of ours any more, so what start() was given may go even
// while the kernel holds on to it. Only the words and the stack stay, as a leftover.
#include "os/child.hpp"

#include "base/text.hpp"
#include "os/before_exec.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

// The C library's clone(2) under the name that sanitizers leave alone: theirs takes every clone for
// a fork with a memory of its own.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace postal::os {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t stack_size = std::size_t{64} * 1024;
constexpr std::size_t words_size = 64;  // a line of the cache for the two words
// A start takes a tenth of a millisecond; on a machine with twenty ready threads for each
// processor, or with the program on a busy disk, more than a second now and then.
constexpr auto longest_start = std::chrono::seconds(5);
constexpr auto first_look = std::chrono::milliseconds(1);  // whether the child was stopped; later
constexpr auto looks_apart = std::chrono::milliseconds(16);
constexpr int patience_after_kill_ms = 200;
constexpr std::uint64_t all_signals = ~std::uint64_t{0};
constexpr int last_signal = 64;

constexpr std::string_view attempts[]{"make a process for",       "arrange the descriptors of",
                                      "make a process group for", "reset the signals of",
                                      "set the limits of",        "change to user",
                                      "change to directory",      "run"};

base::failure why(const handover& to) {
    const child_plan& plan = *to.plan;
    if (to.failed == child_step::late) {
        return base::fail("cannot start {}: it {} and was killed",
                          base::printable(plan.program, 200),
                          to.error == ECANCELED ? "was stopped by another process of its user"
                                                : "did not run within 5 seconds");
    }
    const std::string what = to.failed == child_step::user ? to.user->name
                             : to.failed == child_step::directory
                                 ? base::printable(plan.directory, 200)
                                 : base::printable(plan.program, 200);
    return base::fail("cannot {} {}: {}", attempts[static_cast<std::size_t>(to.failed)], what,
                      base::system_message(to.error));
}

bool is_gone(std::uint32_t* word) {
    return std::atomic_ref(*word).load(std::memory_order_acquire) == 0;
}

// Until the kernel clears the word, or for that long. Its failure to come in time writes errno,
// which the child may be about to read: its own failure then has another text, and that is all.
bool wait_for(std::uint32_t* word, std::chrono::nanoseconds most) {
    if (is_gone(word)) return true;
    const timespec timeout{0, static_cast<long>(most.count())};
    ::syscall(SYS_futex, word, FUTEX_WAIT, 1, &timeout, nullptr, 0);
    return is_gone(word);
}

enum class departure { gone, stopped, late };

// Waits until the child has left our memory.
departure await_departure(const child& made, std::uint32_t* word) {
    if (wait_for(word, first_look)) return departure::gone;
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < longest_start) {
        if (is_stopped(made)) return departure::stopped;
        if (wait_for(word, looks_apart)) return departure::gone;
    }
    return departure::late;
}

// An exception would leave a child behind that waits for ever.
base::expected<void> ask(const child_plan& plan, pid_t child) noexcept {
    try {
        return plan.before_it_runs(child);
    } catch (const std::exception& problem) {
        return base::fail("cannot start {}: {}", base::printable(plan.program, 200),
                          problem.what());
    }
}

void give(std::uint32_t* word, permission answer) {
    std::atomic_ref(*word).store(static_cast<std::uint32_t>(answer), std::memory_order_release);
    ::syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Makes the child, which shares our memory until it runs its program, and waits for that. Its pid
// is -1 when there is none; what could not run its program is to be cleared away, and what `asked`
// says is why where it may not.
child make_child(handover& to, char* stack, std::uint32_t* word, base::expected<void>& asked) {
    child made;
    *word = 1;
    constexpr int flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | CLONE_CHILD_CLEARTID | SIGCHLD;
    made.pid = ::__clone(run_before_exec, stack, flags, &to, &made.pidfd, nullptr, word);
    if (made.pid < 0) {
        to.error = errno;
        return made;
    }
    if (to.permission != nullptr) {
        // While it is asked, a Ctrl-C on our terminal is not for the child.
        if (!to.new_session) ::setpgid(made.pid, made.pid);
        asked = ask(*to.plan, made.pid);
        give(to.permission, asked ? permission::given : permission::refused);
    }
    const departure how = await_departure(made, word);
    if (how == departure::gone) return made;
    // Should it run its program after all in this moment, that ends with it.
    signal_group(made, SIGKILL);
    to.failed = child_step::late;
    to.error = how == departure::stopped ? ECANCELED : ETIMEDOUT;
    return made;
}

std::size_t page_size() {
    return static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
}

std::chrono::nanoseconds duration(const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

}  // namespace

base::expected<void> prepare_for_children() {
    std::signal(SIGCHLD, SIG_DFL);
    for (int wanted = 0; wanted <= 2; ++wanted) {
        if (::fcntl(wanted, F_GETFD) >= 0) continue;
        // The lowest free number is the one that was just found closed.
        if (::open("/dev/null", O_RDWR) < 0) {
            return base::fail("cannot open /dev/null: {}", base::system_message(errno));
        }
    }
    return {};
}

base::expected<spawner> spawner::create() {
    // Closes nothing: there is no such descriptor.
    if (::syscall(SYS_close_range, ~0U, ~0U, 0) != 0) {
        return base::fail(
            "this kernel does not let us use close_range(2), which Linux has since 5.9: {}",
            base::system_message(errno));
    }
    spawner made;
    auto reserved = made.reserve();
    if (!reserved) return reserved.error();
    made.user_ = ::geteuid();
    for (int signal = 1; signal <= last_signal; ++signal) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) != 0) continue;
        if (now.sa_handler != SIG_DFL) made.signals_.push_back(signal);
    }
    return made;
}

base::expected<spawner::ground> spawner::ground::make() {
    const std::size_t guard = page_size();
    void* const memory = ::mmap(nullptr, guard + stack_size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        return base::fail("no memory for a stack: {}", base::system_message(errno));
    }
    ground made;
    made.mapping_ = static_cast<char*>(memory);
    if (::mprotect(memory, guard, PROT_NONE) != 0) {
        return base::fail("cannot protect a stack: {}", base::system_message(errno));
    }
    return made;
}

spawner::ground::~ground() {
    if (mapping_ != nullptr) ::munmap(mapping_, page_size() + stack_size);
}

char* spawner::ground::stack() const noexcept {
    return mapping_ + page_size() + stack_size - words_size;
}

std::uint32_t* spawner::ground::departed() const noexcept {
    return static_cast<std::uint32_t*>(static_cast<void*>(stack()));
}

std::uint32_t* spawner::ground::permission() const noexcept {
    return departed() + 1;
}

base::expected<void> spawner::reserve() {
    auto made = ground::make();
    if (!made) return made.error();
    ground_ = std::move(*made);
    terminal_ = base::file_descriptor(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    // ENXIO: there is none.
    unknown_terminal_ = !terminal_.is_open() && errno != ENXIO;
    null_ = base::file_descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const auto slot = [this] {
        return base::file_descriptor(::fcntl(null_.get(), F_DUPFD_CLOEXEC, 3));
    };
    if (null_.is_open()) input_slot_ = slot();
    if (input_slot_.is_open()) output_slot_ = slot();
    if (output_slot_.is_open()) return {};
    return base::fail("cannot open /dev/null: {}", base::system_message(errno));
}

spawner::~spawner() {
    reap_leftovers();
    for (leftover& one : leftovers_)
        one.under.forget();
}

// Killed, or ending by itself: this waits for next to nothing, except where the kernel cannot let
// go of it, which may read a program from a dead file server.
void spawner::clear_away(child which) {
    pollfd end{which.pidfd, POLLIN, 0};
    const bool ended = ::poll(&end, 1, patience_after_kill_ms) == 1;
    ::close(which.pidfd);
    which.pidfd = -1;
    leftovers_.push_back({std::exchange(ground_, {}), which});
    if (ended) reap_leftovers();
}

void spawner::reap_leftovers() {
    std::erase_if(leftovers_, [this](leftover& one) {
        if (!reap(one.which)) return false;
        if (!ground_.is_there()) ground_ = std::move(one.under);
        return true;
    });
}

base::expected<child> spawner::start(const child_plan& plan) {
    if (!leftovers_.empty()) reap_leftovers();
    leftovers_.reserve(leftovers_.size() + 1);  // no failure once there is a child
    if (!ground_.is_there()) {
        auto made = ground::make();
        if (!made) return made.error();
        ground_ = std::move(*made);
    }
    handover to;
    to.plan = &plan;
    // Who is that user already, and not root, may not even ask for it.
    const bool same = plan.run_as != nullptr && user_ != 0 && user_ == plan.run_as->uid;
    if (!same) to.user = plan.run_as;
    to.limits = plan.limits.data();
    to.limit_count = plan.limits.size();
    to.signals = signals_.data();
    to.signal_count = signals_.size();
    to.terminal = terminal_.get();
    to.new_session = unknown_terminal_;
    to.input_slot = input_slot_.get();
    to.output_slot = output_slot_.get();
    to.parent = ::getpid();
    if (plan.before_it_runs) {
        to.permission = ground_.permission();
        *to.permission = static_cast<std::uint32_t>(permission::awaited);
    }

    // Raw, since the library's own would leave out the two signals that it uses itself.
    std::uint64_t mask = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_signals, &mask, kernel_set_size);
    child made;
    base::expected<void> asked;
    if (::dup3(plan.input, input_slot_.get(), O_CLOEXEC) >= 0 &&
        ::dup3(plan.output, output_slot_.get(), O_CLOEXEC) >= 0) {
        made = make_child(to, ground_.stack(), ground_.departed(), asked);
    } else {
        to.failed = child_step::descriptors;
        to.error = errno;
    }
    // A pipe that a slot kept open would never seem to end.
    ::dup3(null_.get(), input_slot_.get(), O_CLOEXEC);
    ::dup3(null_.get(), output_slot_.get(), O_CLOEXEC);
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, kernel_set_size);
    const bool runs = asked && to.failed == child_step::none;
    if (made.pid >= 0 && runs) return made;
    if (made.pid >= 0) clear_away(made);
    return asked ? why(to) : asked.error();
}

std::optional<child_end> reap(const child& started) {
    int status = 0;
    rusage used{};
    const pid_t ended = ::wait4(started.pid, &status, WNOHANG, &used);
    if (ended == 0) return std::nullopt;
    child_end end;
    end.signalled = true;
    if (ended < 0) return end;
    end.signalled = WIFSIGNALED(status);
    end.status_or_signal = end.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    end.user = duration(used.ru_utime);
    end.system = duration(used.ru_stime);
    // Linux counts it in KiB.
    end.max_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    return end;
}

bool is_stopped(const child& started) noexcept {
    siginfo_t found{};
    // Nobody else is told less by this: it is looked at and left.
    constexpr int look = WSTOPPED | WNOHANG | WNOWAIT;
    const auto pid = static_cast<id_t>(started.pid);
    return started.pid > 0 && ::waitid(P_PID, pid, &found, look) == 0 && found.si_pid != 0;
}

// The process itself too: it may have left its group.
bool signal_group(const child& started, int signal) noexcept {
    // kill(-1) would be everybody.
    const bool group = started.pid > 1 && ::kill(-started.pid, signal) == 0;
    const bool itself = started.pidfd >= 0 &&
                        ::syscall(SYS_pidfd_send_signal, started.pidfd, signal, nullptr, 0) == 0;
    return group || itself;
}

}  // namespace postal::os
