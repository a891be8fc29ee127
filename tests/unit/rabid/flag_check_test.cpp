// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/flag_check.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::rabid;

TEST_CASE(
    "flag_check: flags are those that a message was given, as far as its mailbox keeps them") {
    mail::population_plan of;
    of.flags = {{"\\Seen", 1}, {"\\Flagged", 1}, {"$Forwarded", 1}};
    struct row {
        const char* why;
        std::optional<std::string_view> permanent;
        std::uint16_t planned;
        const char* there;
        bool same;
    };
    const row rows[] = {
        {"none", {}, 0, "", true},
        {"all, in any order and case", {}, 7, "$forwarded \\FLAGGED \\Seen", true},
        {"one was lost", {}, 3, "\\Flagged", false},
        {"one came", {}, 1, "\\Seen \\Flagged", false},
        {"a keyword was lost", {}, 4, "", false},
        {"\\Recent is the server's", {}, 1, "\\Seen \\Recent", true},
        {"so are keywords of others", {}, 1, "\\Seen $HasAttachment Old", true},
        {"somebody has marked it", {}, 1, "\\Seen \\Deleted", false},
        {"or written it", {}, 1, "\\Draft \\Seen", false},
        {"keywords that are not kept", "(\\Seen \\Flagged)", 5, "\\Seen", true},
        {"any keyword is kept", "(\\Seen \\Flagged \\*)", 5, "\\Seen", false},
        {"this keyword is kept", "($Forwarded \\Seen)", 4, "", false},
        {"a flag that is not kept", "(\\Seen \\*)", 3, "\\Seen", true},
        {"nothing is kept", "()", 7, "", true},
        {"what PERMANENTFLAGS never closes", "(\\Seen", 1, "", false},
    };
    for (const row& one : rows) {
        INFO(one.why);
        CHECK(flag_check(of, one.permanent).same(one.planned, one.there) == one.same);
    }
}
