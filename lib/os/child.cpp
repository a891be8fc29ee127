// SPDX-License-Identifier: GPL-3.0-or-later
// clone(2) on a stack of its own, and the child's way from there to its program.
//
// Between clone and exec the child runs in this process's memory, the calling thread's errno
// included, while that thread waits. It therefore makes raw system calls only: no lock, no
// allocation, no wrapper of the C library that would act on all threads (setresuid does), nothing
// that a sanitizer watches. Its first act is to leave the shared table of descriptors with a copy
// of the low ones (CLOSE_RANGE_UNSHARE), so that nothing it closes is closed for us. What fails is
// written where start() reads it. All signals are blocked until the child has default ones: a
// handler of ours must not run there.
//
// The thread waits for a word that the kernel clears when the child leaves our memory, by its exec
// or its end (CLONE_CHILD_CLEARTID), and not for the kernel itself as vfork does, which no clock
// ends: once the child has its user's identity, any process of that user may stop it. A child that
// was killed on its way runs no instruction of ours any more, so what start() was given may go even
// while the kernel holds on to it. Only the word and the stack stay, as a leftover.
#include "os/child.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

// On 32 bits some of the numbers below name calls with identities of 16 bits.
static_assert(sizeof(long) == 8, "written for 64-bit Linux");

using namespace std::chrono_literals;

constexpr std::size_t stack_size = std::size_t{64} * 1024;
constexpr std::size_t word_size = 64;  // a line of the cache for itself
// A start takes a tenth of a millisecond; on a machine with twenty ready threads for each
// processor, or with the program on a busy disk, more than a second now and then.
constexpr auto longest_start = std::chrono::seconds(5);
constexpr auto first_look = std::chrono::milliseconds(1);  // whether the child was stopped; later
constexpr auto looks_apart = std::chrono::milliseconds(16);
constexpr int patience_after_kill_ms = 200;
constexpr std::size_t kernel_set_size = 8;  // of a signal set, in octets
constexpr std::uint64_t no_signal = 0;
constexpr std::uint64_t all_signals = ~std::uint64_t{0};
constexpr int last_signal = 64;

enum class step { none, descriptors, group, signals, limits, user, directory, program, late };
constexpr std::string_view attempts[]{"make a process for",       "arrange the descriptors of",
                                      "make a process group for", "reset the signals of",
                                      "set the limits of",        "change to user",
                                      "change to directory",      "run"};

// What the child needs, and where it leaves why it could not run.
struct handover {
    const child_plan* plan = nullptr;
    const system_user* user = nullptr;  // null: nothing to change
    const limit* limits = nullptr;
    std::size_t limit_count = 0;
    const int* signals = nullptr;
    std::size_t signal_count = 0;
    int terminal = -1;  // ours
    bool new_session = false;
    int input_slot = -1;
    int output_slot = -1;
    pid_t parent = -1;
    step failed = step::none;
    int error = 0;
};

// As prlimit64 has it.
struct kernel_limit {
    std::uint64_t soft = 0;
    std::uint64_t hard = 0;
};

// As rt_sigaction has it, or larger: all zero is the default everywhere.
struct kernel_action {
    std::uint64_t words[8] = {};
};

__attribute__((no_sanitize("address", "thread", "undefined"))) bool done(handover& to, step now,
                                                                         long result) {
    if (result >= 0) return true;
    to.failed = now;
    to.error = errno;
    return false;
}

// Whose terminal is ours may type into it (TIOCSTI). A session of its own would do, too, but costs
// more than all the rest (the kernel makes it a group for its scheduler), and on a busy machine the
// child then waits its turn against whole other sessions.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool leave_group(handover& to) {
    if (to.new_session) return done(to, step::group, ::syscall(SYS_setsid));
    if (to.terminal >= 0 &&
        !done(to, step::group, ::syscall(SYS_ioctl, to.terminal, TIOCNOTTY, 0))) {
        return false;
    }
    return done(to, step::group, ::syscall(SYS_setpgid, 0, 0));
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool take_descriptors(handover& to) {
    const int highest = to.input_slot > to.output_slot ? to.input_slot : to.output_slot;
    constexpr step now = step::descriptors;
    return done(to, now, ::syscall(SYS_close_range, highest + 1, ~0U, CLOSE_RANGE_UNSHARE)) &&
           done(to, now, ::syscall(SYS_dup3, to.input_slot, 0, 0)) &&
           done(to, now, ::syscall(SYS_dup3, to.output_slot, 1, 0)) &&
           done(to, now, ::syscall(SYS_dup3, to.output_slot, 2, 0)) &&
           done(to, now, ::syscall(SYS_close_range, 3, ~0U, 0));
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool reset_signals(handover& to) {
    const kernel_action by_default{};
    for (std::size_t i = 0; i < to.signal_count; ++i) {
        const long result =
            ::syscall(SYS_rt_sigaction, to.signals[i], &by_default, nullptr, kernel_set_size);
        if (!done(to, step::signals, result)) return false;
    }
    return true;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool set_limits(handover& to) {
    if (to.plan->file_mask) ::syscall(SYS_umask, *to.plan->file_mask);
    for (std::size_t i = 0; i < to.limit_count; ++i) {
        const kernel_limit wanted{to.limits[i].soft, to.limits[i].hard};
        const long result = ::syscall(SYS_prlimit64, 0, to.limits[i].resource, &wanted, nullptr);
        if (!done(to, step::limits, result)) return false;
    }
    return true;
}

// Real, effective and saved: there is no way back. Where fs.suid_dumpable is 2 a signal of that
// user's could make the child leave a core, for which kernels before 5.16 end all who share its
// memory.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool change_user(handover& to) {
    if (to.user == nullptr) return true;
    const uid_t uid = to.user->uid;
    const gid_t gid = to.user->gid;
    return done(to, step::user,
                ::syscall(SYS_setgroups, to.user->groups.size(), to.user->groups.data())) &&
           done(to, step::user, ::syscall(SYS_setresgid, gid, gid, gid)) &&
           done(to, step::user, ::syscall(SYS_setresuid, uid, uid, uid)) &&
           done(to, step::user, ::syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));
}

// A change of user would undo it. Who became an orphan before it was asked for is told by nobody.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool bind_to_parent(handover& to) {
    if (!to.plan->ends_with_parent) return true;
    return done(to, step::signals, ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0)) &&
           ::syscall(SYS_getppid) == to.parent;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool run_program(handover& to) {
    const child_plan& plan = *to.plan;
    if (plan.directory != nullptr &&
        !done(to, step::directory, ::syscall(SYS_chdir, plan.directory))) {
        return false;
    }
    return done(to, step::signals,
                ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signal, nullptr, kernel_set_size)) &&
           done(to, step::program,
                ::syscall(SYS_execve, plan.program, plan.argv, plan.environment));
}

__attribute__((no_sanitize("address", "thread", "undefined"))) int child_main(void* argument) {
    handover& to = *static_cast<handover*>(argument);
    const bool prepared = leave_group(to) && take_descriptors(to) && reset_signals(to) &&
                          set_limits(to) && change_user(to) && bind_to_parent(to);
    if (prepared) run_program(to);
    ::syscall(SYS_exit_group, 127);
    return 127;
}

base::failure why(const handover& to) {
    const child_plan& plan = *to.plan;
    if (to.failed == step::late) {
        return base::fail("cannot start {}: it {} and was killed",
                          base::printable(plan.program, 200),
                          to.error == ECANCELED ? "was stopped by another process of its user"
                                                : "did not run within 5 seconds");
    }
    const std::string what = to.failed == step::user        ? to.user->name
                             : to.failed == step::directory ? base::printable(plan.directory, 200)
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

// Makes the child, which shares our memory until it runs its program, and waits for that. Its pid
// is -1 when there is none; what could not run its program is to be cleared away.
child make_child(handover& to, char* stack, std::uint32_t* word) {
    child made;
    *word = 1;
    constexpr int flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | CLONE_CHILD_CLEARTID | SIGCHLD;
    made.pid = ::__clone(child_main, stack, flags, &to, &made.pidfd, nullptr, word);
    if (made.pid < 0) {
        to.error = errno;
        return made;
    }
    const departure how = await_departure(made, word);
    if (how == departure::gone) return made;
    // Should it run its program after all in this moment, that ends with it.
    signal_group(made, SIGKILL);
    to.failed = step::late;
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
    return mapping_ + page_size() + stack_size - word_size;
}

std::uint32_t* spawner::ground::shared() const noexcept {
    return static_cast<std::uint32_t*>(static_cast<void*>(stack()));
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

    // Raw, since the library's own would leave out the two signals that it uses itself.
    std::uint64_t mask = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_signals, &mask, kernel_set_size);
    child made;
    if (::dup3(plan.input, input_slot_.get(), O_CLOEXEC) >= 0 &&
        ::dup3(plan.output, output_slot_.get(), O_CLOEXEC) >= 0) {
        made = make_child(to, ground_.stack(), ground_.shared());
    } else {
        to.failed = step::descriptors;
        to.error = errno;
    }
    // A pipe that a slot kept open would never seem to end.
    ::dup3(null_.get(), input_slot_.get(), O_CLOEXEC);
    ::dup3(null_.get(), output_slot_.get(), O_CLOEXEC);
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, kernel_set_size);
    if (made.pid >= 0 && to.failed == step::none) return made;
    if (made.pid >= 0) clear_away(made);
    return why(to);
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
