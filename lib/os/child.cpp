// clone(2) on a stack of its own, and the child's way from there to its program.
//
// Between clone and exec the child runs in this process's memory, the calling thread's errno
// included, while that thread waits. It therefore makes raw system calls only: no lock, no
// allocation, no wrapper of the C library that would act on all threads (setresuid does), nothing
// that a sanitizer watches. Its first act is to leave the shared table of descriptors with a copy
// of the low ones (CLOSE_RANGE_UNSHARE), so that nothing it closes is closed for us. What fails is
// written where start() reads it. All signals are blocked until the child has default ones: a
// handler of ours must not run there.
#include "os/child.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

// The C library's clone(2) under the name that sanitizers leave alone: theirs takes every clone for
// a fork with a memory of its own.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace postal::os {
namespace {

// On 32 bits some of the numbers below name calls with identities of 16 bits.
static_assert(sizeof(long) == 8, "written for 64-bit Linux");

constexpr std::size_t stack_size = std::size_t{64} * 1024;
constexpr std::size_t kernel_set_size = 8;  // of a signal set, in octets
constexpr std::uint64_t no_signal = 0;
constexpr std::uint64_t all_signals = ~std::uint64_t{0};
constexpr int last_signal = 64;

enum class step { none, descriptors, group, signals, limits, user, directory, program };
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
    for (std::size_t i = 0; i < to.limit_count; ++i) {
        const kernel_limit wanted{to.limits[i].soft, to.limits[i].hard};
        const long result = ::syscall(SYS_prlimit64, 0, to.limits[i].resource, &wanted, nullptr);
        if (!done(to, step::limits, result)) return false;
    }
    return true;
}

// Real, effective and saved: there is no way back.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool change_user(handover& to) {
    if (to.user == nullptr) return true;
    const uid_t uid = to.user->uid;
    const gid_t gid = to.user->gid;
    return done(to, step::user,
                ::syscall(SYS_setgroups, to.user->groups.size(), to.user->groups.data())) &&
           done(to, step::user, ::syscall(SYS_setresgid, gid, gid, gid)) &&
           done(to, step::user, ::syscall(SYS_setresuid, uid, uid, uid));
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
    const bool prepared =
        take_descriptors(to) && done(to, step::group, ::syscall(SYS_setpgid, 0, 0)) &&
        reset_signals(to) && set_limits(to) && change_user(to) && bind_to_parent(to);
    if (prepared) run_program(to);
    ::syscall(SYS_exit_group, 127);
    return 127;
}

base::failure why(const handover& to) {
    const child_plan& plan = *to.plan;
    const std::string what = to.failed == step::user        ? to.user->name
                             : to.failed == step::directory ? base::printable(plan.directory, 200)
                                                            : base::printable(plan.program, 200);
    return base::fail("cannot {} {}: {}", attempts[static_cast<std::size_t>(to.failed)], what,
                      base::system_message(to.error));
}

// Makes the child, which shares our memory until it runs its program; that is when clone returns.
child make_child(handover& to, char* stack) {
    child made;
    constexpr int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | SIGCHLD;
    made.pid = ::__clone(child_main, stack + stack_size, flags, &to, &made.pidfd);
    if (made.pid < 0) {
        to.error = errno;
        return made;
    }
    if (to.failed == step::none) return made;
    // It is ending already: this waits for next to nothing.
    while (::waitpid(made.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::close(made.pidfd);
    return {};
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

base::expected<void> spawner::reserve() {
    const auto guard = static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
    void* const memory = ::mmap(nullptr, guard + stack_size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        return base::fail("no memory for a stack: {}", base::system_message(errno));
    }
    mapping_ = static_cast<char*>(memory);
    guard_ = guard;
    if (::mprotect(mapping_, guard, PROT_NONE) != 0) {
        return base::fail("cannot protect a stack: {}", base::system_message(errno));
    }
    null_ = base::file_descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const auto slot = [this] {
        return base::file_descriptor(::fcntl(null_.get(), F_DUPFD_CLOEXEC, 3));
    };
    if (null_.is_open()) input_slot_ = slot();
    if (input_slot_.is_open()) output_slot_ = slot();
    if (output_slot_.is_open()) return {};
    return base::fail("cannot open /dev/null: {}", base::system_message(errno));
}

spawner::spawner(spawner&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      guard_(other.guard_),
      null_(std::move(other.null_)),
      input_slot_(std::move(other.input_slot_)),
      output_slot_(std::move(other.output_slot_)),
      user_(other.user_),
      signals_(std::move(other.signals_)) {}

spawner::~spawner() {
    if (mapping_ != nullptr) ::munmap(mapping_, guard_ + stack_size);
}

base::expected<child> spawner::start(const child_plan& plan) {
    handover to;
    to.plan = &plan;
    // Who is that user already, and not root, may not even ask for it.
    const bool same = plan.run_as != nullptr && user_ != 0 && user_ == plan.run_as->uid;
    if (!same) to.user = plan.run_as;
    to.limits = plan.limits.data();
    to.limit_count = plan.limits.size();
    to.signals = signals_.data();
    to.signal_count = signals_.size();
    to.input_slot = input_slot_.get();
    to.output_slot = output_slot_.get();
    to.parent = ::getpid();

    // Raw, since the library's own would leave out the two signals that it uses itself.
    std::uint64_t mask = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_signals, &mask, kernel_set_size);
    child made;
    if (::dup3(plan.input, input_slot_.get(), O_CLOEXEC) >= 0 &&
        ::dup3(plan.output, output_slot_.get(), O_CLOEXEC) >= 0) {
        made = make_child(to, mapping_ + guard_);
    } else {
        to.failed = step::descriptors;
        to.error = errno;
    }
    // A pipe that a slot kept open would never seem to end.
    ::dup3(null_.get(), input_slot_.get(), O_CLOEXEC);
    ::dup3(null_.get(), output_slot_.get(), O_CLOEXEC);
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, kernel_set_size);
    if (made.pid < 0) return why(to);
    return made;
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

// The process itself too: it may have left its group.
bool signal_group(const child& started, int signal) noexcept {
    // kill(-1) would be everybody.
    const bool group = started.pid > 1 && ::kill(-started.pid, signal) == 0;
    const bool itself = started.pidfd >= 0 &&
                        ::syscall(SYS_pidfd_send_signal, started.pidfd, signal, nullptr, 0) == 0;
    return group || itself;
}

}  // namespace postal::os
