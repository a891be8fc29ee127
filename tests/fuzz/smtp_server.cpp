// SPDX-License-Identifier: GPL-3.0-or-later
// proto/smtp/server.hpp: a dialogue fed whole and in pieces has the same replies, and every octet
// is used up. The first octet of the input chooses the dialect.
#include "proto/smtp/server.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "support.hpp"

namespace {

using namespace postal::proto;

// False when the session was closed.
bool feed(smtp_server& session, std::string_view input, std::string& replied) {
    while (true) {
        const server_step step = session.consume(input, replied);
        if (step.consumed > input.size()) std::abort();
        input.remove_prefix(step.consumed);
        if (step.event == server_event::ask) {
            if (session.answer({}, replied).event == server_event::ask) std::abort();
        } else if (step.event == server_event::auth_begin) {
            if (session.auth_initial() != nullptr) {
                session.answer_auth(replies::auth_wrong, replied);
            } else {
                session.ask_auth(step.text, replied);
            }
        } else if (step.event == server_event::auth_line) {
            if (step.text.size() % 2 != 0) {
                session.ask_auth(step.text, replied);
            } else {
                session.answer_auth(
                    step.text.empty() ? replies::authenticated : replies::auth_wrong, replied);
            }
        } else if (step.event == server_event::message_end) {
            while (session.answers_due() > 0)
                session.answer_delivery(replies::message_ok, replied);
        } else if (step.event == server_event::close) {
            return false;
        } else if (step.event == server_event::need_more) {
            if (!input.empty()) std::abort();
            return true;
        }
    }
}

template <class Pieces>
std::string dialogue(Pieces input, dialect speaks) {
    server_config config;
    config.speaks = speaks;
    config.max_message = 1000;
    config.requires_auth = speaks == dialect::lmtp;
    config.judges_stages = config.judges_senders = speaks == dialect::lmtp;
    smtp_server session(config, "host.example");
    session.announce_auth("PLAIN CRAM-MD5", "LOGIN");
    std::string replied;
    if (session.greet(replied).event == server_event::ask) session.answer({}, replied);
    while (!input.empty() && feed(session, input.next(), replied)) {
    }
    return replied;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    const auto speaks = data[0] == 'L' ? dialect::lmtp : dialect::smtp;
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    fuzz::require(dialogue(fuzz::whole(input), speaks) == dialogue(fuzz::pieces(input), speaks));
    return 0;
}
