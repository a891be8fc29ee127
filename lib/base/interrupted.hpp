// SPDX-License-Identifier: GPL-3.0-or-later
// System calls that a signal interrupts (EINTR) are made again, but not for ever: what is
// interrupted again and again fails with EINTR as with any other reason, and the thread hears of a
// stop meanwhile.
//
//     const ssize_t got = base::uninterrupted([&] { return ::read(file, into, size); });
#pragma once

#include <cerrno>

namespace postal::base {

inline constexpr unsigned most_interruptions = 100;

// What the call gave, with its errno: negative is a failure.
template <class Call>
auto uninterrupted(Call call) noexcept(noexcept(call())) {
    auto given = call();
    for (unsigned tries = 0; given < 0 && errno == EINTR && tries < most_interruptions; ++tries)
        given = call();
    return given;
}

}  // namespace postal::base
