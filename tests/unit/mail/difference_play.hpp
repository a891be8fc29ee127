// SPDX-License-Identifier: GPL-3.0-or-later
// Messages that were made, spoiled and diagnosed.
#pragma once

#include "mail/difference.hpp"

#include "mail/message_checker.hpp"
#include "proto/base64.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

namespace difference_play {

using namespace postal::mail;

using enum postal::mail::difference_kind;

inline std::string made(body_kind kind, std::uint64_t octets, std::uint64_t sequence = 1) {
    message_factory factory(message_plan::create(test::options_for(kind, octets)).value());
    message one;
    factory.make(test::request(1, sequence), one);
    return test::joined(one.raw_parts());
}

inline difference diagnosed(std::string_view received) {
    static body_rebuilder rebuilder(std::uint64_t{1} << 20U);
    message_checker checker;
    checker.feed(received);
    const auto result = checker.finish();
    const difference found = diagnose(received, result.id, rebuilder);
    CHECK((found.kind == none) == (result.what == integrity::verified));
    CHECK_FALSE(to_text(found).empty());
    return found;
}

inline std::string told(std::string_view received) {
    return to_text(diagnosed(received));
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

inline std::string replaced_all(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

// A message of ours with this header section's identity cannot be had by choice, so the places are
// found in the body that postal made.
struct sample {
    std::string text;
    std::string head;
    std::string body;
    explicit sample(body_kind kind, std::uint64_t octets = 3000, std::uint64_t sequence = 1)
        : text(made(kind, octets, sequence)),
          head(text.substr(0, header_end(text))),
          body(text.substr(head.size())) {}

    // Offset of the line with this number, from 1.
    std::size_t line(std::size_t number) const {
        std::size_t at = 0;
        while (--number > 0)
            at = body.find("\r\n", at) + 2;
        return at;
    }
    // The first line from there on that fits; 0 when there is none.
    std::size_t find(std::size_t from, const std::function<bool(std::string_view)>& fits) const {
        for (std::size_t number = from, at = line(from); at < body.size(); ++number) {
            const std::size_t end = std::min(body.find("\r\n", at), body.size());
            if (fits(std::string_view(body).substr(at, end - at))) return number;
            at = end + 2;
        }
        return 0;
    }
};

// With soft line breaks, as a relay would write it.
inline std::string quoted_printable(std::string_view text) {
    std::string out;
    std::size_t column = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.substr(at).starts_with("\r\n")) {
            out += "\r\n";
            column = 0;
            ++at;
            continue;
        }
        const char each = text[at];
        const bool plain = each > ' ' && each < 127 && each != '=';
        const std::string code =
            plain ? std::string(1, each) : fmt::format("={:02X}", static_cast<unsigned char>(each));
        if (column + code.size() > 75) {
            out += "=\r\n";
            column = 0;
        }
        out += code;
        column += code.size();
    }
    return out;
}

inline std::string base64(std::string_view text) {
    const std::string all = postal::proto::to_base64(text);
    std::string out;
    for (std::size_t at = 0; at < all.size(); at += 76)
        out += all.substr(at, 76) + "\r\n";
    return out;
}

inline std::string hex(char octet) {
    return fmt::format("{:#04x}", static_cast<unsigned char>(octet));
}

}  // namespace difference_play
