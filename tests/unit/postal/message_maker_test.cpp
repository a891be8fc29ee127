// SPDX-License-Identifier: GPL-3.0-or-later
// Mail follows from the seed, the session's number in the run and its sequence number alone.
#include "postal/message_maker.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <tuple>

#include "postal/plan.hpp"

using namespace postal;
using namespace postal::sender;

namespace {

using mail_of_sessions = std::map<std::tuple<std::uint64_t, std::uint64_t>, std::string>;

std::unique_ptr<plan> plan_of(const program::run_identity& who) {
    options chosen;
    chosen.recipients = {1, 3};
    auto result = std::make_unique<plan>(std::move(chosen), who);
    REQUIRE(program::prepare(result->load, result->chosen, who).has_value());
    for (int i = 0; i < 20; ++i)
        result->recipients.emplace_back().address = "user" + std::to_string(i) + "@example.com";
    result->senders = result->recipients;
    mail::message_options wanted;
    wanted.seed = result->load.seed;
    wanted.run = result->load.run;
    wanted.host = "client.example.com";
    wanted.version = "1";
    wanted.sizes = *mail::size_spec::uniform(0, 4096);
    result->generated = *mail::message_plan::create(std::move(wanted));
    return result;
}

// What the sessions of this share send, three messages each: envelope and octets.
void send(const program::run_identity& who, std::uint64_t sessions, mail_of_sessions& into) {
    const auto of = plan_of(who);
    message_maker maker(*of);
    for (std::uint64_t own = 0; own < who.share.part_of(sessions); ++own) {
        for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
            transaction tx;
            tx.session = who.share.number(own);
            tx.sequence = sequence;
            maker.make(tx, std::nullopt, 3, {});
            std::string text = std::string(tx.sender) + "\n";
            for (const std::uint32_t one : tx.recipients)
                text += of->recipients[one].address + "\n";
            for (const std::string_view part : tx.message->raw_parts())
                text += part;
            CHECK(into.emplace(std::tuple(tx.session, sequence), std::move(text)).second);
            maker.take_back(tx.message);
        }
    }
}

}  // namespace

TEST_CASE("message_maker: a session has the same mail whichever rank carries it") {
    constexpr std::uint64_t sessions = 7;
    mail_of_sessions alone;
    send({.seed = 42, .run = 9}, sessions, alone);
    REQUIRE(alone.size() == 3 * sessions);
    for (const std::uint64_t ranks : {2ULL, 3ULL, 7ULL}) {
        mail_of_sessions together;
        for (std::uint64_t rank = 0; rank < ranks; ++rank)
            send({.seed = 42, .run = 9, .share = {rank, ranks}}, sessions, together);
        CHECK((together == alone));
    }
    mail_of_sessions other;
    send({.seed = 43, .run = 9}, sessions, other);
    CHECK((other != alone));
}
