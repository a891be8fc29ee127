// SPDX-License-Identifier: GPL-3.0-or-later
// A delivery status notification, the bounce of a message that was accepted and not delivered (RFC
// 3464), as a multipart/report (RFC 6522): a text for people, message/delivery-status, and
// text/rfc822-headers with the header section of the original.
//
// The text has CRLF line ends and is 7-bit, but for a recipient of its own that is not ASCII and
// needs SMTPUTF8: To has that as it is (RFC 6532). Original recipients that are not ASCII are
// written as RFC 6533 3 wants it in 7 bits. Of the original's header section the whole lines within
// 16 KiB are there; a section that is no clean 7-bit text, or has lines beyond 998 octets, is
// quoted-printable. The boundary occurs nowhere in it, so that nothing in the original can end its
// part. It says auto-replied (RFC 3834 5), against those who answer it.
//
// Paths must have come through the parser of addresses, which lets no control character in. Nothing
// here fails. The text grows with the recipients, whose number the caller bounds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace postal::mail {

struct delivery_status {
    static constexpr std::size_t most_of_original = std::size_t{16} * 1024;

    std::string_view host{};                    // who says so: MAILER-DAEMON@host
    std::string_view reverse_path{};            // whom it goes to, without brackets; not null
    std::span<const std::string> recipients{};  // forward-paths without brackets, one at least
    std::string_view status{};                  // "5.2.1" (RFC 3463)
    std::string_view diagnostic{};              // as SMTP says it: "550 5.2.1 Bounced on request"
    std::string_view original{};                // the beginning of the message
    std::uint64_t number = 0;                   // no two notifications of a host have the same
    std::chrono::system_clock::time_point now{};
};

// The whole message, to be sent with the null reverse-path.
[[nodiscard]] std::string make_delivery_status(const delivery_status& of);

}  // namespace postal::mail
