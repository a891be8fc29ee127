// SPDX-License-Identifier: GPL-3.0-or-later
// What a service manager (systemd) and this process tell each other: sockets and readiness.
//
// sd_listen_fds(3) and sd_notify(3) of libsystemd. Without a service manager there are no sockets
// and nobody is told anything; nothing fails then.
#pragma once

#include "base/result.hpp"

#include <string_view>
#include <vector>

namespace postal::os {

// The sockets that systemd opened for us (socket activation), in the order of the unit, made
// close-on-exec; empty when there are none. The environment variables are gone afterwards, so ask
// once, before any thread. Fails when one of them is no listening stream socket.
[[nodiscard]] base::expected<std::vector<int>> passed_sockets();

// Tells "READY=1", "STOPPING=1" or "STATUS=..." (several with line ends between). True when there
// was somebody to tell; whether it was told is not our affair.
bool notify(std::string_view state);

}  // namespace postal::os
