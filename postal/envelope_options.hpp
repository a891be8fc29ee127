// SPDX-License-Identifier: GPL-3.0-or-later
// What postal adds to MAIL and RCPT when asked to: --dsn, --mail-parameter, --rcpt-parameter.
//
// Parameters that are passed through are checked for their syntax (RFC 5321 4.1.2) and for being
// given once; whether the server knows them is its own business. Failures are one line each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"

namespace postal::sender {

// --dsn notify=success+failure,ret=hdrs (RFC 3461); values as they go over the wire.
struct dsn_request {
    bool wanted = false;
    std::string notify;  // "SUCCESS,FAILURE"; empty: the server's default
    std::string ret;     // "HDRS"; empty: the server's default
};

base::expected<dsn_request> parse_dsn(std::string_view text);

struct passed_parameters {
    std::vector<std::string> given;
    std::string text;  // all of them, with blanks between

    // Whether one of this keyword is among them.
    bool has(std::string_view keyword) const noexcept;
};

// Takes one more.
cli::setter passed_parameter(passed_parameters& target);

// What only shows when all is known: a parameter that --dsn says too.
base::expected<void> check(const dsn_request& dsn, const passed_parameters& mail,
                           const passed_parameters& rcpt);

}  // namespace postal::sender
