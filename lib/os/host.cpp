#include "os/host.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

namespace postal::os {

unsigned usable_cpus() noexcept {
    // A fixed cpu_set_t ends at 1024 processors; the kernel says EINVAL when a set is too small.
    for (int most = 1024; most <= 1 << 20; most *= 4) {
        cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(most));
        if (set == nullptr) break;
        const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
        const bool known = ::sched_getaffinity(0, size, set) == 0;
        const int count = known ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (known) return static_cast<unsigned>(std::max(1, count));
    }
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<unsigned>(online) : 1U;
}

base::host_info describe_host() {
    base::host_info host;
    utsname names{};
    if (::uname(&names) == 0) {
        host.name = names.nodename;
        host.kernel = std::string(names.sysname) + " " + names.release;
    }
    host.cpus = usable_cpus();
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page = ::sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && page > 0) {
        host.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
    }
    return host;
}

}  // namespace postal::os
