// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/identity_reader.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;
using namespace postal::rabid;

namespace {

std::string listed_as(unsigned number, const std::string& beside = "") {
    const std::string field = "X-Other: 1\r\n\r\n";
    return "* " + std::to_string(number) + " FETCH (" + beside +
           "BODY[HEADER.FIELDS (X-Postal-Id)] {" + std::to_string(field.size()) + "}\r\n" + field +
           ")\r\n";
}

// How often take() has said that something is known.
unsigned take_all(identity_reader& reader, const std::string& text) {
    proto::imap_responses responses;
    std::string_view left = text;
    unsigned known = 0;
    for (;;) {
        const proto::imap_step step = responses.next(left);
        left.remove_prefix(step.consumed);
        if (step.event == proto::imap_event::need_more) return known;
        REQUIRE(step.event != proto::imap_event::broken);
        known += reader.take(step) ? 1 : 0;
    }
}

}  // namespace

TEST_CASE("identity_reader: each number that was asked for counts once, and no other") {
    std::vector<std::uint32_t> told;
    identity_reader reader([&](const listed_message& one) {
        CHECK(one.id == nullptr);
        told.push_back(one.number);
    });
    reader.expect(3, 5);
    CHECK_FALSE(reader.complete());
    CHECK(take_all(reader, listed_as(4) + listed_as(4) + listed_as(2) + listed_as(6)) == 1);
    CHECK(take_all(reader, "* 3 FETCH (FLAGS (\\Seen))\r\n") == 0);
    CHECK(take_all(reader, listed_as(3)) == 1);
    CHECK_FALSE(reader.complete());
    CHECK(take_all(reader, "* 5 FETCH (BODY[HEADER.FIELDS (X-Postal-Id)] NIL)\r\n") == 1);
    CHECK(reader.complete());
    for (int i = 0; i < 100; ++i)
        CHECK(take_all(reader, listed_as(4)) == 0);
    CHECK(told == std::vector<std::uint32_t>{4, 3, 5});
    reader.expect(6, 6);
    CHECK_FALSE(reader.complete());
    CHECK(take_all(reader, listed_as(4)) == 0);
}

TEST_CASE("identity_reader: what is said beside the identity is of the same response") {
    std::uint64_t octets = 0;
    identity_reader reader([&](const listed_message& one) { octets = one.octets; });
    reader.expect(1, 3);
    take_all(reader, listed_as(1,
                               "RFC822.SIZE 77 FLAGS (\\Seen x) INTERNALDATE "
                               "\"01-Jan-2020 01:00:00 +0100\" "));
    CHECK(octets == 77);
    CHECK(reader.flags() == "\\Seen x");
    CHECK(reader.arrived_us() == 1'577'836'800'000'000U);
    take_all(reader, listed_as(2));
    CHECK(octets == 0);
    CHECK(reader.flags().empty());
    CHECK(reader.arrived_us() == 0);
}
