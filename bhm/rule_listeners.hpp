// SPDX-License-Identifier: GPL-3.0-or-later
// The listeners that rules are about, as connections are compared with them.
//
// A rule names them as --listen does, by names and addresses. resolve_listeners() puts in their
// place, once before the run, the addresses that these stand for, and refuses with "FILE:LINE:
// reason" what no connection can come in at: what is no Unix socket of `places`, no address of
// theirs, and where they are all addresses of the host none of that. A port that the kernel chooses
// may be any.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "behaviour/rule.hpp"
#include "serve/acceptor.hpp"

namespace postal::bhm {

// Looks names up, and so may block.
base::expected<void> resolve_listeners(behaviour::behaviour& rules,
                                       const std::vector<serve::listening_endpoint>& places);

// This end of a connected socket, as a rule's listener is then written; "" when the kernel does not
// say.
std::string own_end_text(int socket);

}  // namespace postal::bhm
