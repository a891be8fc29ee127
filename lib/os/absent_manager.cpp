// SPDX-License-Identifier: GPL-3.0-or-later
// A build without libsystemd (POSTAL_SYSTEMD): what a service manager hands over is refused, and it
// is told nothing.
#include "os/service_manager.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace postal::os {

base::expected<std::vector<int>> passed_sockets() {
    const char* const whose = std::getenv("LISTEN_PID");
    if (whose != nullptr && whose == std::to_string(::getpid())) {
        return base::fail(
            "this build has no systemd and cannot take the sockets of the service manager");
    }
    return std::vector<int>{};
}

bool notify(std::string_view) {
    return false;
}

}  // namespace postal::os
