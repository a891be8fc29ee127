// SPDX-License-Identifier: GPL-3.0-or-later
// server_arguments: what stands behind MAIL, RCPT and BDAT, read and checked.
//
// Pure functions from the text behind the verb (without the line end) to a struct or the reply that
// refuses it. RFC 5321 4.1.1.2-3, 4.1.1.11 (parameters), RFC 1870 (SIZE), RFC 6152 (BODY), RFC
// 6531 3.4 (SMTPUTF8), RFC 3030 2 (BDAT), RFC 3461 4 (DSN), RFC 2852 4, RFC 6710 4.1. Views point
// into the input. Lenient in one place: blanks behind the colon, which RFC 5321 3.3 forbids and old
// clients send.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/system/result.hpp>

#include "proto/address.hpp"
#include "proto/smtp/server_reply.hpp"

namespace postal::proto {

struct argument_refusal {
    server_reply reply;
};

// Needed by boost::system::result, which never calls it: value() stands behind has_value() only.
[[noreturn]] void throw_exception_from_error(const argument_refusal&,
                                             const boost::source_location&);

template <class T>
using parsed_argument = boost::system::result<T, argument_refusal>;

struct mail_arguments {
    path reverse_path{};
    std::uint64_t size = 0;  // 0: not declared
    bool smtputf8 = false;
    bool eight_bit = false;
};

struct chunk_arguments {
    std::uint64_t size = 0;
    bool last = false;
};

// Which parameters are known: SIZE, BODY and SMTPUTF8, with those of DSN, DELIVERBY and
// MT-PRIORITY, or with AUTH (RFC 4954 5), of which only the syntax is checked
// (esmtp_parameters.hpp).
enum class parameter_set : std::uint8_t { basic = 0, with_delivery = 1, with_auth = 2 };
constexpr parameter_set operator|(parameter_set one, parameter_set other) noexcept {
    return static_cast<parameter_set>(static_cast<unsigned>(one) | static_cast<unsigned>(other));
}

parsed_argument<mail_arguments> parse_mail(std::string_view text, bare_local_part bare,
                                           parameter_set known = parameter_set::basic);

// `smtputf8`: whether MAIL asked for it, without which a non-ASCII address is refused.
enum class utf8_addresses : std::uint8_t { refused, allowed };
parsed_argument<path> parse_rcpt(std::string_view text, bare_local_part bare, utf8_addresses utf8,
                                 parameter_set known = parameter_set::basic);

parsed_argument<chunk_arguments> parse_bdat(std::string_view text);

}  // namespace postal::proto
