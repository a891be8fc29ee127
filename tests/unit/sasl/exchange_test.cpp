// SPDX-License-Identifier: GPL-3.0-or-later
// Clients and servers of lib/sasl: with each other, and against the examples of the RFCs. Those of
// SCRAM are in scram_client_test.cpp.
#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "proto/base64.hpp"
#include "sasl/bearer.hpp"
#include "sasl/client.hpp"
#include "sasl/server.hpp"

using namespace postal::sasl;
using namespace std::string_view_literals;

namespace {

const std::string tims_password = "tanstaaftanstaaf";
const std::string odd_password = "p\xc3\xa4ss w,=rd";
const std::string nothing;

const std::string* look_up(std::string_view user) {
    if (user == "tim") return &tims_password;
    if (user == "a,b=c@example.com") return &odd_password;
    if (user == "bare") return &nothing;
    return nullptr;
}

const password_of users = look_up;

struct outcome {
    progress us = progress::go_on;
    progress they = progress::go_on;
    bool believed = false;
    std::string user;
    std::string_view problem;  // the server's
};

// Both sides to the end, with what each says.
outcome play(context& with, mechanism how, const credentials& mine, std::string_view binding = {}) {
    client us(with, how, mine);
    server they(
        with, how,
        {.look_up = users, .host = "mx.test", .service = "smtp", .channel_binding = binding});
    outcome result;
    std::string response, challenge;
    if (client_first(how)) {
        result.us = us.begin(response);
        if (result.us == progress::failed) return result;
        result.they = they.step(response, challenge);
    } else {
        result.they = they.begin(challenge);
    }
    for (int i = 0; i < 10 && result.they == progress::go_on; ++i) {
        result.us = us.step(challenge, response);
        if (result.us == progress::failed) return result;
        result.they = they.step(response, challenge);
    }
    result.believed = result.they == progress::done && us.believe();
    result.user = they.user();
    result.problem = they.problem();
    return result;
}

std::string said_by(client& us, std::string_view challenge) {
    std::string response;
    CHECK(us.step(challenge, response) != progress::failed);
    return response;
}

constexpr mechanism with_passwords[] = {mechanism::plain,
                                        mechanism::login,
                                        mechanism::cram_md5,
                                        mechanism::scram_sha_1,
                                        mechanism::scram_sha_256,
                                        mechanism::scram_sha_1_plus,
                                        mechanism::scram_sha_256_plus};

}  // namespace

TEST_CASE("sasl: every mechanism lets the right password in, and no other") {
    context with;
    for (const mechanism how : with_passwords) {
        INFO(name_of(how));
        credentials tim{.user = "tim",
                        .password = tims_password,
                        .channel_binding = "exported",
                        .offered = mechanism_set::all()};
        for (int again = 0; again < 3; ++again) {  // what is kept of SCRAM does as well
            const outcome right = play(with, how, tim, "exported");
            CHECK(right.believed);
            CHECK(right.user == "tim");
        }
        credentials odd = tim;
        odd.user = "a,b=c@example.com";
        odd.password = odd_password;
        CHECK(play(with, how, odd, "exported").believed);
        for (const auto& [user, password] :
             std::vector<std::pair<std::string_view, std::string_view>>{
                 {"tim", "tanstaaf"},
                 {"tim", "tanstaaftanstaafx"},
                 {"tom", tims_password},
                 {"bare", "x"},
                 {"tim", "TANSTAAFTANSTAAF"}}) {
            INFO(user);
            INFO(password);
            tim.user = user;
            tim.password = password;
            const outcome wrong = play(with, how, tim, "exported");
            CHECK(wrong.they == progress::failed);
            CHECK(wrong.problem == "wrong");
            CHECK_FALSE(wrong.believed);
        }
    }
}

TEST_CASE("sasl: a LOGIN client may say its name at once") {
    context with;
    server they(with, mechanism::login, {.look_up = users});
    std::string challenge;
    CHECK(they.step("tim", challenge) == progress::go_on);
    CHECK(challenge == "Password");
    CHECK(they.step(tims_password, challenge) == progress::done);
    CHECK(they.user() == "tim");
}

TEST_CASE("sasl: a channel between us is noticed by -PLUS") {
    context with;
    for (const mechanism how : {mechanism::scram_sha_1_plus, mechanism::scram_sha_256_plus}) {
        const credentials tim{.user = "tim", .password = tims_password, .channel_binding = "ours"};
        CHECK(play(with, how, tim, "ours").believed);
        CHECK(play(with, how, tim, "another's").they == progress::failed);
    }
}

TEST_CASE("sasl: somebody who takes -PLUS out of a server's list is noticed") {
    context with;
    credentials tim{.user = "tim", .password = tims_password, .channel_binding = "exported"};
    for (const mechanism how : {mechanism::scram_sha_1, mechanism::scram_sha_256}) {
        INFO(name_of(how));
        tim.offered = {};
        tim.offered.add(how);
        CHECK(play(with, how, tim).believed);  // the server has no channel binding either
        CHECK(play(with, how, tim, "exported").they == progress::failed);
        tim.offered = mechanism_set::all();
        CHECK(play(with, how, tim, "exported").believed);
    }
}

TEST_CASE("sasl: nobody acts as somebody else") {
    context with;
    for (const mechanism how : {mechanism::plain, mechanism::scram_sha_256}) {
        INFO(name_of(how));
        credentials tim{.user = "tim", .password = tims_password};
        tim.authorization_identity = "tim";
        CHECK(play(with, how, tim).believed);
        tim.authorization_identity = "root";
        CHECK_FALSE(play(with, how, tim).believed);
    }
}

TEST_CASE("sasl: tokens, names without passwords, and what a server refuses") {
    context with;
    for (const mechanism how : {mechanism::oauthbearer, mechanism::xoauth2}) {
        INFO(name_of(how));
        CHECK(play(with, how, {.user = "tim", .token = tims_password}).believed);
        const outcome wrong = play(with, how, {.user = "tim", .token = "other"});
        CHECK(wrong.they == progress::failed);
        CHECK(wrong.problem == "wrong");
        CHECK(play(with, how, {.user = "nobody", .token = "x"}).they == progress::failed);
    }
    CHECK(play(with, mechanism::anonymous, {.user = "tim"}).user == "anonymous");
}

TEST_CASE("sasl: EXTERNAL admits whom the connection is known to be for") {
    context with;
    const struct {
        std::string_view certified, asked;
        progress outcome;
        std::string_view reason;
    } rows[] = {
        {"tim", "", progress::done, "in the list"},
        {"tim", "tim", progress::done, "as itself"},
        {"bare", "", progress::done, "without a password"},
        {"tim", "bare", progress::failed, "as somebody else"},
        {"nobody", "", progress::failed, "not in the list"},
        {"", "", progress::failed, "without a certificate"},
        {"", "tim", progress::failed, "without a certificate, as somebody"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        server they(with, mechanism::external, {.look_up = users, .certified = row.certified});
        std::string challenge;
        CHECK(they.step(row.asked, challenge) == row.outcome);
        if (row.outcome == progress::done) CHECK(they.user() == row.certified);
    }
}

TEST_CASE("sasl: the examples of the documents") {
    context with;
    SECTION("CRAM-MD5, RFC 2195 2") {
        client us(with, mechanism::cram_md5, {.user = "tim", .password = tims_password});
        CHECK(said_by(us, "<1896.697170952@postoffice.reston.mci.net>") ==
              "tim b913a602c7eda7a495b4e6e7334d3890");
        CHECK(us.believe());
    }
    SECTION("PLAIN, RFC 4616 4") {
        client us(with, mechanism::plain, {.user = "tim", .password = tims_password});
        CHECK(said_by(us, "") == "\0tim\0tanstaaftanstaaf"sv);
        client other(with, mechanism::plain,
                     {.user = "Kurt", .password = "xipj3plmq", .authorization_identity = "Ursel"});
        CHECK(said_by(other, "") == "Ursel\0Kurt\0xipj3plmq"sv);
    }
    SECTION("LOGIN") {
        client us(with, mechanism::login, {.user = "tim", .password = tims_password});
        CHECK(said_by(us, "User Name") == "tim");
        CHECK_FALSE(us.believe());
        client again(with, mechanism::login, {.user = "tim", .password = tims_password});
        CHECK(said_by(again, "Username:") == "tim");
        CHECK(said_by(again, "Password:") == tims_password);
        CHECK(again.believe());
    }
    SECTION("EXTERNAL, RFC 4422 A.4, and ANONYMOUS, RFC 4505 3") {
        client us(with, mechanism::external, {.user = "tim"});
        CHECK(said_by(us, "").empty());
        CHECK(us.believe());
        client as(with, mechanism::external, {.authorization_identity = "fred@example.com"});
        CHECK(said_by(as, "") == "fred@example.com");
        client nobody(with, mechanism::anonymous, {.user = "sirhc"});
        CHECK(said_by(nobody, "") == "sirhc");
    }
    SECTION("OAUTHBEARER, RFC 7628 4.1") {
        const credentials mine{.user = "user@example.com",
                               .token = "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==",
                               .host = "server.example.com",
                               .port = 143};
        client us(with, mechanism::oauthbearer, mine);
        CHECK(postal::proto::to_base64(said_by(us, "")) ==
              "bixhPXVzZXJAZXhhbXBsZS5jb20sAWhvc3Q9c2VydmVyLmV4YW1wbGUuY29tAXBvcnQ9MTQzAWF1dGg9"
              "QmVhcmVyIHZGOWRmdDRxbVRjMk52YjNSbGNrQmhiSFJoZG1semRHRXVZMjl0Q2c9PQEB");
        CHECK(said_by(us, R"({"status":"invalid_token"})") == "\x01");
        CHECK(us.server_words() == R"({"status":"invalid_token"})");
        CHECK_FALSE(us.believe());
    }
    SECTION("XOAUTH2, as Google documents it") {
        client us(with, mechanism::xoauth2,
                  {.user = "someuser@example.com",
                   .token = "ya29.vF9dft4qmTc2Nvb3RlckBhdHRhdmlzdGEuY29tCg"});
        CHECK(postal::proto::to_base64(said_by(us, "")) ==
              "dXNlcj1zb21ldXNlckBleGFtcGxlLmNvbQFhdXRoPUJlYXJlciB5YTI5LnZGOWRmdDRxbVRjMk52YjNSb"
              "GNrQmhkSFJoZG1semRHRXVZMjl0Q2cBAQ==");
        CHECK(said_by(us, R"({"status":"401"})").empty());
        CHECK_FALSE(us.believe());
    }
}

TEST_CASE("sasl: a SCRAM client believes nobody who does not know the password") {
    context with;
    for (const mechanism how : {mechanism::scram_sha_1, mechanism::scram_sha_256}) {
        INFO(name_of(how));
        const credentials tim{.user = "tim", .password = tims_password};
        client us(with, how, tim);
        server they(with, how, {.look_up = users});
        std::string response, challenge;
        CHECK(us.begin(response) == progress::go_on);
        CHECK(they.step(response, challenge) == progress::go_on);
        CHECK(us.step(challenge, response) == progress::go_on);
        CHECK(they.step(response, challenge) == progress::go_on);
        SECTION("success without a final message") {
            CHECK_FALSE(us.believe());
            CHECK(us.problem() == "no_signature");
        }
        SECTION("a signature of zeros") {
            const std::string zeros(how == mechanism::scram_sha_1 ? 20 : 32, '\0');
            CHECK(us.step("v=" + postal::proto::to_base64(zeros), response) == progress::failed);
            CHECK(us.problem() == "wrong_signature");
            CHECK_FALSE(us.words().empty());
            CHECK_FALSE(us.believe());
        }
        SECTION("one octet of the right one is another") {
            challenge[2] = challenge[2] == 'A' ? 'B' : 'A';
            CHECK(us.step(challenge, response) == progress::failed);
            CHECK_FALSE(us.believe());
        }
        SECTION("the right one") {
            CHECK(us.step(challenge, response) == progress::done);
            CHECK(response.empty());
            CHECK(us.believe());
        }
        SECTION("success at once") {
            client early(with, how, tim);
            early.begin(response);
            CHECK_FALSE(early.believe());
        }
    }
}

TEST_CASE("sasl: what a SCRAM client does not go on with") {
    context with;
    const std::pair<std::string, std::string_view> rows[] = {
        {"s=QSXCR+Q6sek8bd92,i=4096", "bad_challenge"},
        {"r=other,s=QSXCR+Q6sek8bd92,i=4096", "bad_challenge"},
        {"NONCEx,s=QSXCR+Q6sek8bd92,i=0", "bad_challenge"},
        {"NONCEx,s=,i=4096", "bad_challenge"},
        {"NONCEx,s=QSXCR+Q6sek8bd92,i=200001", "too_many_iterations"},
        {"NONCEx,s=QSXCR+Q6sek8bd92,i=99999999999999999999999", "too_many_iterations"},
        {"m=ext,NONCEx,s=QSXCR+Q6sek8bd92,i=4096", "bad_challenge"},
        {"e=other-error", "refused"},
        {"", "bad_challenge"},
        {std::string(100'000, 'x'), "bad_challenge"},
    };
    for (const auto& [text, problem] : rows) {
        INFO(text.substr(0, 80));
        client us(with, mechanism::scram_sha_256, {.user = "tim", .password = tims_password});
        std::string response;
        REQUIRE(us.begin(response) == progress::go_on);
        std::string challenge = text;
        const auto at = challenge.find("NONCE");
        if (at != std::string::npos) {
            challenge.replace(at, 5, response.substr(response.rfind("r=")));
        }
        CHECK(us.step(challenge, response) == progress::failed);
        CHECK(us.problem() == problem);
        CHECK_FALSE(us.words().empty());
        CHECK_FALSE(us.believe());
    }
}

TEST_CASE("sasl: messages that a server cannot read are no crash and let nobody in") {
    context with;
    for (const std::string_view octets :
         {""sv, "\0"sv, "\0\0"sv, "\0tim"sv, "tim"sv, "\0tim\0"sv, "\0tim\0wrong"sv, "n,,"sv,
          "n,,n=tim,r="sv, "n,,n=tim,r=abc"sv, "y,,n=tim,r=abc"sv, "p=x,,n=tim,r=abc"sv,
          "user=tim\x01"
          "auth=Bearer \x01\x01"sv,
          "n,a=tim,\x01"
          "auth=Bearer x\x01"sv,
          "n,a=t=im,\x01"
          "auth=Bearer x\x01\x01"sv,
          "c=biws,r=,p="sv, "\xff\xfe\xfd"sv, "tim 0123456789abcdef0123456789abcdef"sv}) {
        for (std::size_t i = 0; i < mechanism_count; ++i) {
            const auto how = static_cast<mechanism>(i);
            if (how == mechanism::anonymous) continue;
            server they(with, how, {.look_up = users, .channel_binding = "x"});
            std::string challenge;
            progress at = client_first(how) ? progress::go_on : they.begin(challenge);
            for (int round = 0; round < 20 && at == progress::go_on; ++round) {
                at = they.step(octets, challenge);
            }
            CHECK(at == progress::failed);
        }
    }
}

TEST_CASE("sasl: reading what a client says with its token") {
    const struct {
        mechanism how;
        std::string_view message;
        std::string_view user, token;
    } rows[] = {
        {mechanism::oauthbearer,
         "n,a=a=2Cb=3Dc,\x01host=h\x01port=1\x01"
         "auth=Bearer t\x01\x01",
         "a,b=c", "t"},
        {mechanism::oauthbearer,
         "n,,\x01"
         "auth=bearer t.-_~+/=\x01\x01",
         "", "t.-_~+/="},
        {mechanism::xoauth2,
         "user=tim\x01"
         "auth=Bearer t\x01\x01",
         "tim", "t"},
    };
    for (const auto& row : rows) {
        const auto claim = read_bearer_message(row.how, row.message);
        REQUIRE(claim);
        CHECK(claim->user == row.user);
        CHECK(claim->token == row.token);
    }
    for (const std::string_view bad : {"", "n,a=tim,",
                                       "y,a=tim,\x01"
                                       "auth=Bearer t\x01\x01",
                                       "n,a=tim\x01"
                                       "auth=Bearer t\x01\x01",
                                       "n,a=tim,\x01"
                                       "auth=Basic t\x01\x01",
                                       "n,a=tim,\x01"
                                       "auth=Bearer a b\x01\x01",
                                       "n,a=tim,\x01"
                                       "auth=Bearer t\x01"
                                       "auth=Bearer t\x01\x01",
                                       "n,a=tim,\x01\x01",
                                       "n,a=tim,\x01"
                                       "auth=Bearer t\x01\x01x",
                                       "user=tim\x01"
                                       "auth=Bearer t\x01\x01"}) {
        CHECK_FALSE(read_bearer_message(mechanism::oauthbearer, bad));
    }
    CHECK_FALSE(read_bearer_message(mechanism::xoauth2,
                                    "n,a=tim,\x01"
                                    "auth=Bearer t\x01\x01"));
    CHECK(is_token("ya29.a0-_~+/="));
    for (const std::string_view bad : {"", "a b", "a\x01", "a\n", "\xc3\xa4"})
        CHECK_FALSE(is_token(bad));
}
