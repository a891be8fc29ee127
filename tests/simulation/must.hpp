// SPDX-License-Identifier: GPL-3.0-or-later
// What a simulation itself has written cannot be refused.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/result.hpp"

namespace simulation {

template <class Value>
Value must(postal::base::expected<Value> made) {
    if (!made) throw std::logic_error(made.error().message);
    return std::move(*made);
}

}  // namespace simulation
