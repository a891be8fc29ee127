// SPDX-License-Identifier: GPL-3.0-or-later
// What a server answers at each stage, and what is to be done then, without a session around it.
#include "serve/dialogue.hpp"
#include "session_play.hpp"

using namespace postal;
using namespace postal::serve::test;
using namespace std::chrono_literals;

namespace {

using next = serve::dialogue::next;

struct unwatched final : load::watched {
    void on_deadline() override {}
    void on_stop(load::stop_kind) override {}
};

// Takes everybody but `nobody`, and answers a message when it likes.
struct desk final : serve::mail_program {
    std::optional<proto::server_reply> judge(const proto::server_step& asked) override {
        const bool here = asked.stage == at;
        if (here) of->add_effect(effect, false);
        return here ? reply : std::nullopt;
    }
    void take_content(std::string_view text) override { content += text; }
    void end_message() override {
        if (late) return;
        machine->answer_delivery(proto::replies::message_ok, of->output());
    }
    bool answers_ready() const override { return !late; }
    void answers_due_now() override { ++due; }

    serve::dialogue* of = nullptr;
    proto::smtp_server* machine = nullptr;
    std::optional<proto::server_stage> at{};
    std::optional<proto::server_reply> reply{};
    proto::stage_effect effect{};
    bool late = false;
    std::string content;
    unsigned due = 0;
};

// One client's dialogue, and what he has said.
class one_dialogue {
  public:
    explicit one_dialogue(const serve::session_rules& rules)
        : rules_(rules),
          context_(rules_, own_),
          client_(context_, who_, "mail.example.com", program, watched_),
          dialogue_(client_),
          ends_(both_ends()) {
        REQUIRE(client_.connection.adopt({std::move(ends_[0]), AF_INET}) == net::fault::none);
        program.of = &dialogue_;
        program.machine = &client_.machine;
        client_.read_clock();
        dialogue_.begin_turn();
    }

    // What comes of it, and what was answered.
    next says(std::string_view text) {
        if (!text.empty()) {
            REQUIRE(::write(ends_[1].get(), text.data(), text.size()) ==
                    static_cast<ssize_t>(text.size()));
            REQUIRE(client_.input.read(client_.connection).size == text.size());
        }
        return goes_on();
    }
    next goes_on() {
        const next what = dialogue_.process();
        answered = std::exchange(client_.output.text(), {});
        return what;
    }
    serve::dialogue& operator*() noexcept { return dialogue_; }
    std::string counted() { return told(own_.tally()); }

    desk program;
    std::string answered;

  private:
    static std::array<base::file_descriptor, 2> both_ends() {
        std::array<int, 2> ends{-1, -1};
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) ==
                0);
        return {base::file_descriptor(ends[0]), base::file_descriptor(ends[1])};
    }

    const serve::session_rules rules_;
    load::worker own_{{.phases = phases},
                      [](load::worker&, std::chrono::nanoseconds, const stats::tally&, bool) {}};
    serve::worker_context context_;
    serve::session_slots slots_{1, {}};
    serve::accepted_client who_{{base::file_descriptor(), AF_INET}, *slots_.take()};
    unwatched watched_;
    serve::client_parts client_;
    serve::dialogue dialogue_;
    std::array<base::file_descriptor, 2> ends_;
};

constexpr std::string_view envelope =
    "MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n";

}  // namespace

TEST_CASE("dialogue: a message, and what it is told of") {
    one_dialogue with(plain_rules());
    CHECK(with.says("") == next::read);
    CHECK(with.answered == banner);
    CHECK(with.says("HELO client\r\n" + std::string(envelope)) == next::read);
    CHECK(with.answered == "250 mail.example.com\r\n" + std::string(sender_ok) +
                               std::string(recipient_ok) + std::string(start_data));
    CHECK_FALSE((*with).at_rest());
    CHECK(with.says("body\r\n.\r\nQUIT\r\n") == next::close);
    CHECK(with.answered == std::string(message_ok) + std::string(bye));
    CHECK(with.program.content == "body\r\n");
    CHECK((*with).at_rest());
}

TEST_CASE("dialogue: what is done behind a reply") {
    const proto::server_reply no{550, "5.7.1", "No"};
    struct row {
        std::string reason;
        proto::server_stage at;
        std::optional<proto::server_reply> reply;
        proto::stage_effect effect;
        std::string_view answered;  // at once
        std::vector<next> then;
        std::string_view at_last;
    };
    using enum proto::server_stage;
    for (const row& each : {
             row{"nothing", ehlo, {}, {}, "250 mail.example.com\r\n", {next::read}, ""},
             row{"a delay",
                 ehlo,
                 {},
                 {.delay = 1s},
                 "",
                 {next::hold, next::read},
                 "250 mail.example.com\r\n"},
             row{"a refusal that is late",
                 mail,
                 no,
                 {.delay = 1s},
                 "250 mail.example.com\r\n",
                 {next::hold, next::read},
                 "550 5.7.1 No\r\n"},
             row{"an end in the place of the reply",
                 mail,
                 {},
                 {.close = proto::cut::fin},
                 "250 mail.example.com\r\n",
                 {next::cut},
                 ""},
             row{"an end behind it",
                 mail,
                 no,
                 {.reply = no, .close = proto::cut::fin},
                 "250 mail.example.com\r\n550 5.7.1 No\r\n",
                 {next::cut},
                 ""},
         }) {
        INFO(each.reason);
        serve::session_rules rules = plain_rules();
        rules.server.judges_stages = rules.server.judges_senders = true;
        one_dialogue with(rules);
        with.program.at = each.at;
        with.program.reply = each.reply;
        with.program.effect = each.effect;
        CHECK(with.says("") == next::read);
        const next first = with.says("HELO client\r\nMAIL FROM:<a@example.com>\r\n");
        CHECK(first == each.then.front());
        CHECK(with.answered.substr(0, each.answered.size()) == each.answered);
        if (first != next::hold) continue;
        CHECK(with.answered == each.answered);
        CHECK((*with).wait() == each.effect.delay);
        (*with).held_back();
        CHECK(with.goes_on() == each.then.back());
        CHECK(with.answered.substr(0, each.at_last.size()) == each.at_last);
    }
}

TEST_CASE("dialogue: it stops for answers that take time, a full buffer, and for others") {
    one_dialogue waiting(plain_rules());
    waiting.program.late = true;
    CHECK(waiting.says("") == next::read);
    CHECK(waiting.says("HELO client\r\n" + std::string(envelope) + ".\r\n") == next::answers);
    CHECK(waiting.program.due > 0);

    serve::session_rules rules = plain_rules();
    rules.server.max_idle_commands = 0;
    one_dialogue busy(rules);
    CHECK(busy.says("") == next::read);
    std::string many;
    for (int i = 0; i < 300; ++i)
        many += "NOOP\r\n";
    CHECK(busy.says(many) == next::others);
    (*busy).begin_turn();
    CHECK(busy.goes_on() == next::read);
}

TEST_CASE("dialogue: what stands behind STARTTLS already is not taken for what TLS brings") {
    serve::session_rules rules = plain_rules();
    rules.server.offers_tls = true;
    one_dialogue good(rules);
    CHECK(good.says("") == next::read);
    CHECK(good.says("EHLO client\r\nSTARTTLS\r\n") == next::secure);
    CHECK(good.counted().empty());

    one_dialogue bad(rules);
    CHECK(bad.says("") == next::read);
    CHECK(bad.says("EHLO client\r\nSTARTTLS\r\nNOOP\r\n") == next::close);
    CHECK(bad.counted() == "1x tls 0 injection");
}
