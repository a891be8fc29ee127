// RLIMIT_NOFILE, read and raised (getrlimit(2)).
//
// Both limits are asked for in one call: the kernel allows a soft limit up to the hard one to
// everybody, a higher hard one to CAP_SYS_RESOURCE, and nothing above fs.nr_open to anybody;
// whether this process may is for the kernel to say, not for us to guess. Fails with what to set.
#include "os/limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace postal::os {

std::uint64_t descriptor_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    return limit.rlim_cur;
}

base::expected<void> raise_descriptor_limit(std::uint64_t needed) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return base::fail("cannot read the limit of open files: {}", base::system_message(errno));
    }
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed) return {};

    rlimit wanted = limit;
    wanted.rlim_cur = needed;
    wanted.rlim_max = std::max<rlim_t>(limit.rlim_max, needed);
    if (::setrlimit(RLIMIT_NOFILE, &wanted) == 0) return {};
    return base::fail(
        "{} open files are needed but the limit is {}; set it with 'ulimit -n {}' as root, or with "
        "LimitNOFILE={} in a systemd unit",
        needed, limit.rlim_max, needed, needed);
}

}  // namespace postal::os
