// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/conversation.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "proto/base64.hpp"

using namespace postal;
using namespace postal::sasl;

namespace {

constexpr credentials tim{.user = "tim", .password = "tanstaaftanstaaf", .token = "token"};
constexpr std::string_view plain = "AHRpbQB0YW5zdGFhZnRhbnN0YWFm";

}  // namespace

TEST_CASE("sasl: an initial response where it fits, else to the first challenge") {
    context with;
    conversation fits(with, mechanism::plain, tim);
    CHECK(fits.initial(plain.size()) == plain);
    CHECK(fits.believe());
    conversation tight(with, mechanism::plain, tim);
    CHECK(tight.initial(plain.size() - 1).empty());
    CHECK_FALSE(tight.believe());
    conversation then(with, mechanism::plain, tim);
    CHECK(then.initial(0).empty());
    CHECK(then.answer("") == plain);
    CHECK(then.believe());
    conversation empty(with, mechanism::external, tim);
    CHECK(empty.initial(100) == "=");
    conversation empty_later(with, mechanism::external, tim);
    CHECK(empty_later.initial(0).empty());
    CHECK(empty_later.answer("").empty());
    CHECK(empty_later.believe());
    conversation server_first(with, mechanism::cram_md5, tim);
    CHECK(server_first.initial(1000).empty());
    CHECK(server_first.answer(proto::to_base64("<1896.697170952@postoffice.reston.mci.net>")) ==
          "dGltIGI5MTNhNjAyYzdlZGE3YTQ5NWI0ZTZlNzMzNGQzODkw");
    CHECK(server_first.believe());
}

TEST_CASE("sasl: a challenge that cannot be answered cancels") {
    context with;
    const std::string long_one(proto::max_auth_line + 4, 'A');
    const struct {
        mechanism how;
        std::string_view challenge, problem;
    } rows[] = {
        {mechanism::cram_md5, "this is no base64", "not_base64"},
        {mechanism::cram_md5, "PDE4OTYu=", "not_base64"},
        {mechanism::cram_md5, "*", "not_base64"},
        {mechanism::cram_md5, long_one, "challenge_too_long"},
        {mechanism::scram_sha_256, "", "bad_challenge"},
        {mechanism::scram_sha_1, "QUFBQQ==", "bad_challenge"},
        {mechanism::plain, "QUFBQQ==", "bad_challenge"},
    };
    for (const auto& row : rows) {
        INFO(row.problem);
        conversation talk(with, row.how, tim);
        talk.initial(1000);
        CHECK(talk.answer(row.challenge) == "*");
        CHECK(talk.cancelled());
        CHECK(talk.problem() == row.problem);
        CHECK_FALSE(talk.words().empty());
        CHECK_FALSE(talk.believe());
    }
}

TEST_CASE("sasl: a server that asks without an end is left") {
    context with;
    conversation talk(with, mechanism::login, tim);
    unsigned rounds = 0;
    while (!talk.cancelled() && rounds < 100) {
        talk.answer(proto::to_base64("Password:"));
        ++rounds;
    }
    CHECK(rounds <= conversation::max_rounds + 1);
    CHECK_FALSE(talk.believe());
    conversation token(with, mechanism::xoauth2, tim);
    token.initial(1000);
    CHECK(token.answer("e30=").empty());
    CHECK(token.server_words() == "{}");
    CHECK(token.answer("e30=") == "*");
    CHECK_FALSE(token.believe());
}
