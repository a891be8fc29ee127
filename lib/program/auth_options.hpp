// SPDX-License-Identifier: GPL-3.0-or-later
// The options about logging in, which mean the same in every client.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"
#include "client/auth.hpp"

namespace postal::program {

// --auth, whose default is `without` ("off", "login"), --auth-token-file and --auth-insecure.
std::vector<cli::option> auth_option_rows(client::auth_options& target, const std::string& without);

}  // namespace postal::program
