// SPDX-License-Identifier: GPL-3.0-or-later
// What is known at a stage, and the texts that patterns and gates take from it. Nothing here fails.
#pragma once

#include "behaviour/rule.hpp"

#include "net/ip_address.hpp"
#include "proto/address.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::behaviour {

// Views, and pointers that may be null: not known (yet), or none.
struct situation {
    std::string_view listener{};              // "127.0.0.1:2525", "unix:/run/bhm"
    std::string_view local{};                 // this end, where that may be another
    const net::ip_address* client = nullptr;  // null over a Unix socket
    bool tls = false;
    std::optional<std::string_view> helo{};
    const proto::path* sender = nullptr;
    const proto::path* recipient = nullptr;
    std::optional<bool> known{};          // the recipient
    std::optional<std::uint64_t> size{};  // octets
    std::uint64_t session = 1;            // in the order in which they came
    std::uint64_t message = 0;            // of the session, from 1; 0 before the first MAIL
    std::uint64_t recipient_number = 0;   // of the message, from 1; 0 before the first RCPT
    nanoseconds now{};                    // since the start
};

// As patterns see it: a mailbox without needless quotes (RFC 5321 4.1.2), "<>" for the null
// reverse-path; nothing for none. Points into the path, or into `room` when it was quoted.
[[nodiscard]] std::optional<std::string_view> address_text(const proto::path* of,
                                                           std::string& room);

// What a bucket of `per` is kept by, in lower case: of a client the IPv4 address or the IPv6
// network of 64 bits. Empty where nothing is known, so that all of those share one bucket.
[[nodiscard]] std::string key_text(key per, const situation& here);

// What a greylist is kept by: the client's network (24 bits of IPv4, 64 of IPv6), sender and
// recipient, in lower case.
[[nodiscard]] std::string triplet_text(const situation& here);

}  // namespace postal::behaviour
