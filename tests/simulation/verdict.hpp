// SPDX-License-Identifier: GPL-3.0-or-later
// What is found to be wrong with a run, in words; the first ten of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace simulation {

class verdict {
  public:
    template <class... Values>
    void wrong(fmt::format_string<Values...> words, Values&&... values) {
        constexpr std::size_t enough = 10;
        if (found_.size() < enough)
            found_.push_back(fmt::format(words, std::forward<Values>(values)...));
    }
    template <class Number>
    void equal(std::string_view what, Number is, Number should_be) {
        if (is != should_be) wrong("{}: {}, and not {}", what, is, should_be);
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(found_); }

  private:
    std::vector<std::string> found_;
};

}  // namespace simulation
