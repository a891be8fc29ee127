// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/base64.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <utility>

using namespace postal::proto;
using namespace std::string_view_literals;

TEST_CASE("base64: both ways, as RFC 4648 10 has it") {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\xfd", "//79"},
        {"\0tim\0tanstaaftanstaaf"sv, "AHRpbQB0YW5zdGFhZnRhbnN0YWFm"},
    };
    for (const auto& [octets, text] : rows) {
        CHECK(to_base64(octets) == text);
        CHECK(from_base64(text) == std::string(octets));
    }
}

TEST_CASE("base64: reading refuses what is not exactly that") {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"Zg", "padding missing"},
        {"Zg=", "too little padding"},
        {"Zg===", "too much padding"},
        {"====", "padding alone"},
        {"Z===", "six bits are no octet"},
        {"Zm9v=", "padding that is not wanted"},
        {"Zg==Zg==", "padding in the middle"},
        {"Zm=v", "padding within four"},
        {"Zh==", "spare bits that are not zero"},
        {"Zm9=", "the same with one padding"},
        {"Zm 9", "a blank"},
        {"Zm9v\r\n", "a line end"},
        {"Zm-_", "the alphabet of URLs"},
        {"Zm9\xc3", "not ASCII"},
        {"Zm9\0"sv, "NUL"},
        {"*", "the cancellation"},
        {"=", "the empty initial response is its protocol's business"},
    };
    for (const auto& [text, reason] : rows) {
        INFO(reason);
        CHECK_FALSE(from_base64(text));
    }
}

TEST_CASE("base64: every octet at every place comes back") {
    std::string octets;
    for (int i = 0; i < 1024; ++i) {
        octets += static_cast<char>(i * 37 % 251);
        CHECK(from_base64(to_base64(octets)) == octets);
    }
}
