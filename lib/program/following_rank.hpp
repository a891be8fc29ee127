// SPDX-License-Identifier: GPL-3.0-or-later
// Any rank of many but 0: does what rank 0 says, and tells it what it has counted
// (cluster/follower.hpp). Says nothing on standard output. Fails as program/ranks.hpp says; who has
// lost rank 0 goes on alone, and says so at its end.
#pragma once

#include <memory>
#include <string_view>

#include "cluster/transport.hpp"
#include "program/ranks.hpp"

namespace postal::program {

// Blocks until rank 0 has welcomed us.
[[nodiscard]] std::unique_ptr<ranks> follow(std::string_view program,
                                            std::unique_ptr<cluster::transport> others);

}  // namespace postal::program
