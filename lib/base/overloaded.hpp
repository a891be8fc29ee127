// SPDX-License-Identifier: GPL-3.0-or-later
// One function for each alternative of a std::variant, in the place where it is visited.
//
//     std::visit(overloaded{[](const hello& said) { … }, [](const auto&) { … }}, word);
#pragma once

namespace postal::base {

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<Functions...>;

}  // namespace postal::base
