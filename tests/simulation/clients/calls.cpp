// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of the C library that come to clients::simulated_system while there is one, in place of the
// kernel. What is about descriptors that it did not give goes to the kernel.
//
// The program defines them, and so they come before the C library's, for what is linked into it and
// for the shared libraries alike; within the C library nothing changes.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/before_exec.hpp"
#include "system.hpp"

// The C library's clone(2), as lib/os/child.cpp calls it.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace {

using clients::simulated_system;
using std::chrono::nanoseconds;
using std::chrono::seconds;

template <class Function>
Function* real(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Who is asked in place of the kernel, if anybody is.
simulated_system* system_asked() noexcept {
    simulated_system* const one = simulated_system::current();
    if (one != nullptr) one->forget_scarcity();
    return one;
}

// The same, where the descriptor is its own.
simulated_system* below(int descriptor) noexcept {
    simulated_system* const one = system_asked();
    return one != nullptr && one->has(descriptor) ? one : nullptr;
}

nanoseconds duration(const timespec& of) noexcept {
    return seconds(of.tv_sec) + nanoseconds(of.tv_nsec);
}

// The run begins at a time of its own, of either clock.
constexpr nanoseconds begin_of_monotonic = std::chrono::hours(1000);
constexpr nanoseconds begin_of_real = seconds(1'790'000'000);
constexpr char run_delays[] = "/proc/thread-self/schedstat";
constexpr char own_descriptors[] = "/proc/self/fd/";

// From where it is read, to its end.
std::string all_of(int file) {
    std::string made;
    char some[16 * 1024];
    off_t at = lseek(file, 0, SEEK_CUR);
    ssize_t got = 0;
    while ((got = pread(file, some, sizeof some, at)) > 0) {
        made.append(some, static_cast<std::size_t>(got));
        at += got;
    }
    return made;
}

std::string recipient_of(const postal::os::child_plan& plan) {
    constexpr std::string_view name = "RECIPIENT=";
    for (char* const* one = plan.environment; *one != nullptr; ++one)
        if (std::string_view(*one).starts_with(name)) return *one + name.size();
    return {};
}

}  // namespace

#define REAL(name) static auto* const next = real(&::name, #name)

extern "C" {

int clock_gettime(clockid_t which, timespec* into) noexcept {
    REAL(clock_gettime);
    simulated_system* const one = system_asked();
    const bool simulated =
        which == CLOCK_MONOTONIC || which == CLOCK_REALTIME || which == CLOCK_THREAD_CPUTIME_ID;
    if (one == nullptr || !simulated) return next(which, into);
    const nanoseconds now =
        one->look_at_clock() + (which == CLOCK_REALTIME ? begin_of_real : begin_of_monotonic);
    into->tv_sec = static_cast<time_t>(now / seconds(1));
    into->tv_nsec = static_cast<long>((now % seconds(1)).count());
    return 0;
}

// What a run uses of a processor, and how long it waits for one, is the machine's: the clock for it
// says what the others say, and there is no file to ask. Files without a name are made in memory.
int open(const char* path, int flags, ...) {
    REAL(open);
    va_list rest;
    va_start(rest, flags);
    const auto mode = va_arg(rest, mode_t);
    va_end(rest);
    simulated_system* const one = system_asked();
    if (one == nullptr) return next(path, flags, mode);
    if (std::strcmp(path, run_delays) == 0) {
        errno = ENOENT;
        return -1;
    }
    if ((flags & O_TMPFILE) == O_TMPFILE) return memfd_create(path, MFD_CLOEXEC);
    const std::size_t before = sizeof own_descriptors - 1;
    if (std::strncmp(path, own_descriptors, before) != 0) return next(path, flags, mode);
    const int which = std::atoi(path + before);
    return one->has(which) ? one->open_again(which) : next(path, flags, mode);
}

int pipe2(int* ends, int flags) noexcept {
    REAL(pipe2);
    simulated_system* const one = system_asked();
    return one != nullptr ? one->make_pipe(ends) : next(ends, flags);
}

int fcntl(int which, int command, ...) {
    REAL(fcntl);
    va_list rest;
    va_start(rest, command);
    const long value = va_arg(rest, long);
    va_end(rest);
    return below(which) != nullptr ? 0 : next(which, command, value);
}

// Into the slots that children get their descriptors from.
int dup3(int from, int to, int flags) noexcept {
    REAL(dup3);
    return below(from) != nullptr ? to : next(from, to, flags);
}

// os::spawner's way to a child: what it hands over says what that would have run.
int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
    static auto* const next = real(&::__clone, "__clone");
    va_list rest;
    va_start(rest, argument);
    int* const handle = va_arg(rest, int*);
    void* const storage = va_arg(rest, void*);
    std::uint32_t* const word = va_arg(rest, std::uint32_t*);
    va_end(rest);
    simulated_system* const one = system_asked();
    if (one == nullptr) return next(function, stack, flags, argument, handle, storage, word);
    auto& to = *static_cast<postal::os::handover*>(argument);
    const clients::child_process* const made =
        one->start_child(to.plan->output, all_of(to.plan->input), recipient_of(*to.plan));
    if (made == nullptr) return -1;
    if (!made->ran()) {
        to.failed = postal::os::child_step::program;
        to.error = ENOENT;
    }
    *word = 0;  // it has left our memory
    *handle = made->handle;
    return made->pid;
}

pid_t wait4(pid_t which, int* status, int options, rusage* used) noexcept {
    REAL(wait4);
    simulated_system* const one = system_asked();
    return one != nullptr ? one->reap_child(which, status) : next(which, status, options, used);
}

// Whether it stands still.
int waitid(idtype_t type, id_t which, siginfo_t* found, int options) {
    REAL(waitid);
    simulated_system* const one = system_asked();
    if (one == nullptr) return next(type, which, found, options);
    const auto* const who = one->child_of(static_cast<pid_t>(which));
    if (who != nullptr && who->stopped && !who->over()) found->si_pid = who->pid;
    return 0;
}

int kill(pid_t which, int signal) noexcept {
    REAL(kill);
    simulated_system* const one = system_asked();
    return one != nullptr ? one->signal_child(one->child_of(-which), signal) : next(which, signal);
}

int epoll_create1(int flags) noexcept {
    REAL(epoll_create1);
    simulated_system* const one = system_asked();
    return one != nullptr ? one->make(true) : next(flags);
}

int epoll_ctl(int epoll, int operation, int which, epoll_event* event) noexcept {
    REAL(epoll_ctl);
    if (simulated_system* const one = below(epoll))
        return one->epoll_control(epoll, operation, which, event);
    return next(epoll, operation, which, event);
}

int epoll_wait(int epoll, epoll_event* events, int most, int milliseconds) {
    REAL(epoll_wait);
    if (simulated_system* const one = below(epoll))
        return one->wait(epoll, events, most, milliseconds);
    return next(epoll, events, most, milliseconds);
}

int timerfd_create(int clock, int flags) noexcept {
    REAL(timerfd_create);
    simulated_system* const one = system_asked();
    return one != nullptr ? one->make_timer() : next(clock, flags);
}

int timerfd_settime(int timer, int flags, const itimerspec* to, itimerspec* before) noexcept {
    REAL(timerfd_settime);
    simulated_system* const one = below(timer);
    if (one == nullptr) return next(timer, flags, to, before);
    const nanoseconds value = duration(to->it_value);
    const bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
    return one->set_timer(timer, absolute ? value - begin_of_monotonic : one->now() + value,
                          value.count() != 0);
}

int eventfd(unsigned count, int flags) noexcept {
    REAL(eventfd);
    simulated_system* const one = system_asked();
    return one != nullptr ? one->make_event(count) : next(count, flags);
}

int socket(int family, int type, int protocol) noexcept {
    REAL(socket);
    simulated_system* const one = system_asked();
    return one != nullptr ? one->make_socket() : next(family, type, protocol);
}

int connect(int which, const sockaddr* remote, socklen_t size) {
    REAL(connect);
    if (simulated_system* const one = below(which)) return one->connect(which, remote, size);
    return next(which, remote, size);
}

int bind(int which, const sockaddr* local, socklen_t size) noexcept {
    REAL(bind);
    return below(which) != nullptr ? 0 : next(which, local, size);
}

int listen(int which, int longest) noexcept {
    REAL(listen);
    simulated_system* const one = below(which);
    return one != nullptr ? one->listen(which) : next(which, longest);
}

int accept4(int which, sockaddr* remote, socklen_t* size, int flags) {
    REAL(accept4);
    if (simulated_system* const one = below(which)) return one->accept(which);
    return next(which, remote, size, flags);
}

int getsockopt(int which, int level, int name, void* value, socklen_t* size) noexcept {
    REAL(getsockopt);
    simulated_system* const one = below(which);
    if (one == nullptr) return next(which, level, name, value, size);
    *static_cast<int*>(value) = name == SO_ERROR ? one->pending_error(which) : 0;
    return 0;
}

int setsockopt(int which, int level, int name, const void* value, socklen_t size) noexcept {
    REAL(setsockopt);
    return below(which) != nullptr ? 0 : next(which, level, name, value, size);
}

int getpeername(int which, sockaddr* into, socklen_t* size) noexcept {
    REAL(getpeername);
    if (simulated_system* const one = below(which)) return one->remote_of(which, into, size);
    return next(which, into, size);
}

int getsockname(int which, sockaddr* into, socklen_t* size) noexcept {
    REAL(getsockname);
    if (below(which) == nullptr) return next(which, into, size);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(25);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(into, &here, std::min<std::size_t>(*size, sizeof here));
    *size = sizeof here;
    return 0;
}

int shutdown(int which, int how) noexcept {
    REAL(shutdown);
    if (simulated_system* const one = below(which)) return one->shut(which);
    return next(which, how);
}

int close(int which) {
    REAL(close);
    if (simulated_system* const one = below(which)) return one->close(which);
    return next(which);
}

ssize_t read(int which, void* into, std::size_t size) {
    REAL(read);
    if (simulated_system* const one = below(which)) return one->read_event(which, into, size);
    return next(which, into, size);
}

ssize_t write(int which, const void* from, std::size_t size) {
    REAL(write);
    if (which == STDERR_FILENO) return static_cast<ssize_t>(size);  // lmtp-deliver's log
    if (simulated_system* const one = below(which)) return one->write_event(which, from, size);
    return next(which, from, size);
}

ssize_t recv(int which, void* into, std::size_t size, int flags) {
    REAL(recv);
    if (simulated_system* const one = below(which)) return one->receive(which, into, size, flags);
    return next(which, into, size, flags);
}

ssize_t sendmsg(int which, const msghdr* message, int flags) {
    REAL(sendmsg);
    simulated_system* const one = below(which);
    if (one == nullptr) return next(which, message, flags);
    return one->send(which, {message->msg_iov, message->msg_iovlen});
}

int poll(pollfd* asked, nfds_t many, int milliseconds) {
    REAL(poll);
    simulated_system* const one = many == 1 ? below(asked->fd) : nullptr;
    if (one == nullptr) return next(asked, many, milliseconds);
    asked->revents =
        static_cast<short>(one->polled(asked->fd) & (asked->events | POLLERR | POLLHUP));
    return asked->revents != 0 ? 1 : 0;
}

int ioctl(int which, unsigned long request, ...) noexcept {
    REAL(ioctl);
    va_list rest;
    va_start(rest, request);
    void* const value = va_arg(rest, void*);
    va_end(rest);
    simulated_system* const one = below(which);
    if (one == nullptr) return next(which, request, value);
    if (request == SIOCINQ) *static_cast<int*>(value) = one->unread(which);
    if (request == SIOCOUTQ) *static_cast<int*>(value) = one->unsent(which);
    return 0;
}

// net::connection says recvfrom and sendto this way.
long syscall(long number, ...) noexcept {
    REAL(syscall);
    va_list rest;
    va_start(rest, number);
    long of[6];
    for (long& one : of)
        one = va_arg(rest, long);
    va_end(rest);
    const bool octets = number == SYS_recvfrom || number == SYS_sendto;
    const int which = static_cast<int>(of[0]);
    if (simulated_system* const its = below(which);
        its != nullptr && number == SYS_pidfd_send_signal)
        return its->signal_child(its->child_at(which), static_cast<int>(of[1]));
    simulated_system* const one = octets ? below(which) : nullptr;
    if (one == nullptr) return next(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    auto* const at = reinterpret_cast<char*>(of[1]);
    const auto size = static_cast<std::size_t>(of[2]);
    if (number == SYS_recvfrom) return one->receive(which, at, size, static_cast<int>(of[3]));
    const iovec all{at, size};
    return one->send(which, {&all, 1});
}

}  // extern "C"
