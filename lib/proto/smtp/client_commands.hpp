// SPDX-License-Identifier: GPL-3.0-or-later
// What a client says: the commands of RFC 5321 4.1.1, RFC 3030 and RFC 3461, appended to a buffer.
//
// Each ends in CRLF. Addresses go out exactly as given: whoever loads them has made sure that they
// hold no control character. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace postal::proto {

// ESMTP parameters of MAIL; only what the server offers may be set, but for `others`.
struct mail_parameters {
    std::uint64_t size = 0;       // SIZE=, RFC 1870; 0: not given
    bool eight_bit_mime = false;  // BODY=8BITMIME, RFC 6152
    bool smtputf8 = false;        // RFC 6531
    std::string_view ret{};       // RET=, RFC 3461: "HDRS"; empty: not given
    std::string_view envid{};     // ENVID=, RFC 3461, as plain text: it is encoded here
    std::string_view others{};    // as they are: "BY=120;R MT-PRIORITY=3"
};

// The same of RCPT.
struct rcpt_parameters {
    std::string_view notify{};  // NOTIFY=, RFC 3461: "SUCCESS,FAILURE"
    bool orcpt = false;         // ORCPT=, RFC 3461: the address itself; ASCII only
    std::string_view others{};
};

void append_mail(std::string& out, std::string_view reverse_path, const mail_parameters& with);
void append_rcpt(std::string& out, std::string_view forward_path, const rcpt_parameters& with = {});
// BDAT size LAST: the whole message as one chunk.
void append_bdat_last(std::string& out, std::uint64_t octets);
// XCLIENT ADDR=...: whom Postfix shall take the client for; an IPv6 address with its prefix.
void append_xclient(std::string& out, std::string_view address);
// EHLO, LHLO or HELO.
void append_greeting(std::string& out, std::string_view verb, std::string_view domain);

// AUTH (RFC 4954 4), with an initial response in base64 or "=", or empty for none.
void append_auth_command(std::string& out, std::string_view mechanism, std::string_view initial);
// How many octets an initial response may have within a command line of 512 (RFC 4954 4).
std::size_t room_behind_auth(std::string_view mechanism) noexcept;

inline constexpr std::string_view data_command = "DATA\r\n";
inline constexpr std::string_view starttls_command = "STARTTLS\r\n";
inline constexpr std::string_view rset_command = "RSET\r\n";
inline constexpr std::string_view quit_command = "QUIT\r\n";
inline constexpr std::string_view end_of_data = ".\r\n";

}  // namespace postal::proto
