// SPDX-License-Identifier: GPL-3.0-or-later
// Building the messages of failures: a place in front of a reason, and errno in words.
//
// strerrordesc_np (glibc 2.32) returns a constant text without a shared buffer and without regard
// to the locale, so that messages are the same everywhere and threads do not meet. Unknown numbers
// are shown as numbers. Limits: glibc only, as the rest of the suite.
#include "base/result.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/machine_trouble.hpp"

namespace postal::base {

namespace {

constexpr int troubles[] = {ENOMEM, ENOSPC, EDQUOT, EIO, EMFILE, ENFILE};

}  // namespace

bool is_machine_trouble(std::string_view message) noexcept {
    return std::any_of(std::begin(troubles), std::end(troubles), [&](int one) {
        return message.find(strerrordesc_np(one)) != std::string_view::npos;
    });
}

void throw_exception_from_error(const failure& reason, const boost::source_location&) {
    throw failure_exception(reason);
}

failure at(std::string_view where, const failure& reason) {
    return failure{fmt::format("{}: {}", where, reason.message)};
}

std::string system_message(int error_number) {
    const char* const text = strerrordesc_np(error_number);
    return text != nullptr ? std::string(text) : fmt::format("system error {}", error_number);
}

}  // namespace postal::base
