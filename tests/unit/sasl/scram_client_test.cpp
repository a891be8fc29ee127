// SPDX-License-Identifier: GPL-3.0-or-later
// The examples of RFC 5802 5 and RFC 7677 3, channel binding, and servers that must not be
// believed.
#include "sasl/scram_client.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

#include "proto/base64.hpp"

using namespace postal;
using namespace postal::sasl;

namespace {

struct example {
    mechanism which;
    std::string_view nonce, server_first, proof, server_final;
};
constexpr example sha_1{
    mechanism::scram_sha_1, "fyko+d2lbbFgONRv9qkxdawL",
    "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
    "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
    "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="};
constexpr example sha_256{
    mechanism::scram_sha_256, "rOprNGfwEbeRWgbNEkqO",
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="};

constexpr credentials user{.user = "user", .password = "pencil"};

std::string problem_of(const std::optional<scram_refusal>& refusal) {
    if (!refusal) return "";
    CHECK_FALSE(refusal->words.empty());
    return std::string(refusal->problem);
}

// What is said first; the exchange must get there.
std::string first_of(scram_client& us) {
    std::string message;
    REQUIRE_FALSE(us.first(message));
    return message;
}

std::string answer_to(std::string_view server_first) {
    context with;
    scram_client us(with, sha_256.which, user, std::string(sha_256.nonce));
    first_of(us);
    std::string message;
    return problem_of(us.prove(server_first, message));
}

std::string verdict_on(std::string_view server_final) {
    context with;
    scram_client us(with, sha_256.which, user, std::string(sha_256.nonce));
    first_of(us);
    std::string message;
    REQUIRE_FALSE(us.prove(sha_256.server_first, message));
    return problem_of(us.verify(server_final));
}

}  // namespace

TEST_CASE("scram: the examples of RFC 5802 and RFC 7677") {
    context with;
    for (const example& one : {sha_1, sha_256, sha_1, sha_256}) {  // again, with what is kept
        scram_client us(with, one.which, user, std::string(one.nonce));
        CHECK(first_of(us) == "n,,n=user,r=" + std::string(one.nonce));
        std::string message;
        REQUIRE_FALSE(us.prove(one.server_first, message));
        CHECK(message == one.proof);
        CHECK_FALSE(us.verify(one.server_final));
        CHECK_FALSE(us.verify(std::string(one.server_final) + ",x=more,y=of,z=this"));
    }
}

TEST_CASE("scram: what a password is kept under") {
    context with;
    const auto proof = [&](mechanism which, const credentials& mine,
                           std::string_view salt_and_count) {
        scram_client us(with, which, mine, "abc");
        first_of(us);
        std::string message;
        REQUIRE_FALSE(us.prove("r=abcd," + std::string(salt_and_count), message));
        return message.substr(message.rfind("p="));
    };
    const std::string one = proof(mechanism::scram_sha_256, user, "s=QUFB,i=10");
    CHECK(proof(mechanism::scram_sha_256, user, "s=QUFB,i=10") == one);
    CHECK(proof(mechanism::scram_sha_256, user, "s=QUFC,i=10") != one);
    CHECK(proof(mechanism::scram_sha_256, user, "s=QUFB,i=11") != one);
    CHECK(proof(mechanism::scram_sha_1, user, "s=QUFB,i=10") != one);
    const credentials other{.user = "user", .password = "pencils"};
    CHECK(proof(mechanism::scram_sha_256, other, "s=QUFB,i=10") != one);
}

TEST_CASE("scram: the header says what is known of channel binding, and the proof covers it") {
    const struct {
        mechanism which;
        std::string_view binding, offered, acts_as, header, reason;
    } rows[] = {
        {mechanism::scram_sha_256, "", "SCRAM-SHA-256", "", "n,,", "no TLS"},
        {mechanism::scram_sha_256, "", "SCRAM-SHA-256 SCRAM-SHA-256-PLUS", "", "n,,", "TLS 1.2"},
        {mechanism::scram_sha_256, "x", "SCRAM-SHA-256 PLAIN", "", "y,,",
         "could bind, not offered"},
        {mechanism::scram_sha_1, "x", "SCRAM-SHA-1", "", "y,,", "could bind, not offered"},
        {mechanism::scram_sha_256, "x", "SCRAM-SHA-256 SCRAM-SHA-256-PLUS", "", "n,,", "named"},
        {mechanism::scram_sha_1, "x", "SCRAM-SHA-1-PLUS SCRAM-SHA-1", "", "n,,", "named"},
        {mechanism::scram_sha_256, "x", "SCRAM-SHA-256 SCRAM-SHA-1-PLUS", "", "y,,",
         "not this mechanism's"},
        {mechanism::scram_sha_256_plus, "x,y", "SCRAM-SHA-256-PLUS", "", "p=tls-exporter,,", ""},
        {mechanism::scram_sha_1_plus, "x", "SCRAM-SHA-1-PLUS", "a,b=c",
         "p=tls-exporter,a=a=2Cb=3Dc,", "as somebody else"},
        {mechanism::scram_sha_1, "", "SCRAM-SHA-1", "fred", "n,a=fred,", "as somebody else"},
    };
    for (const auto& row : rows) {
        INFO(name_of(row.which) << " of " << row.offered << ": " << row.reason);
        context with;
        scram_client us(with, row.which,
                        {.user = "user",
                         .password = "pencil",
                         .authorization_identity = row.acts_as,
                         .channel_binding = row.binding,
                         .offered = parse_mechanisms(row.offered)},
                        "abc");
        CHECK(first_of(us) == std::string(row.header) + "n=user,r=abc");
        std::string message;
        REQUIRE_FALSE(us.prove("r=abcd,s=QUFB,i=1", message));
        std::string bound(row.header);
        if (binds_channel(row.which)) bound += row.binding;
        CHECK(message.starts_with("c=" + proto::to_base64(bound) + ",r=abcd,p="));
    }
}

TEST_CASE("scram: names and passwords are prepared") {
    context with;
    const struct {
        std::string_view user, password, first, problem;
    } rows[] = {
        {"a,b=c@example.com", "pencil", "n=a=2Cb=3Dc@example.com", ""},
        {"I\xc2\xadX", "pencil", "n=IX", ""},  // RFC 4013 3: a soft hyphen maps to nothing
        {"\xc2\xaa", "pencil", "n=a", ""},     // NFKC
        {"", "pencil", "", "unusable_name"},   // nothing is left of it
        {"\xc2\xad", "pencil", "", "unusable_name"},
        {"a\x07", "pencil", "", "unusable_name"},  // prohibited
        {"\xff", "pencil", "", "unusable_name"},   // no UTF-8
        {"user", "", "n=user", "unusable_password"},
        {"user", "a\x07", "n=user", "unusable_password"},
        {"user", std::string_view("a\0b", 3), "n=user", "unusable_password"},
    };
    for (const auto& row : rows) {
        INFO(row.first << " " << row.problem);
        scram_client us(with, mechanism::scram_sha_1, {.user = row.user, .password = row.password},
                        "abc");
        std::string message;
        const std::string early = problem_of(us.first(message));
        if (row.first.empty()) {
            CHECK(early == row.problem);
            continue;
        }
        CHECK(message == "n,," + std::string(row.first) + ",r=abc");
        CHECK(problem_of(us.prove("r=abcd,s=QUFB,i=1", message)) == row.problem);
    }
    scram_client unbound(with, mechanism::scram_sha_1_plus, user, "abc");
    std::string message;
    CHECK(problem_of(unbound.first(message)) == "no_channel_binding");
}

TEST_CASE("scram: a server's first message is read strictly") {
    const std::string ours = "r=" + std::string(sha_256.nonce);
    const std::string fine = ours + "x,s=QUFB,i=4096";
    CHECK(answer_to(fine).empty());
    CHECK(answer_to(fine + ",x=more").empty());
    CHECK(answer_to(ours + "x,s=QUFB,i=1").empty());
    CHECK(answer_to(ours + "x,s=QUFB,i=200000").empty());
    const struct {
        std::string message;
        std::string_view problem, reason;
    } rows[] = {
        {"", "bad_challenge", "nothing"},
        {",", "bad_challenge", "no attribute"},
        {"s=QUFB,i=4096", "bad_challenge", "no nonce"},
        {"r=,s=QUFB,i=4096", "bad_challenge", "an empty nonce"},
        {"r=other,s=QUFB,i=4096", "bad_challenge", "another's nonce"},
        {"r=x" + ours.substr(2) + ",s=QUFB,i=4096", "bad_challenge", "ours at its end"},
        {ours + ",s=QUFB,i=4096", "bad_challenge", "nothing of the server's in the nonce"},
        {ours + " x,s=QUFB,i=4096", "bad_challenge", "a blank in the nonce"},
        {ours + "\x7f,s=QUFB,i=4096", "bad_challenge", "DEL in the nonce"},
        {ours + "\xc3\xa4,s=QUFB,i=4096", "bad_challenge", "not ASCII in the nonce"},
        {ours.substr(0, 8) + ",s=QUFB,i=4096", "bad_challenge", "the beginning of ours"},
        {"R" + fine.substr(1), "bad_challenge", "names of attributes know case"},
        {"m=ext," + fine, "bad_challenge", "a mandatory extension"},
        {fine + ",m=ext", "bad_challenge", "a mandatory extension at the end"},
        {fine + ",", "bad_challenge", "a comma too many"},
        {"," + fine, "bad_challenge", "a comma too many in front"},
        {fine + ",x=", "bad_challenge", "an empty extension"},
        {fine + ",xy", "bad_challenge", "no attribute behind"},
        {fine + ",1=2", "bad_challenge", "a digit for a name"},
        {ours + "x,i=4096,s=QUFB", "bad_challenge", "another order"},
        {ours + "x,s=QUFB", "bad_challenge", "no count"},
        {ours + "x,i=4096", "bad_challenge", "no salt"},
        {ours + "x,s=,i=4096", "bad_challenge", "an empty salt"},
        {ours + "x,s=QUF,i=4096", "bad_challenge", "a salt that is no base64"},
        {ours + "x,s=QUFB,i=", "bad_challenge", "an empty count"},
        {ours + "x,s=QUFB,i=0", "bad_challenge", "no iterations"},
        {ours + "x,s=QUFB,i=-1", "bad_challenge", "a negative count"},
        {ours + "x,s=QUFB,i=04096", "bad_challenge", "a leading zero"},
        {ours + "x,s=QUFB,i=4096 ", "bad_challenge", "a blank behind the count"},
        {ours + "x,s=QUFB,i=0x1000", "bad_challenge", "no decimal number"},
        {ours + "x,s=QUFB,i=200001", "too_many_iterations", "one too many"},
        {ours + "x,s=QUFB,i=4294967297", "too_many_iterations", "one and 2^32"},
        {ours + "x,s=QUFB,i=99999999999999999999999", "too_many_iterations", "beyond 64 bits"},
        {"e=other-error", "refused", "an error"},
        {"v=QUFB", "bad_challenge", "the last message first"},
        {std::string(100'000, 'x'), "bad_challenge", "no message at all"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        CHECK(answer_to(row.message) == row.problem);
    }
    // Whatever is cut off: before the count's first digit it is no message.
    for (std::size_t size = 0; size < fine.size() - 3; ++size)
        CHECK(answer_to(fine.substr(0, size)) == "bad_challenge");
}

TEST_CASE("scram: a server's last message proves that it knows the password") {
    const std::string right(sha_256.server_final);
    CHECK(verdict_on(right).empty());
    CHECK(verdict_on(sha_1.server_final) == "wrong_signature");
    CHECK(verdict_on("v=" + proto::to_base64(std::string(32, '\0'))) == "wrong_signature");
    CHECK(verdict_on("v=QUFB") == "wrong_signature");
    const std::string octets = *proto::from_base64(right.substr(2));
    for (std::size_t bit = 0; bit < 8 * octets.size(); bit += 5) {
        std::string other = octets;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
        CHECK(verdict_on("v=" + proto::to_base64(other)) == "wrong_signature");
    }
    CHECK(verdict_on("v=" + proto::to_base64(octets + "x")) == "wrong_signature");
    for (const std::string& bad :
         {std::string(), std::string("v="), right.substr(2), "V" + right.substr(1), right + ",",
          right + ",m=ext", right + ",x", "x=more," + right, std::string("v=!"),
          std::string(sha_256.server_first)}) {
        INFO(bad);
        CHECK(verdict_on(bad) == "bad_challenge");
    }
    for (std::size_t size = 0; size < right.size(); ++size)
        CHECK_FALSE(verdict_on(right.substr(0, size)).empty());
    CHECK(verdict_on("e=invalid-proof") == "refused");
    CHECK(verdict_on("e=channel-bindings-dont-match,x=more") == "refused");
}

TEST_CASE("scram: no two nonces are the same, and each is printable") {
    const std::string one = make_nonce();
    CHECK(one.size() == 24);
    CHECK(one != make_nonce());
    CHECK(one.find_first_of(", =") == std::string::npos);
}
