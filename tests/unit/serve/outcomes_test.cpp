// SPDX-License-Identifier: GPL-3.0-or-later
// What is counted of a client's messages, and of the end of his session.
#include "serve/outcomes.hpp"
#include "session_play.hpp"

using namespace postal;
using namespace postal::serve::test;

namespace {

struct in_doubt final : serve::mail_program {
    std::optional<proto::server_reply> judge(const proto::server_step&) override { return {}; }
    void end_message() override {}
    bool outcome_pending() const override { return pending; }
    void drop_message() override { ++dropped; }

    bool pending = false;
    unsigned dropped = 0;
};

struct counter {
    serve::session_rules rules = plain_rules();
    load::worker own{{.phases = phases},
                     [](load::worker&, std::chrono::nanoseconds, const stats::tally&, bool) {}};
    serve::worker_context context{rules, own};
    proto::smtp_server machine{rules.server, "mail.example.com"};
    in_doubt program;
    serve::outcomes of{context, machine, program};

    std::string counted() { return told(own.tally()); }
};

const proto::server_reply refusal{450, "4.7.1", "Not now"};

}  // namespace

TEST_CASE("outcomes: a refusal is an error, and a strike of the limit that it names") {
    counter plain;
    plain.of.refused(proto::server_stage::rcpt, refusal);
    CHECK(plain.counted() == "1x rcpt 450 4.7.1");

    counter limited;
    limited.of.refused(proto::server_stage::rcpt, {452, "4.5.3", "Too many", "max-recipients"});
    CHECK(limited.counted() == "1x rcpt 452 4.5.3, 1x --max-recipients");
}

TEST_CASE("outcomes: what a refused sender brings about is counted once") {
    counter of;
    of.of.command_answered(proto::server_stage::mail, refusal, true);
    of.of.command_answered(proto::server_stage::rcpt, proto::replies::no_such_user, true);
    of.of.command_answered(proto::server_stage::data, proto::replies::no_such_user, false);
    CHECK(of.counted() == "1 started, 1 deferred, 1x mail 450 4.7.1");
}

TEST_CASE("outcomes: what was begun is failed, or in doubt where nobody has been told") {
    for (const bool pending : {false, true}) {
        for (const bool stopped : {false, true}) {
            counter of;
            of.of.command_answered(proto::server_stage::mail, proto::replies::sender_ok, false);
            of.program.pending = pending;
            if (stopped) of.of.stopped_now();
            of.of.message_dropped();
            CHECK(of.program.dropped == 1);
            const std::string end = pending ? "1 in doubt" : "1 failed";
            const std::string error = pending ? ", 1x end 0 stopped" : ", 1x data 0 stopped";
            CHECK(of.counted() == "1 started, " + end + (stopped ? error : ""));
            of.of.message_dropped();
            CHECK(of.own.tally().started == 1);
        }
    }
}

TEST_CASE("outcomes: an end without QUIT is an error at the stage that it ends") {
    counter idle;
    idle.of.lost(net::fault::closed, {});
    CHECK(idle.counted() == "1x quit 0 no_quit");

    counter untold;
    untold.program.pending = true;
    untold.of.lost(net::fault::timeout, {});
    CHECK(untold.counted() == "1x end 0 timeout");

    counter broken;
    net::tls_problem problem;
    problem.reason = "bad_record";
    broken.of.lost(net::fault::tls, problem);
    CHECK(broken.counted() == "1x quit 0 bad_record");

    counter left;
    left.of.sent_away({.stage = proto::server_stage::quit, .reply = proto::replies::bye}, false);
    CHECK(left.of.has_quit());
    CHECK(left.counted().empty());
}
