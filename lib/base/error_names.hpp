// SPDX-License-Identifier: GPL-3.0-or-later
// The names of errors, as logs, records and reports print them, and what each means.
//
// An error is counted at a stage ("rcpt") with a reply code, or with a reason of our own
// ("timeout"). Stages and reasons are the rows of one table here. An error_name is made only from a
// row's name: a new one without a row does not compile, so that --explain knows all of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace postal::base {

struct error_explanation {
    std::string_view name;
    std::string_view counts;  // what it is
    std::string_view cause;   // what usually makes it
    std::string_view remedy;  // what to do; empty: nothing of ours
};

// Stages first, in the order of a dialogue; then reasons by the alphabet.
constexpr std::span<const error_explanation> error_stages() noexcept;
constexpr std::span<const error_explanation> error_reasons() noexcept;

// Whether there is a row of that name. Alerts of TLS share one, "alert_...".
constexpr bool is_error_stage(std::string_view name) noexcept;
constexpr bool is_error_reason(std::string_view name) noexcept;

// A reason. From a literal that is none it cannot be made.
class error_name {
  public:
    constexpr error_name() noexcept = default;
    template <std::size_t Size>
    consteval error_name(const char (&name)[Size]) : text_(name, Size - 1) {  // NOLINT
        if (!is_error_reason(text_)) throw "a name without a row in error_names_table.hpp";
    }
    // Of a text that came from one, or from a table that was held against the rows.
    static constexpr error_name of(std::string_view known) noexcept {
        error_name made;
        made.text_ = known;
        return made;
    }

    constexpr operator std::string_view() const noexcept { return text_; }  // NOLINT
    constexpr std::string_view text() const noexcept { return text_; }

  private:
    std::string_view text_;
};

// What --explain NAME prints; without a name the list of all. Fails for a name that is none, with
// the nearest.
expected<std::string> explain_error(std::string_view name);

}  // namespace postal::base

#include "base/error_names_table.hpp"
