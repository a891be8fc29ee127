// The server state machine as transcripts: an owner that answers for it, and a replay of what both
// sides say, at once, octet by octet and cut in two at every place.
#pragma once

#include "proto/smtp/server.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::proto::test {

// What AUTH offers.
struct announced {
    std::string_view mechanisms{};
    std::string_view over_tls{};
};

// Answers one stage in the machine's place.
struct refusing final : stage_judge {
    refusing(server_stage where, const server_reply& what) : at(where), reply(what) {}
    std::optional<server_reply> judge(server_stage stage, std::string_view,
                                      std::string_view) override {
        return stage == at ? std::optional(reply) : std::nullopt;
    }

    server_stage at;
    server_reply reply;
};

// An owner that knows everybody but those called unknown..., takes every message, and lets in who
// says "right" in AUTH; an answer of three octets is asked for more.
class session {
  public:
    explicit session(const server_config& config, const announced& auth = {},
                     stage_judge* judge = nullptr)
        : machine_(config, "mx.test", judge) {
        machine_.announce_auth(auth.mechanisms, auth.over_tls);
        machine_.greet(output);
    }

    // Returns what was left when the session closed.
    std::string feed(std::string_view input) {
        for (;;) {
            const server_step step = machine_.consume(input, output);
            input.remove_prefix(step.consumed);
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
    void obey(const server_step& step) {
        switch (step.event) {
            case server_event::recipient:
                recipients.emplace_back(step.text);
                if (step.text.starts_with("unknown")) {
                    machine_.answer_recipient({550, "5.1.1", "No such user"}, output);
                } else {
                    machine_.answer_recipient(replies::recipient_ok, output);
                }
                break;
            case server_event::auth_begin:
                if (machine_.auth_initial() == nullptr) {
                    machine_.ask_auth("for " + std::string(step.text), output);
                } else {
                    judge(*machine_.auth_initial());
                }
                break;
            case server_event::auth_line:
                judge(step.text);
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

    void judge(std::string_view said) {
        if (said.size() == 3) return machine_.ask_auth("more", output);
        machine_.answer_auth(said == "right" ? replies::authenticated : replies::auth_wrong,
                             output);
    }

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
                      const announced& auth = {}, stage_judge* judge = nullptr) {
    const script play = parse(lines);
    session whole(config, auth, judge);
    whole.feed(play.sent);
    CHECK(whole.output == play.wanted);
    session slow(config, auth, judge);
    for (const char c : play.sent) {
        if (!slow.closed) slow.feed(std::string(1, c));
    }
    CHECK(slow.output == play.wanted);
    for (std::size_t at = 0; at <= play.sent.size(); ++at) {
        session cut(config, auth, judge);
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
