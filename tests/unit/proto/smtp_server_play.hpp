// SPDX-License-Identifier: GPL-3.0-or-later
// The server state machine as transcripts: an owner that answers for it, and a replay of what both
// sides say, at once, octet by octet and cut in two at every place.
#pragma once

#include "proto/smtp/server.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::proto::test {

// What AUTH offers.
struct announced {
    std::string_view mechanisms{};
    std::string_view over_tls{};
};

// What an owner says at stages that it judges.
using judge = std::function<std::optional<server_reply>(server_stage)>;

inline judge refusing(server_stage at, const server_reply& what) {
    return [=](server_stage stage) { return stage == at ? std::optional(what) : std::nullopt; };
}

// An owner that knows everybody but those called unknown..., takes every message, and lets in who
// says "right" in AUTH; an answer of three octets is asked for more.
class session {
  public:
    explicit session(const server_config& config, const announced& auth = {}, judge judges = {})
        : config_(config), judge_(std::move(judges)), machine_(config_, "mx.test") {
        config_.judges_stages = judge_ != nullptr;
        machine_.announce_auth(auth.mechanisms, auth.over_tls);
        answered(machine_.greet(output));
    }

    // Returns what was left when the session closed.
    std::string feed(std::string_view input) {
        for (;;) {
            server_step step = machine_.consume(input, output);
            input.remove_prefix(step.consumed);
            step = answered(step);
            if (step.event == server_event::need_more) return std::string(input);
            if (step.event == server_event::close) closed = true;
            if (closed) return std::string(input);
            obey(step);
        }
    }

    std::string output;
    std::vector<std::string> messages;    // accepted
    std::vector<std::string> recipients;  // asked about
    bool closed = false;
    std::uint32_t refused = 0;

  private:
    server_step answered(const server_step& step) {
        if (step.event != server_event::ask) return step;
        if (step.stage != server_stage::rcpt)
            return machine_.answer(judge_ ? judge_(step.stage) : std::nullopt, output);
        recipients.emplace_back(step.text);
        if (!step.text.starts_with("unknown")) return machine_.answer({}, output);
        return machine_.answer(server_reply{550, "5.1.1", "No such user"}, output);
    }

    void obey(const server_step& step) {
        switch (step.event) {
            case server_event::start_tls:
                append_reply(output, step.reply);
                break;
            case server_event::auth_begin:
                if (machine_.auth_initial() == nullptr) {
                    machine_.ask_auth("for " + std::string(step.text), output);
                } else {
                    let_in(*machine_.auth_initial());
                }
                break;
            case server_event::auth_line:
                let_in(step.text);
                break;
            case server_event::message_begin:
                content_.clear();
                break;
            case server_event::content:
                content_ += step.text;
                break;
            case server_event::message_end:
                CHECK(machine_.message_octets() == content_.size());
                messages.push_back(content_);
                while (machine_.answers_due() != 0) {
                    machine_.answer_delivery(replies::message_ok, output);
                }
                break;
            case server_event::message_refused:
                refused += step.replies;
                break;
            default:
                break;
        }
    }

    void let_in(std::string_view said) {
        if (said.size() == 3) return machine_.ask_auth("more", output);
        machine_.answer_auth(said == "right" ? replies::authenticated : replies::auth_wrong,
                             output);
    }

    server_config config_;
    const judge judge_;
    smtp_server machine_;
    std::string content_;
};

struct script {
    std::string sent;
    std::string wanted;
};

// "-> " a line from the client (CRLF is added), "=> " raw octets from the client, "<- " a line from
// the server.
inline script parse(const std::vector<std::string>& lines) {
    script result;
    for (const std::string& line : lines) {
        const std::string text = line.substr(3);
        if (line.starts_with("-> ")) result.sent += text + "\r\n";
        if (line.starts_with("=> ")) result.sent += text;
        if (line.starts_with("<- ")) result.wanted += text + "\r\n";
    }
    return result;
}

struct outcome {
    std::vector<std::string> messages;
    std::vector<std::string> recipients;
    bool closed = false;
    std::uint32_t refused = 0;
};

// The same conversation at once, octet by octet, and cut in two at every place.
inline outcome replay(const server_config& config, const std::vector<std::string>& lines,
                      const announced& auth = {}, const judge& judges = {}) {
    const script play = parse(lines);
    session whole(config, auth, judges);
    whole.feed(play.sent);
    CHECK(whole.output == play.wanted);
    session slow(config, auth, judges);
    for (const char c : play.sent) {
        if (!slow.closed) slow.feed(std::string(1, c));
    }
    CHECK(slow.output == play.wanted);
    for (std::size_t at = 0; at <= play.sent.size(); ++at) {
        session cut(config, auth, judges);
        cut.feed(std::string_view(play.sent).substr(0, at));
        if (!cut.closed) cut.feed(std::string_view(play.sent).substr(at));
        if (cut.output != play.wanted || cut.messages != whole.messages) {
            CAPTURE(at);
            CHECK(cut.output == play.wanted);
            CHECK(cut.messages == whole.messages);
        }
    }
    return {whole.messages, whole.recipients, whole.closed, whole.refused};
}

inline const std::vector<std::string> greeted = {
    "<- 220 mx.test ESMTP ready",
    "-> EHLO client.example",
    "<- 250-mx.test",
    "<- 250-PIPELINING",
    "<- 250-SIZE 10485760",
    "<- 250-8BITMIME",
    "<- 250-ENHANCEDSTATUSCODES",
    "<- 250-SMTPUTF8",
    "<- 250-CHUNKING",
    "<- 250 HELP",
};

inline const std::vector<std::string> lmtp_greeted = {
    "<- 220 mx.test LMTP ready",
    "-> LHLO client.example",
    "<- 250-mx.test",
    "<- 250-PIPELINING",
    "<- 250-SIZE 10485760",
    "<- 250-8BITMIME",
    "<- 250-ENHANCEDSTATUSCODES",
    "<- 250-SMTPUTF8",
    "<- 250-CHUNKING",
    "<- 250 HELP",
};

inline std::vector<std::string> after(std::vector<std::string> start,
                                      const std::vector<std::string>& rest) {
    start.insert(start.end(), rest.begin(), rest.end());
    return start;
}

}  // namespace postal::proto::test
