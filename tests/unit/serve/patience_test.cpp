// SPDX-License-Identifier: GPL-3.0-or-later
// How long a session waits for its client, and what he hears when that is over.
#include "serve/patience.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>

using namespace postal;
using namespace std::chrono_literals;

namespace {

// A server that has heard so much.
proto::smtp_server after(const proto::server_config& config, std::string_view said) {
    proto::smtp_server machine(config, "mail.example.com");
    std::string out;
    machine.greet(out);
    for (;;) {
        proto::server_step step = machine.consume(said, out);
        said.remove_prefix(step.consumed);
        if (step.event == proto::server_event::ask) step = machine.answer({}, out);
        if (step.event == proto::server_event::need_more) return machine;
    }
}

}  // namespace

TEST_CASE("patience: what ends a session that goes on") {
    const proto::server_config config;
    const std::string sender = "HELO client\r\nMAIL FROM:<>\r\n";
    const std::string content = sender + "RCPT TO:<b@example.com>\r\nDATA\r\nbody\r\n";
    struct row {
        std::string reason;
        std::string said;
        std::chrono::nanoseconds mail_ago;
        std::chrono::nanoseconds content_for;
        bool trusted;
        bool slowly;
        std::chrono::nanoseconds left;
        unsigned code;  // 0: silence
        proto::server_stage stage;
    };
    using enum proto::server_stage;
    for (const row& each : {
             row{"silence", "", 0s, 0s, false, false, 60s, 0, other},
             row{"no message for long", "", 270s, 0s, false, false, 30s, 421, mail},
             row{"who is trusted need not hurry", "", 270s, 0s, true, false, 60s, 0, other},
             row{"whom we read slowly neither", sender, 270s, 0s, false, true, 60s, 0, other},
             row{"an envelope that takes long", sender, 270s, 0s, false, false, 30s, 421, rcpt},
             row{"content that drips", content, 0s, 50s, false, false, 10s, 421, data},
         }) {
        INFO(each.reason);
        serve::session_rules rules;
        rules.timeout = 60s;
        rules.message_time = 300s;
        rules.min_data_rate = 1000;
        const auto machine = after(config, each.said);
        serve::patience of(rules, each.trusted);
        const load::steady_time begun{1000h};
        CHECK(of.it_is(begun) == load::steady_time{});
        of.begin_anew();
        of.mail_comes();
        of.content_begins();
        of.content_waited(each.content_for);
        of.it_is(begun + each.mail_ago);
        const auto until = of.of_client(machine, each.slowly);
        CHECK(until - of.now() <= each.left + 1s);
        CHECK(until - of.now() >= each.left - 1s);
        CHECK(of.silence() == (each.code == 0));
        if (of.silence()) continue;
        CHECK(of.of_end(machine).reply.code == each.code);
        CHECK(of.of_end(machine).stage == each.stage);
        CHECK(of.of_silence() == of.now() + 60s);
        CHECK(of.silence());
    }
}
