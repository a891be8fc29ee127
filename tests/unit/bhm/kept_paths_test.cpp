// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/kept_paths.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using postal::bhm::kept_paths;
using postal::proto::path;

namespace {

path parsed(std::string_view mailbox) {
    const auto made =
        postal::proto::parse_mailbox(mailbox, postal::proto::bare_local_part::allowed);
    REQUIRE(made.ok());
    return made.value;
}

}  // namespace

TEST_CASE("kept_paths: what is kept outlives the text that it was read from") {
    const std::vector<std::string> mailboxes = {
        "b@example.com",
        "\"a@b\"@example.com",
        "postmaster",
        "u@[192.0.2.1]",
        "J\xc3\xbcrg@example.com",
        std::string(64, 'x') + "@" + std::string(60, 'y') + ".example"};
    kept_paths kept;
    std::vector<kept_paths::place> places;
    for (const std::string& one : mailboxes) {
        const std::string copy = one;
        places.push_back(kept.keep(parsed(copy)));
    }
    path null;
    null.null = true;
    const auto nobody = kept.keep(null);
    for (std::size_t i = 0; i < mailboxes.size(); ++i) {
        CAPTURE(mailboxes[i]);
        const path wanted = parsed(mailboxes[i]);
        const path found = kept.at(places[i]);
        CHECK(found.mailbox == wanted.mailbox);
        CHECK(found.local_part == wanted.local_part);
        CHECK(found.domain == wanted.domain);
        CHECK(found.quoted == wanted.quoted);
        CHECK(found.non_ascii == wanted.non_ascii);
        CHECK_FALSE(found.null);
    }
    CHECK(kept.at(nobody).null);
    CHECK(kept.at(kept_paths::place()).mailbox.empty());
    kept.clear();
    CHECK(kept.at(kept.keep(parsed("c@example.net"))).domain == "example.net");
}
