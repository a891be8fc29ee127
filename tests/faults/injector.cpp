// SPDX-License-Identifier: GPL-3.0-or-later
// Makes allocations and system calls of a program fail: what LD_PRELOAD puts before the C library.
// A test tool.
//
// POSTAL_FAULT, words of the form key=value separated by blanks:
//   begin=start|main|listen|connect   from when on is counted: the program's static objects, main(), the first such call
//   fail=allocation|NAME        an allocation (malloc and its kin, and with them operator new), or a call of `calls`
//   nth=N                       the first that fails, from 1; 0 counts and lets all succeed
//   times=N                     so many fail, one after the other; 0: all from then on
//   errno=N                     what a failed call says
//   path=END                    only calls that open a path which ends so; "open" is open64 and openat, too
//   kind=eventfd|socket|file|pipe|epoll    only calls whose descriptor is one; others are not counted
//   counts=FILE                 16 octets for the two numbers below, which whoever started the program may read
//
// Children are left alone: the words and LD_PRELOAD are taken out of the environment at once.
// Nothing here allocates. An allocation fails with ENOMEM in whichever thread comes to it; which
// one is the Nth is certain only where one thread allocates.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
int __clone(int (*)(void*), void*, int, void*,
            ...) noexcept;  // clone(2) for whom sanitizers are in the way
}

namespace {

struct counts {
    std::atomic<std::uint64_t> seen{0};  // since the beginning
    std::atomic<std::uint64_t> failed{0};
};
static_assert(sizeof(counts) == 16);

constexpr std::uint64_t most_descriptors = 4096;

char begin_at[16];
char fails[32];
char only_kind[16];
char only_path[256];
std::uint64_t first = 0;
std::uint64_t times = 1;
int error_number = ENOMEM;
counts own_counts;
counts* counted = &own_counts;
std::atomic<bool> counting{false};
bool allocations = false;
std::atomic<bool> eventfds[most_descriptors];

// ---- the words ----

const char* value_of(const char* word, const char* key) {
    const std::size_t size = std::strlen(key);
    return std::strncmp(word, key, size) == 0 && word[size] == '=' ? word + size + 1 : nullptr;
}

template <std::size_t Size>
void take(const char* word, const char* key, char (&into)[Size]) {
    if (const char* value = value_of(word, key)) std::strncpy(into, value, Size - 1);
}

void take(const char* word, const char* key, std::uint64_t& into) {
    if (const char* value = value_of(word, key)) into = std::strtoull(value, nullptr, 10);
}

// The library's syscall(): ours stands before it.
template <class... Arguments>
long kernel(long number, Arguments... given) {
    static auto* const own = reinterpret_cast<long (*)(long, ...)>(::dlsym(RTLD_NEXT, "syscall"));
    return own(number, given...);
}

void share_counts(const char* path) {
    const long file = kernel(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return;
    void* const mapped = reinterpret_cast<void*>(
        kernel(SYS_mmap, nullptr, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    if (mapped != MAP_FAILED) counted = static_cast<counts*>(mapped);
    kernel(SYS_close, file);
}

__attribute__((constructor)) void read_words() {
    const char* given = std::getenv("POSTAL_FAULT");
    if (given == nullptr) return;
    static char words[4096];
    static char counts_file[1024];
    std::strncpy(words, given, sizeof words - 1);
    std::uint64_t number = ENOMEM;
    char* rest = nullptr;
    for (char* word = strtok_r(words, " ", &rest); word != nullptr;
         word = strtok_r(nullptr, " ", &rest)) {
        take(word, "begin", begin_at);
        take(word, "fail", fails);
        take(word, "kind", only_kind);
        take(word, "path", only_path);
        take(word, "counts", counts_file);
        take(word, "nth", first);
        take(word, "times", times);
        take(word, "errno", number);
    }
    error_number = static_cast<int>(number);
    allocations = std::strcmp(fails, "allocation") == 0;
    if (counts_file[0] != '\0') share_counts(counts_file);
    ::unsetenv("POSTAL_FAULT");
    ::unsetenv("LD_PRELOAD");
}

void begins(const char* what) {
    if (std::strcmp(begin_at, what) == 0) counting.store(true, std::memory_order_relaxed);
}

// ---- which one fails ----

bool fails_now() {
    const std::uint64_t number = counted->seen.fetch_add(1, std::memory_order_relaxed) + 1;
    if (first == 0 || number < first || (times != 0 && number >= first + times)) return false;
    counted->failed.fetch_add(1, std::memory_order_relaxed);
    return true;
}

bool allocation_fails() {
    if (!allocations || !counting.load(std::memory_order_relaxed) || !fails_now()) return false;
    errno = ENOMEM;
    return true;
}

bool is_eventfd(int descriptor) {
    const auto place = static_cast<std::size_t>(descriptor);
    return place < most_descriptors && eventfds[place].load(std::memory_order_relaxed);
}

bool is_wanted(int descriptor) {
    if (only_kind[0] == '\0') return true;
    if (std::strcmp(only_kind, "eventfd") == 0) return is_eventfd(descriptor);
    struct stat found {};
    if (kernel(SYS_fstat, descriptor, &found) != 0) return false;
    if (std::strcmp(only_kind, "socket") == 0) return S_ISSOCK(found.st_mode);
    if (std::strcmp(only_kind, "file") == 0) return S_ISREG(found.st_mode);
    return std::strcmp(only_kind, "pipe") == 0 && S_ISFIFO(found.st_mode);
}

bool call_fails(const char* name, int descriptor) {
    if (allocations || !counting.load(std::memory_order_relaxed)) return false;
    return std::strcmp(fails, name) == 0 && is_wanted(descriptor) && fails_now();
}

// The call of that name, which opens a path.
bool opening_fails(const char* name, const char* path) {
    if (only_path[0] == '\0') return call_fails(name, -1);
    const std::size_t size = std::strlen(path);
    const std::size_t end = std::strlen(only_path);
    return size >= end && std::strcmp(path + (size - end), only_path) == 0 &&
           call_fails("open", -1);
}

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The call of that name, which fails or does what it always does.
template <auto Ours, class... Arguments>
auto call_unless(bool failing, const char* name, Arguments... given) -> decltype(Ours(given...)) {
    using result = decltype(Ours(given...));
    static auto* const own = real<std::remove_pointer_t<decltype(Ours)>>(name);
    if (!failing) return own(given...);
    errno = error_number;
    return static_cast<result>(-1);
}
template <auto Ours, class... Arguments>
auto call(const char* name, int descriptor, Arguments... given) -> decltype(Ours(given...)) {
    return call_unless<Ours>(call_fails(name, descriptor), name, given...);
}

}  // namespace

// ---- what is put before the library's ----

extern "C" {

void* malloc(std::size_t size) {
    return allocation_fails() ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    return allocation_fails() ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
    return size != 0 && allocation_fails() ? nullptr : __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
    return allocation_fails() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return allocation_fails() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** into, std::size_t alignment, std::size_t size) {
    if (allocation_fails()) return ENOMEM;
    void* const made = __libc_memalign(alignment, size);
    if (made == nullptr) return ENOMEM;
    *into = made;
    return 0;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*linker)(), void* stack) {
    static auto* const own_main = main;
    begins("start");
    const auto marked = [](int count, char** words, char** environment) {
        begins("main");
        return own_main(count, words, environment);
    };
    return real<decltype(__libc_start_main)>("__libc_start_main")(marked, argc, argv, init, fini,
                                                                  linker, stack);
}

int listen(int socket, int queue) noexcept {
    const int done = call<&listen>("listen", socket, socket, queue);
    begins("listen");
    return done;
}
int connect(int socket, const sockaddr* where, socklen_t size) {
    begins("connect");
    return call<&connect>("connect", socket, socket, where, size);
}
int socket(int family, int type, int protocol) noexcept {
    return call<&socket>("socket", -1, family, type, protocol);
}
int accept4(int listener, sockaddr* who, socklen_t* size, int flags) {
    return call<&accept4>("accept4", listener, listener, who, size, flags);
}
ssize_t send(int socket, const void* octets, std::size_t size, int flags) {
    return call<&send>("send", socket, socket, octets, size, flags);
}
ssize_t sendmsg(int socket, const msghdr* what, int flags) {
    return call<&sendmsg>("sendmsg", socket, socket, what, flags);
}
ssize_t recv(int socket, void* into, std::size_t size, int flags) {
    return call<&recv>("recv", socket, socket, into, size, flags);
}
ssize_t recvmsg(int socket, msghdr* into, int flags) {
    return call<&recvmsg>("recvmsg", socket, socket, into, flags);
}
ssize_t __recv_chk(int socket, void* into, std::size_t size, std::size_t, int flags) {
    return recv(socket, into, size, flags);
}
ssize_t read(int descriptor, void* into, std::size_t size) {
    return call<&read>("read", descriptor, descriptor, into, size);
}
ssize_t __read_chk(int descriptor, void* into, std::size_t size, std::size_t) {
    return read(descriptor, into, size);
}
ssize_t pread64(int descriptor, void* into, std::size_t size, off64_t where) {
    return call<&pread64>("pread64", descriptor, descriptor, into, size, where);
}
ssize_t write(int descriptor, const void* octets, std::size_t size) {
    return call<&write>("write", descriptor, descriptor, octets, size);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
    return call<&writev>("writev", descriptor, descriptor, parts, count);
}
ssize_t pwrite64(int descriptor, const void* octets, std::size_t size, off64_t where) {
    return call<&pwrite64>("pwrite64", descriptor, descriptor, octets, size, where);
}
int fsync(int file) {
    return call<&fsync>("fsync", file, file);
}
int fdatasync(int file) {
    return call<&fdatasync>("fdatasync", file, file);
}
int rename(const char* from, const char* to) noexcept {
    return call<&rename>("rename", -1, from, to);
}
int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const auto mode = va_arg(more, mode_t);
    va_end(more);
    return call_unless<&open64>(opening_fails("open", path), "open", path, flags, mode);
}
int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const auto mode = va_arg(more, mode_t);
    va_end(more);
    return call_unless<&open>(opening_fails("open", path), "open", path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const auto mode = va_arg(more, mode_t);
    va_end(more);
    return call_unless<&openat>(opening_fails("openat", path), "openat", folder, path, flags, mode);
}
void* mmap(void* where, std::size_t size, int rights, int flags, int file, off_t offset) noexcept {
    if (!call_fails("mmap", file)) {
        return reinterpret_cast<void*>(kernel(SYS_mmap, where, size, rights, flags, file, offset));
    }
    errno = error_number;
    return MAP_FAILED;
}
void* mmap64(void* where, std::size_t size, int rights, int flags, int file,
             off64_t offset) noexcept {
    return mmap(where, size, rights, flags, file, offset);
}
int epoll_create1(int flags) noexcept {
    return call<&epoll_create1>("epoll_create1", -1, flags);
}
int epoll_ctl(int set, int what, int descriptor, epoll_event* event) noexcept {
    return call<&epoll_ctl>("epoll_ctl", descriptor, set, what, descriptor, event);
}
int epoll_wait(int set, epoll_event* events, int most, int timeout) {
    return call<&epoll_wait>("epoll_wait", set, set, events, most, timeout);
}
int eventfd(unsigned value, int flags) noexcept {
    const int made = call<&eventfd>("eventfd", -1, value, flags);
    const auto place = static_cast<std::size_t>(made);
    if (made >= 0 && place < most_descriptors)
        eventfds[place].store(true, std::memory_order_relaxed);
    return made;
}
int timerfd_create(clockid_t clock, int flags) noexcept {
    return call<&timerfd_create>("timerfd_create", -1, clock, flags);
}
int timerfd_settime(int timer, int flags, const itimerspec* when, itimerspec* before) noexcept {
    return call<&timerfd_settime>("timerfd_settime", timer, timer, flags, when, before);
}
int pipe2(int ends[2], int flags) noexcept {
    return call<&pipe2>("pipe2", -1, ends, flags);
}
int clone(int (*body)(void*), void* stack, int flags, void* argument, ...) noexcept {
    va_list more;
    va_start(more, argument);
    auto* const parent = va_arg(more, pid_t*);
    void* const storage = va_arg(more, void*);
    auto* const child = va_arg(more, pid_t*);
    va_end(more);
    return call<&clone>("clone", -1, body, stack, flags, argument, parent, storage, child);
}
int __clone(int (*body)(void*), void* stack, int flags, void* argument, ...) noexcept {
    va_list more;
    va_start(more, argument);
    auto* const parent = va_arg(more, pid_t*);
    void* const storage = va_arg(more, void*);
    auto* const child = va_arg(more, pid_t*);
    va_end(more);
    return call<&__clone>("clone", -1, body, stack, flags, argument, parent, storage, child);
}
// The two that the programs call without the library's wrappers, and all others.
long syscall(long number, ...) noexcept {
    va_list more;
    va_start(more, number);
    long given[6];
    for (long& one : given)
        one = va_arg(more, long);
    va_end(more);
    const auto descriptor = static_cast<int>(given[0]);
    const bool fails_here = (number == SYS_sendto && call_fails("send", descriptor)) ||
                            (number == SYS_recvfrom && call_fails("recv", descriptor));
    if (!fails_here) {
        return kernel(number, given[0], given[1], given[2], given[3], given[4], given[5]);
    }
    errno = error_number;
    return -1;
}
int close(int descriptor) {
    const auto place = static_cast<std::size_t>(descriptor);
    if (place < most_descriptors) eventfds[place].store(false, std::memory_order_relaxed);
    return static_cast<int>(kernel(SYS_close, descriptor));
}
int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*body)(void*),
                   void* argument) noexcept {
    if (call_fails("pthread_create", -1)) return error_number;
    static auto* const own = real<decltype(pthread_create)>("pthread_create");
    return own(made, how, body, argument);
}
}
