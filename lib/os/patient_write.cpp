// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/patient_write.hpp"

#include "base/interrupted.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace postal::os {

// A pipe that is ready takes PIPE_BUF octets at once (pipe(7)).
bool write_patiently(int descriptor, std::string_view text, std::chrono::milliseconds patience) {
    while (!text.empty()) {
        pollfd one{descriptor, POLLOUT, 0};
        const int ready = base::uninterrupted(
            [&] { return ::poll(&one, 1, static_cast<int>(patience.count())); });
        if (ready <= 0) return false;
        const ssize_t written = base::uninterrupted([&] {
            return ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        });
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace postal::os
