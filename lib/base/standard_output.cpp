// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/standard_output.hpp"

#include <cerrno>
#include <cstdio>

namespace postal::base {

namespace {

int first_error = 0;

void keep_error() noexcept {
    if (first_error == 0) first_error = errno;
}

}  // namespace

bool print(std::string_view text) noexcept {
    if (first_error != 0) return false;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) keep_error();
    return first_error == 0;
}

int flush_standard_output() noexcept {
    if (std::fflush(stdout) != 0) keep_error();
    return first_error;
}

}  // namespace postal::base
