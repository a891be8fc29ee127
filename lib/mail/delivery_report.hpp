// SPDX-License-Identifier: GPL-3.0-or-later
// What a delivery status notification says that came back: which message of ours it is about, and
// what became of it for whom (RFC 3464 in RFC 6522's multipart/report). delivery_status.hpp makes
// such.
//
// Read are the groups of recipients in message/delivery-status, and of the original, whole or its
// header section alone, our identity header; either part may be encoded. What has no group that can
// be read, or is about no message of ours, is no report. Anybody may send such a message: what it
// says is hearsay.
//
// The text comes from anybody. It is read once from its beginning to its end; kept are at most
// most_recipients of them, 64 KiB of each part that is read and 4 KiB of each field. Nothing fails.
// Limits: a report within another multipart is none. Names of fields and types have any case,
// comments are not understood but behind a value.
#pragma once

#include "mail/identity.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

// RFC 3464 2.3.3
enum class delivery_action : std::uint8_t { failed, delayed, delivered, relayed, expanded };

struct reported_recipient {
    std::string address{};  // the original one where that is told
    delivery_action action = delivery_action::failed;
    std::string status{};      // "5.1.1" (RFC 3463)
    std::string diagnostic{};  // of the server that said so, one printable line; may be empty
};

struct delivery_report {
    static constexpr std::size_t most_recipients = 1000;

    identity of;
    std::vector<reported_recipient> recipients;
};

// message: header section and body, LF or CRLF.
[[nodiscard]] std::optional<delivery_report> read_delivery_report(std::string_view message);

// Whether its header section says that it is one; may have but the beginning of the body.
[[nodiscard]] bool may_be_delivery_report(std::string_view message);

}  // namespace postal::mail
