// SPDX-License-Identifier: GPL-3.0-or-later
// Between clone and exec the child runs in the memory of the process that started it, the calling
// thread's errno included, while that thread waits for it (but in may_run(), where it goes on). It
// therefore makes raw system calls only: no lock, no allocation, no wrapper of the C library that
// would act on all threads (setresuid does), nothing that a sanitizer watches. Before it touches a
// descriptor it leaves their shared table with a copy of the low ones (CLOSE_RANGE_UNSHARE), so
// that nothing it closes is closed for us. What fails is written where spawner::start() reads it.
// All signals are blocked until the child has default ones: a handler of ours must not run there.
#include "os/before_exec.hpp"

#include <linux/close_range.h>
#include <linux/futex.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace postal::os {
namespace {

// On 32 bits some of the numbers below name calls with identities of 16 bits.
static_assert(sizeof(long) == 8, "written for 64-bit Linux");

constexpr std::uint64_t no_signal = 0;

// As prlimit64 has it.
struct kernel_limit {
    std::uint64_t soft = 0;
    std::uint64_t hard = 0;
};

// As rt_sigaction has it, or larger: all zero is the default everywhere.
struct kernel_action {
    std::uint64_t words[8] = {};
};

__attribute__((no_sanitize("address", "thread", "undefined"))) bool done(handover& to,
                                                                         child_step now,
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
    if (to.new_session && to.permission != nullptr) return true;  // may_run() has
    if (to.new_session) return done(to, child_step::group, ::syscall(SYS_setsid));
    if (to.terminal >= 0 &&
        !done(to, child_step::group, ::syscall(SYS_ioctl, to.terminal, TIOCNOTTY, 0))) {
        return false;
    }
    return done(to, child_step::group, ::syscall(SYS_setpgid, 0, 0));
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool take_descriptors(handover& to) {
    const int highest = to.input_slot > to.output_slot ? to.input_slot : to.output_slot;
    constexpr child_step now = child_step::descriptors;
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
        if (!done(to, child_step::signals, result)) return false;
    }
    return true;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool set_limits(handover& to) {
    if (to.plan->file_mask) ::syscall(SYS_umask, *to.plan->file_mask);
    for (std::size_t i = 0; i < to.limit_count; ++i) {
        const kernel_limit wanted{to.limits[i].soft, to.limits[i].hard};
        const long result = ::syscall(SYS_prlimit64, 0, to.limits[i].resource, &wanted, nullptr);
        if (!done(to, child_step::limits, result)) return false;
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
    return done(to, child_step::user,
                ::syscall(SYS_setgroups, to.user->groups.size(), to.user->groups.data())) &&
           done(to, child_step::user, ::syscall(SYS_setresgid, gid, gid, gid)) &&
           done(to, child_step::user, ::syscall(SYS_setresuid, uid, uid, uid)) &&
           done(to, child_step::user, ::syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));
}

// A change of user would undo it. Who became an orphan before it was asked for is told by nobody.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool bind_to_parent(handover& to) {
    if (!to.plan->ends_with_parent) return true;
    return done(to, child_step::signals,
                ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0)) &&
           ::syscall(SYS_getppid) == to.parent;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool run_program(handover& to) {
    const child_plan& plan = *to.plan;
    if (plan.directory != nullptr &&
        !done(to, child_step::directory, ::syscall(SYS_chdir, plan.directory))) {
        return false;
    }
    return done(to, child_step::signals,
                ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signal, nullptr, kernel_set_size)) &&
           done(to, child_step::program,
                ::syscall(SYS_execve, plan.program, plan.argv, plan.environment));
}

// The first thing that it does. Its parent's thread goes on meanwhile, which is why this makes only
// calls that cannot fail: a failure would write that thread's errno. Should the parent be killed,
// the kernel kills the child, which then has run nothing of its program.
__attribute__((no_sanitize("address", "thread", "undefined"))) bool may_run(handover& to) {
    if (to.permission == nullptr) return true;
    if (to.new_session) ::syscall(SYS_setsid);
    ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (::syscall(SYS_getppid) != to.parent) return false;
    constexpr auto awaited = static_cast<std::uint32_t>(permission::awaited);
    std::uint32_t now = awaited;
    while ((now = __atomic_load_n(to.permission, __ATOMIC_ACQUIRE)) == awaited)
        ::syscall(SYS_futex, to.permission, FUTEX_WAIT, awaited, nullptr, nullptr, 0);
    ::syscall(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0);
    return now == static_cast<std::uint32_t>(permission::given);
}

}  // namespace

__attribute__((no_sanitize("address", "thread", "undefined"))) int run_before_exec(void* argument) {
    handover& to = *static_cast<handover*>(argument);
    const bool prepared = may_run(to) && leave_group(to) && take_descriptors(to) &&
                          reset_signals(to) && set_limits(to) && change_user(to) &&
                          bind_to_parent(to);
    if (prepared) run_program(to);
    ::syscall(SYS_exit_group, 127);
    return 127;
}

}  // namespace postal::os
