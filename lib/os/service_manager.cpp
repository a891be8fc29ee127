// SPDX-License-Identifier: GPL-3.0-or-later
// libsystemd's sd_listen_fds, sd_is_socket and sd_notify.
//
// Sockets are checked before anybody accepts on them: a unit with ListenDatagram=, Accept=yes or a
// FIFO passes descriptors that would only fail in the middle of a run.
#include "os/service_manager.hpp"

#include <sys/socket.h>

#include <systemd/sd-daemon.h>
#include <string>

namespace postal::os {

base::expected<std::vector<int>> passed_sockets() {
    constexpr int unset_environment = 1;
    constexpr int listening = 1;
    const int count = ::sd_listen_fds(unset_environment);
    if (count < 0) {
        return base::fail("cannot take the sockets of the service manager: {}",
                          base::system_message(-count));
    }
    std::vector<int> sockets;
    for (int socket = SD_LISTEN_FDS_START; socket < SD_LISTEN_FDS_START + count; ++socket) {
        const int fits = ::sd_is_socket(socket, AF_UNSPEC, SOCK_STREAM, listening);
        if (fits <= 0) {
            return base::fail(
                "descriptor {} of the service manager is not a listening stream socket; the unit "
                "needs ListenStream= and Accept=no",
                socket);
        }
        sockets.push_back(socket);
    }
    return sockets;
}

bool notify(std::string_view state) {
    constexpr int keep_environment = 0;
    return ::sd_notify(keep_environment, std::string(state).c_str()) > 0;
}

}  // namespace postal::os
