// SPDX-License-Identifier: GPL-3.0-or-later
// An SMTP or LMTP server: the state machine of bhm and lmtp-deliver, with whatever the scenario has
// it answer.
#include "mail/message_checker.hpp"
#include "peers.hpp"
#include "proto/smtp/server.hpp"

namespace clients {

namespace {

using namespace postal;
using proto::server_event;
using proto::server_reply;

constexpr server_reply not_now{451, "4.3.0", "not now"};
constexpr server_reply never{550, "5.7.1", "never"};
constexpr std::string_view host_name = "smtp.example";

class smtp_server final : public dialogue {
  public:
    smtp_server(house& of, line& to, log_of_line& log, std::vector<bad_answer> bad)
        : dialogue(of, to, log, std::move(bad)),
          config_(config_of(log.spoken)),
          machine_(config_, host_name) {
        std::string out;
        machine_.greet(out);  // and asks
        const manner how = next_manner();
        machine_.answer(how == manner::refuses ? std::optional(not_now) : std::nullopt, out);
        add(out);
        if (how != manner::refuses) mark(said::kind::greeting);
        send_answer(how);
    }

    void gone() override {}

  private:
    static proto::server_config config_of(protocol spoken) {
        proto::server_config made;
        made.speaks = spoken == protocol::lmtp ? proto::dialect::lmtp : proto::dialect::smtp;
        made.judges_stages = made.judges_senders = true;
        made.max_errors = made.max_idle_commands = 0;
        return made;
    }

    // One step of the machine, or a few that come of it.
    std::size_t take(std::string_view text) override {
        std::size_t taken = 0;
        while (speaks()) {
            std::string out;
            proto::server_step step = machine_.consume(text.substr(taken), out);
            taken += step.consumed;
            if (step.event == server_event::ask) step = judge(out);
            if (step.event == server_event::message_begin) message_begins();
            if (step.event == server_event::content) hear(step.text);
            if (step.event == server_event::message_end) answer_message();
            if (!out.empty()) say(out, manner::fine);
            if (step.event == server_event::close) line_.hang_up();
            if (step.event == server_event::need_more || step.event == server_event::close) break;
        }
        return taken;
    }

    void say(std::string& out, manner how) {
        add(out);
        out.clear();
        send_answer(how);
    }

    // Its answer is the scenario's to choose.
    proto::server_step judge(std::string& out) {
        ++log_.commands;
        const manner how = next_manner();
        const server_reply& no = log_.commands % 2 == 0 ? not_now : never;
        const proto::server_step step =
            machine_.answer(how == manner::refuses ? std::optional(no) : std::nullopt, out);
        if (step.event != server_event::message_end && !out.empty()) say(out, how);
        return step;
    }

    void message_begins() {
        checker_.reset();
        octets_ = 0;
    }

    void hear(std::string_view text) {
        checker_.feed(text);
        octets_ += text.size();
    }

    // Whole, whatever is said to it.
    void answer_message() {
        const mail::check_result what = checker_.finish();
        const bool ours = what.what == mail::integrity::verified && what.id != nullptr;
        if (!ours) house_.wrong.emplace_back("a message arrives changed");
        if (ours && !house_.arrived.insert({what.id->session, what.id->sequence}).second)
            house_.wrong.emplace_back("a message arrives twice");
        while (machine_.answers_due() > 0 && speaks()) {
            const manner how = next_manner();
            const server_reply& no = log_.commands % 2 == 0 ? not_now : never;
            std::string out;
            machine_.answer_delivery(how == manner::refuses ? no : proto::replies::message_ok, out);
            ++log_.whole;
            add(out);
            if (how == manner::refuses) {
                mark(said::kind::message_refused);
            } else {
                mark_octets(said::kind::message_taken, octets_);
                ++house_.taken;
            }
            send_answer(how);
        }
        message_begins();
    }

    const proto::server_config config_;
    proto::smtp_server machine_;
    mail::message_checker checker_;
    std::uint64_t octets_ = 0;
};

}  // namespace

std::unique_ptr<peer> make_smtp_server(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad) {
    return std::make_unique<smtp_server>(of, to, log, std::move(bad));
}

}  // namespace clients
