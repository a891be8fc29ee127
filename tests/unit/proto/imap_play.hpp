// SPDX-License-Identifier: GPL-3.0-or-later
// What imap_responses makes of a server's words, as lines of text: for tests that hold both beside
// each other, with the input cut at once, octet by octet, and in two at every place.
#pragma once

#include "proto/imap/responses.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace postal::proto::test {

using heard = std::vector<std::string>;

inline std::string_view word_of(imap_event event) {
    constexpr std::string_view words[] = {
        "need_more", "tagged",    "untagged", "continuation", "capability", "enabled",
        "exists",    "recent",    "expunge",  "vanished",     "flags",      "list",
        "status",    "namespace", "found",    "search_end",   "fetch",      "uid",
        "flags",     "size",      "date",     "modseq",       "envelope",   "structure",
        "body",      "piece",     "body_end", "nil",          "fetch_end",  "other",
        "broken"};
    return words[static_cast<std::size_t>(event)];
}

inline std::string_view word_of(imap_condition condition) {
    constexpr std::string_view words[] = {"", "ok", "no", "bad", "preauth", "bye"};
    return words[static_cast<std::size_t>(condition)];
}

inline std::string words(std::initializer_list<std::string> list) {
    std::string line;
    for (const std::string& word : list) {
        if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    }
    return line;
}

// "tagged a1 ok #13 [4] 4 'text'", where 13 is the code's place in its enumeration.
inline std::string condition_line(const imap_step& step) {
    std::string code;
    std::string number;
    if (step.code != imap_code::none) code = "#" + std::to_string(static_cast<int>(step.code));
    if (step.number != 0) number = "[" + std::to_string(step.number) + "]";
    return words({std::string(word_of(step.event)), std::string(step.tag),
                  std::string(word_of(step.condition)), code, number, std::string(step.arguments),
                  "'" + std::string(step.text) + "'"});
}

// "exists 23", "body [HEADER] 5".
inline std::string line_of(const imap_step& step) {
    const std::string event(word_of(step.event));
    const std::string text(step.text);
    const std::string number = std::to_string(step.number);
    switch (step.event) {
        case imap_event::tagged:
        case imap_event::untagged:
            return condition_line(step);
        case imap_event::found:
        case imap_event::vanished:
            return words({event,
                          std::to_string(step.range.first) + ":" + std::to_string(step.range.last),
                          step.earlier ? "earlier" : ""});
        case imap_event::personal_namespace:
            return words({event, "'" + text + "'", number});
        case imap_event::body_begin:
            return words({event, "[" + text + "]", number});
        case imap_event::body_end:
        case imap_event::body_nil:
            return words({event, "[" + text + "]"});
        default:
            return words({event, step.number != 0 ? number : text});
    }
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
