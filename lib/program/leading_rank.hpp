// SPDX-License-Identifier: GPL-3.0-or-later
// Rank 0 of many: hears from all others, begins and ends the run with them, and says for all what
// it has come to (cluster/leader.hpp). Fails as program/ranks.hpp says.
#pragma once

#include <memory>
#include <string_view>

#include "cluster/transport.hpp"
#include "program/ranks.hpp"

namespace postal::program {

[[nodiscard]] std::unique_ptr<ranks> lead(std::string_view program,
                                          std::unique_ptr<cluster::transport> others);

}  // namespace postal::program
