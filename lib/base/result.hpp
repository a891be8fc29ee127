// SPDX-License-Identifier: GPL-3.0-or-later
// How a failure that was to be expected travels: as a value.
//
// A function that can fail returns expected<T>: either its T or a failure, whose message is one
// clear line saying what is wrong, where, why, and what would be right. Callers look at has_value()
// first; value() on a failure is a mistake of ours before a run starts, and throws
// failure_exception so that main can still print the line. A mail server's 4xx, 5xx, -ERR or NO is
// data and never a failure.
//
// Limits: no error codes and no categories; whoever must tell failures apart returns an own type.
#pragma once

#include <fmt/format.h>

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace postal::base {

struct failure {
    std::string message;
    bool operator==(const failure&) const = default;
};

// What value() throws when there is none.
class failure_exception : public std::runtime_error {
  public:
    explicit failure_exception(const failure& reason) : std::runtime_error(reason.message) {}
};

// Found by argument-dependent lookup from boost::system::result.
[[noreturn]] void throw_exception_from_error(const failure& reason, const boost::source_location&);

template <class T>
using expected = boost::system::result<T, failure>;

// One failure from a format and its arguments: return fail("{}: {} is not a port", name, text);
template <class... Args>
[[nodiscard]] failure fail(fmt::format_string<Args...> format, Args&&... args) {
    return failure{fmt::format(format, std::forward<Args>(args)...)};
}

// The same failure with where it happened in front: "users.txt:7: not an address".
[[nodiscard]] failure at(std::string_view where, const failure& reason);

// The text of an errno value, without strerror's shared buffer: "No space left on device".
[[nodiscard]] std::string system_message(int error_number);

}  // namespace postal::base
