// SPDX-License-Identifier: GPL-3.0-or-later
// Objects with as many members as somebody may give them.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace postal::stats::test {

// {"k<number(0)>":<number(0)>,...}
template <class Number>
std::string object_of(int members, Number number) {
    std::string text = "{";
    for (int i = 0; i < members; ++i)
        fmt::format_to(std::back_inserter(text), "{}\"k{:06}\":{}", i > 0 ? "," : "", number(i),
                       number(i));
    return text + "}";
}

}  // namespace postal::stats::test
