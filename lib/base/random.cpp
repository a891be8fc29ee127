// SPDX-License-Identifier: GPL-3.0-or-later
// getrandom(2) blocks only before the kernel's pool was first filled, which is over when a machine
// has booted, and fails only with a seccomp filter or a kernel older than 3.17.
#include "base/random.hpp"

#include "base/interrupted.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace postal::base {

std::uint64_t fresh_entropy() {
    std::uint64_t value = 0;
    // Requests of up to 256 octets are never cut short; a signal can only come before the first
    // one.
    while (true) {
        const ssize_t got = uninterrupted([&] { return ::getrandom(&value, sizeof value, 0); });
        if (got == static_cast<ssize_t>(sizeof value)) return value;
        if (got < 0) {
            throw std::system_error(errno, std::generic_category(), "getrandom");
        }
    }
}

}  // namespace postal::base
