// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of lib/mail share: temporary folders, joining parts, undoing dot-stuffing.
#pragma once

#include "../temporary_folder.hpp"
#include "mail/message_factory.hpp"

#include <span>
#include <string>
#include <string_view>

namespace test {

inline std::string joined(std::span<const std::string_view> parts) {
    std::string whole;
    for (const std::string_view part : parts)
        whole += part;
    return whole;
}

// What a receiver of DATA makes of lines; an independent reading of RFC 5321 4.5.2.
inline std::string unstuffed(std::string_view text) {
    std::string whole;
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 2);
        text.remove_prefix(line.size());
        if (line.starts_with('.')) {
            if (!line.starts_with("..")) {
                throw std::runtime_error("a line begins with a single dot");
            }
            line.remove_prefix(1);
        }
        whole += line;
    }
    return whole;
}

inline postal::mail::message_options options_for(
    postal::mail::body_kind kind, std::uint64_t octets,
    postal::mail::digest_kind digest = postal::mail::digest_kind::xxh3) {
    postal::mail::message_options options;
    options.seed = 42;
    options.run = 0x0123456789abcdef;
    options.host = "test.example.com";
    options.version = "1.2.3";
    options.sizes = postal::mail::size_spec::uniform(octets, octets).value();
    options.bodies = postal::mail::body_mix(kind);
    options.digest = digest;
    return options;
}

inline constexpr std::string_view one_recipient[]{"rcpt@example.com"};

inline postal::mail::message_request request(std::uint64_t session, std::uint64_t sequence) {
    using namespace std::chrono;
    postal::mail::message_request made;
    made.session = session;
    made.sequence = sequence;
    made.from = "sender@example.com";
    made.recipients = one_recipient;
    made.now = system_clock::from_time_t(1790000000) + microseconds(123456);
    return made;
}

inline constexpr postal::mail::body_kind all_kinds[]{
    postal::mail::body_kind::ascii,     postal::mail::body_kind::eight_bit,
    postal::mail::body_kind::dots,      postal::mail::body_kind::long_lines,
    postal::mail::body_kind::crlf_edge, postal::mail::body_kind::multipart};
inline constexpr std::span line_kinds(all_kinds, postal::mail::line_kinds);

}  // namespace test
