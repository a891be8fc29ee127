// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_reader.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "mail/message_factory.hpp"
#include "rabid/phases.hpp"

using namespace postal;
using namespace postal::rabid;

namespace {

// A worker whose session reads what the server says, all of it or in pieces.
class reading {
  public:
    explicit reading(options chosen = {}) : plan_(std::move(chosen)) {
        REQUIRE(mailbox_.select("INBOX", 1, proto::imap_verb::select, {}));
        examiner_.open({}, ledger::way::imap);
        hear({"* 9 EXISTS", "a1 OK selected"});
        reader.begin({});
    }

    // Each response without its line end.
    void hear(const std::vector<std::string>& lines, std::size_t piece = std::string::npos) {
        std::string text;
        for (const std::string& line : lines)
            text += line + "\r\n";
        for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at))
            take(std::string_view(text).substr(at, piece));
    }

    void close() { examiner_.close({}); }

    const stats::tally& counts() { return worker_.tally(); }

    unsigned whole = 0;

    void take(std::string_view heard) {
        for (;;) {
            const proto::imap_step step = responses_.next(heard);
            heard.remove_prefix(step.consumed);
            if (step.event == proto::imap_event::need_more) return;
            REQUIRE(step.event != proto::imap_event::broken);
            mailbox_.apply(step);
            if (reader.take(step, mailbox_)) ++whole;
        }
    }

  private:
    plan plan_;
    load::worker worker_{{.phases = phase_count}, [](auto&&...) {}};
    worker_context context_{plan_, worker_, nullptr};
    examiner examiner_{context_};
    base::random_source random_{1};
    proto::imap_responses responses_;
    proto::imap_mailbox mailbox_;

  public:
    imap_reader reader{context_, examiner_, random_};
};

std::string literal(const std::string& text) {
    return "{" + std::to_string(text.size()) + "}\r\n" + text;
}

const std::string foreign = literal("Subject: x\r\n\r\nof somebody else\r\n");

options deleting(bool foreign_too) {
    options chosen;
    chosen.delete_percent = 100;
    chosen.delete_foreign = foreign_too;
    return chosen;
}

}  // namespace

TEST_CASE("imap reader: a message is whole behind its body, wherever its UID stands") {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
        reading one(deleting(true));
        one.hear({"* 3 FETCH (UID 7 BODY[] " + foreign + ")"}, piece);
        one.hear({"* 4 FETCH (BODY[] " + foreign + " UID 8)"}, piece);
        CHECK(one.whole == 2);
        CHECK(one.counts().started == 2);
        CHECK(one.counts().messages == 2);
        CHECK(one.counts().foreign == 2);
        CHECK(one.reader.to_delete() == std::vector<std::uint32_t>{7, 8});
    }
}

TEST_CASE("imap reader: what is somebody else's is neither ours nor deleted") {
    reading one(deleting(false));
    one.hear({"* 3 FETCH (UID 7 BODY[] " + foreign + ")"});
    CHECK(one.counts().foreign == 1);
    CHECK(one.reader.ours().empty());
    CHECK(one.reader.to_delete().empty());
}

TEST_CASE("imap reader: ours is remembered by its UID, and without one not at all") {
    mail::message_options wanted;
    wanted.run = 1;
    mail::message_factory factory(*mail::message_plan::create(wanted));
    mail::message made;
    const std::string_view to = "r@example.com";
    factory.make({.from = "s@example.com", .recipients = {&to, 1}}, made);
    std::string text;
    for (const std::string_view part : made.raw_parts())
        text += part;

    reading one(deleting(false));
    one.hear({"* 3 FETCH (UID 7 BODY[] " + literal(text) + ")"});
    one.hear({"* 4 FETCH (BODY[] " + literal(text) + ")"});
    CHECK(one.counts().verified == 2);
    CHECK(one.counts().duplicate == 1);
    CHECK(one.reader.ours() == std::vector<std::uint32_t>{7});
    CHECK(one.reader.to_delete() == std::vector<std::uint32_t>{7});
}

TEST_CASE("imap reader: a UID of a message beyond EXISTS is kept") {
    reading one(deleting(true));
    one.hear({"* 10 FETCH (UID 838 BODY[] " + foreign + ")", "* 3 FETCH (BODY[] " + foreign + ")"});
    CHECK(one.whole == 2);
    CHECK(one.reader.to_delete() == std::vector<std::uint32_t>{838});
}

TEST_CASE("imap reader: how many of a reading came, each message counted once") {
    reading one(deleting(true));
    one.reader.begin_reading(9);
    one.hear({"* 3 FETCH (UID 7 BODY[] " + foreign + ")",
              "* 3 FETCH (UID 7 BODY[] " + foreign + ")",
              "* 4 FETCH (UID 8 BODY[] " + foreign + ")"});
    CHECK(one.reader.came() == 2);
    one.reader.begin_reading(9);
    CHECK(one.reader.came() == 0);
}

TEST_CASE("imap reader: of bodies and sections in one response the first whole body counts") {
    reading one;
    const std::string other = literal("else");
    one.hear({"* 3 FETCH (BODY[HEADER] " + other + " BODY[] " + foreign + " BODY[] " + other +
              " BODY[TEXT] " + other + " UID 7)"});
    CHECK(one.whole == 1);
    CHECK(one.counts().messages == 1);
    CHECK(one.counts().bytes == std::string_view("Subject: x\r\n\r\nof somebody else\r\n").size());
}

TEST_CASE("imap reader: a FETCH without a body is no message") {
    reading one;
    one.hear({"* 3 FETCH (UID 7 FLAGS (\\Seen))", "* 3 FETCH (UID 7 BODY[] NIL)", "* 9 EXISTS"});
    one.close();
    CHECK(one.counts().started == 0);
    CHECK(one.counts().failed == 0);
}

TEST_CASE("imap reader: what breaks off within a message or behind it has failed, once") {
    const std::vector<std::string> lasts{"* 3 FETCH (BODY[] {99}\r\nhalf",
                                         "* 3 FETCH (BODY[] " + foreign};
    for (const std::string& last : lasts) {
        reading one;
        one.take(last);
        one.close();
        one.close();
        CHECK(one.counts().started == 1);
        CHECK(one.counts().failed == 1);
        CHECK(one.counts().messages == 0);
    }
}

TEST_CASE("imap_reader: a message that does not come to an end is none") {
    reading tested;
    const std::string piece(std::size_t{1} << 20U, 'x');
    tested.take("* 1 FETCH (UID 1 BODY[] {4000000000}\r\nSubject: x\r\n\r\n");
    const load::steady_time begun{};
    SECTION("in time: sixty times what a command has") {
        CHECK_FALSE(tested.reader.without_end(begun + std::chrono::hours(1)));
        CHECK(tested.reader.without_end(begun + std::chrono::minutes(61)));
    }
    SECTION("in octets: --max-message, once it is announced, or has come") {
        const std::uint64_t most = tested.reader.most_octets();
        CHECK_FALSE(tested.reader.too_big(most));
        for (std::uint64_t sent = 0; sent + piece.size() < most; sent += piece.size())
            tested.take(piece);
        CHECK_FALSE(tested.reader.too_big(0));
        CHECK(tested.counts().oversized == 0);
        tested.take(piece);
        CHECK(tested.reader.too_big(0));
        CHECK(tested.counts().oversized == 1);
        CHECK(tested.reader.too_big(most + 1));
    }
    tested.close();
    CHECK(tested.counts().failed == 1);
}
