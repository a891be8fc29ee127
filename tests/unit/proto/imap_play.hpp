// What imap_responses makes of a server's words, as lines of text: for tests that hold both beside
// each other, with the input cut at once, octet by octet, and in two at every place.
#pragma once

#include "proto/imap_responses.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::proto::test {

using heard = std::vector<std::string>;

inline std::string_view word_of(imap_event event) {
    constexpr std::string_view words[] = {
        "need_more", "tagged",   "untagged",   "continuation", "capability", "enabled",
        "exists",    "recent",   "expunge",    "vanished",     "flags",      "list",
        "status",    "found",    "search_end", "fetch",        "uid",        "flags",
        "size",      "date",     "modseq",     "envelope",     "structure",  "body",
        "piece",     "body_end", "nil",        "fetch_end",    "other",      "broken"};
    return words[static_cast<std::size_t>(event)];
}

inline std::string_view word_of(imap_condition condition) {
    constexpr std::string_view words[] = {"", "ok", "no", "bad", "preauth", "bye"};
    return words[static_cast<std::size_t>(condition)];
}

// "exists 23", "tagged a1 ok #13 [4] (1 2) text", "body [HEADER] 5".
inline std::string line_of(const imap_step& step) {
    std::string line(word_of(step.event));
    const auto add = [&line](std::string_view text) { line.append(" ").append(text); };
    switch (step.event) {
        case imap_event::tagged:
        case imap_event::untagged:
            if (!step.tag.empty()) add(step.tag);
            add(word_of(step.condition));
            if (step.code != imap_code::none) {
                add("#" + std::to_string(static_cast<int>(step.code)));
                if (step.number != 0) add("[" + std::to_string(step.number) + "]");
                if (!step.arguments.empty()) add(step.arguments);
            }
            add("'" + std::string(step.text) + "'");
            break;
        case imap_event::found:
        case imap_event::vanished:
            add(std::to_string(step.range.first) + ":" + std::to_string(step.range.last));
            if (step.earlier) add("earlier");
            break;
        case imap_event::flags:
        case imap_event::fetch_flags:
            add(std::to_string(step.flags));
            break;
        case imap_event::list:
            add(std::to_string(step.flags));
            add(std::string(1, step.delimiter == 0 ? '-' : step.delimiter));
            add(step.text);
            break;
        case imap_event::body_begin:
            add("[" + std::string(step.text) + "]");
            if (step.origin != 0) add("<" + std::to_string(step.origin) + ">");
            add(std::to_string(step.number));
            break;
        case imap_event::body_end:
        case imap_event::body_nil:
            add("[" + std::string(step.text) + "]");
            break;
        default:
            if (!step.text.empty() && step.event != imap_event::fetch_uid &&
                step.event != imap_event::fetch_size) {
                add(step.text);
            } else if (step.number != 0) {
                add(std::to_string(step.number));
            }
    }
    return line;
}

using each_step = std::function<void(const imap_responses&, const imap_step&)>;

// Gives every step to `take`; each piece of input has memory of its own.
inline void feed(imap_responses& responses, std::string_view bytes, const each_step& take) {
    const std::string piece(bytes);
    std::string_view left = piece;
    while (true) {
        const imap_step step = responses.next(left);
        left.remove_prefix(step.consumed);
        if (step.event == imap_event::need_more) break;
        take(responses, step);
        if (step.event == imap_event::broken) return;
    }
    if (!left.empty()) FAIL("need_more left something: " << left);
}

class listener {
  public:
    void feed(std::string_view bytes) {
        if (broken_) return;
        test::feed(responses, bytes,
                   [this](const imap_responses&, const imap_step& step) { note(step); });
    }

    imap_responses responses;
    heard lines;

  private:
    void note(const imap_step& step) {
        broken_ = step.event == imap_event::broken;
        const bool piece = step.event == imap_event::body_piece;
        if (piece && in_piece_) {
            lines.back() += step.text;
        } else {
            lines.push_back(line_of(step));
        }
        in_piece_ = piece;
    }

    bool in_piece_ = false;
    bool broken_ = false;
};

inline heard hear(std::string_view input, std::size_t piece) {
    listener one;
    for (; !input.empty(); input.remove_prefix(std::min(piece, input.size())))
        one.feed(input.substr(0, piece));
    return one.lines;
}

inline heard hear(std::string_view input) {
    return hear(input, input.size());
}

inline void check_all_splits(std::string_view input, const heard& wanted) {
    CHECK(hear(input) == wanted);
    CHECK(hear(input, 1) == wanted);
    for (std::size_t at = 1; at < input.size(); ++at) {
        listener one;
        one.feed(input.substr(0, at));
        one.feed(input.substr(at));
        if (one.lines == wanted) continue;
        CAPTURE(at);
        CHECK(one.lines == wanted);
    }
}

}  // namespace postal::proto::test
