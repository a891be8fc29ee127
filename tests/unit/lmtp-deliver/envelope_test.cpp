// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/envelope_rules.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using namespace postal;
using namespace postal::lmtp_deliver;

namespace {

constexpr std::string_view fine, dash = "The address would make an argument begin with a dash",
                                 nobody = "The local part is empty",
                                 slash = "The address has a / or .. in it";

proto::path parsed(const std::string& text) {
    const auto found =
        proto::parse_path(text, {proto::path_role::reverse, proto::bare_local_part::allowed});
    REQUIRE(found.ok());
    return found.value;
}

struct rules {
    bool dash_is_fine = false;
    bool slash_is_fine = false;
};

plan plan_of(std::string_view agent, rules allowed) {
    plan made;
    made.agent = *argv_template::parse(agent);
    made.chosen.allow_leading_dash = allowed.dash_is_fine;
    made.chosen.allow_slash = allowed.slash_is_fine;
    return made;
}

transaction from(const plan& run, const std::string& sender) {
    transaction made(run.storage);
    made.set_sender(parsed(sender), "+", run.chosen.null_sender);
    return made;
}

}  // namespace

TEST_CASE("envelope: senders that an agent could take for something else are refused") {
    struct row {
        std::string_view agent;
        std::string path;
        rules allowed;
        std::string_view wanted, reason;
    };
    const row rows[]{
        {"x %from%", "<a@example.com>", {}, fine, "the plain one"},
        {"x %from%", "<>", {}, fine, "the null sender"},
        {"x %from%", "<-a@x>", {}, dash, "an option, for the agent"},
        {"x %from%", "<-a@x>", {.dash_is_fine = true}, fine, "the operator knows better"},
        {"x -f %to%", "<-a@x>", {}, fine, "the agent does not get it"},
        {"x %to%%from%", "<-a@x>", {}, fine, "whether it begins with it is known at RCPT"},
        {"x %from%", "<a/b@x>", {}, fine, "only a user is used as a file's name"},
        {"x %from_user%", "<a/b@x>", {}, slash, "and here it is"},
        {"x %from_user%", "<a+/b@x>", {}, slash, "the detail too"},
        {"x %from_user%", "<\"..\"@x>", {}, slash, "the folder above"},
        {"x %from_user%", "<a/b@x>", {.slash_is_fine = true}, fine, "the operator knows better"},
        {"x %from_user%", "<\"\"@x>", {}, fine, "nothing is delivered to a sender"},
    };
    for (const row& each : rows) {
        CAPTURE(each.agent, each.path, each.reason);
        const plan run = plan_of(each.agent, each.allowed);
        const proto::server_reply found = refusal_of_sender(run, from(run, each.path));
        CHECK(found.text == each.wanted);
        CHECK(found.code == (each.wanted.empty() ? 0 : 550));
    }
}

TEST_CASE("envelope: recipients that an agent could take for something else are refused") {
    struct row {
        std::string_view agent;
        std::string path;
        rules allowed;
        std::string_view wanted, reason;
    };
    const row rows[]{
        {"x %to%", "<a@example.com>", {}, fine, "the plain one"},
        {"x %to%", "<a>", {}, fine, "no domain"},
        {"x %to%", "<\"\"@x>", {}, nobody, "maildrop would deliver to who runs it"},
        {"x %to%", "<\"\"@x>", {true, true}, nobody, "whatever is allowed"},
        {"x %to%", "<a/b@x>", {}, slash, "with any agent"},
        {"x", "<\"a..b\"@x>", {}, slash, "even with one that does not get it"},
        {"x %to%", "<\".\"@x>", {}, slash, "the folder itself"},
        {"x %to%", "<\".\"@x>", {.slash_is_fine = true}, fine, "the operator knows better"},
        {"x %to%", "<-a@x>", {}, dash, "an option, for the agent"},
        {"x -d%to%", "<-a@x>", {}, fine, "the operator's dash is in front"},
        {"x %to%", "<-a@x>", {.dash_is_fine = true}, fine, "the operator knows better"},
        {"x %from%%to%", "<-a@x>", {}, dash, "the sender before it is empty"},
    };
    for (const row& each : rows) {
        CAPTURE(each.agent, each.path, each.reason);
        const plan run = plan_of(each.agent, each.allowed);
        const auto recipient = make_mailbox(parsed(each.path), "+");
        const proto::server_reply found = refusal_of_recipient(run, from(run, "<>"), recipient);
        CHECK(found.text == each.wanted);
        CHECK(found.code == (each.wanted.empty() ? 0 : 550));
    }
}
