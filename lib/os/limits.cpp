// SPDX-License-Identifier: GPL-3.0-or-later
// Resource limits (getrlimit(2)): raised for this process, and read for children from a table.
//
// Whether a value above this process's hard limit may be had is for the kernel to say (root without
// CAP_SYS_RESOURCE, fs.nr_open), so the hard limit is raised and put back. RLIMIT_CPU kills without
// a word at the hard limit, so that is one second above the soft one, where it may be.
#include "os/limits.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>

namespace postal::os {
namespace {

base::expected<std::uint64_t> parse_seconds(std::string_view text) {
    const auto time = base::parse_duration(text);
    if (!time) return time.error();
    return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(*time).count());
}

base::expected<std::uint64_t> parse_octets(std::string_view text) {
    return base::parse_size(text);
}

struct kind {
    std::string_view name;
    int resource;
    base::expected<std::uint64_t> (*parse)(std::string_view);
    std::string_view unit;
    std::uint64_t least = 1;  // with less nothing would run
};

constexpr std::array<kind, 6> kinds{{{"cpu", RLIMIT_CPU, parse_seconds, " seconds"},
                                     {"memory", RLIMIT_AS, parse_octets, " octets"},
                                     {"files", RLIMIT_NOFILE, base::parse_count, ""},
                                     {"processes", RLIMIT_NPROC, base::parse_count, ""},
                                     {"file-size", RLIMIT_FSIZE, parse_octets, " octets"},
                                     {"core", RLIMIT_CORE, parse_octets, " octets", 0}}};
constexpr std::string_view examples =
    "cpu=30s, memory=512M, files=64, processes=100, file-size=2G and core=0";

limit now(int resource) {
    rlimit current{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &current) != 0) {
        current.rlim_cur = current.rlim_max = RLIM_INFINITY;
    }
    return {resource, current.rlim_cur, current.rlim_max};
}

bool set(const limit& wanted) {
    const rlimit value{wanted.soft, wanted.hard};
    return ::setrlimit(static_cast<__rlimit_resource>(wanted.resource), &value) == 0;
}

bool may_have(const limit& current, std::uint64_t value) {
    if (value <= current.hard) return true;
    if (!set({current.resource, current.soft, value})) return false;
    set(current);
    return true;
}

base::expected<limit> parse_one(const kind& which, std::string_view text) {
    const auto value = which.parse(text);
    if (!value) return base::at(which.name, value.error());
    if (*value < which.least) {
        return base::fail("{}: a limit of 0 would let nothing run; leave it away for no limit",
                          which.name);
    }
    const limit current = now(which.resource);
    if (!may_have(current, *value)) {
        return base::fail("{}: {}{} are more than the hard limit of this process, {}", which.name,
                          *value, which.unit, current.hard);
    }
    std::uint64_t hard = *value;
    if (which.resource == RLIMIT_CPU) {
        hard = std::max(*value, std::min(*value + 1, current.hard));
    }
    return limit{which.resource, *value, hard};
}

}  // namespace

base::expected<std::vector<limit>> parse_limits(std::string_view text) {
    std::vector<limit> limits;
    if (base::trim(text).empty()) return limits;
    for (const std::string_view item : base::split(text, ',')) {
        const std::size_t equals = item.find('=');
        const std::string_view name = base::trim(item.substr(0, equals));
        const auto* const which = std::find_if(kinds.begin(), kinds.end(),
                                               [&](const kind& one) { return one.name == name; });
        if (which == kinds.end()) {
            return base::fail("there is no limit '{}'; known are {}", base::printable(name, 40),
                              examples);
        }
        if (equals == std::string_view::npos) {
            return base::fail("{} has no value; give for instance cpu=30s,memory=512M,files=64",
                              name);
        }
        const bool twice = std::any_of(limits.begin(), limits.end(), [&](const limit& one) {
            return one.resource == which->resource;
        });
        if (twice) return base::fail("{} is limited twice", name);
        const auto one = parse_one(*which, base::trim(item.substr(equals + 1)));
        if (!one) return one.error();
        limits.push_back(*one);
    }
    return limits;
}

limit at_most(int resource, std::uint64_t value) noexcept {
    const std::uint64_t most = std::min<std::uint64_t>(value, now(resource).hard);
    return {resource, most, most};
}

limit current_descriptor_limit() noexcept {
    return now(RLIMIT_NOFILE);
}

base::expected<void> raise_descriptor_limit(std::uint64_t needed) {
    const limit current = now(RLIMIT_NOFILE);
    if (current.soft >= needed) return {};
    // The kernel allows a soft limit up to the hard one to everybody, a higher hard one to
    // CAP_SYS_RESOURCE, and nothing above fs.nr_open to anybody.
    if (set({RLIMIT_NOFILE, needed, std::max(current.hard, needed)})) return {};
    return base::fail(
        "{} open files are needed but the limit is {}; set it with 'ulimit -n {}' as root, or with "
        "LimitNOFILE={} in a systemd unit",
        needed, current.hard, needed, needed);
}

}  // namespace postal::os
