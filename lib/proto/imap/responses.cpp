// SPDX-License-Identifier: GPL-3.0-or-later
// The stream, status responses, capabilities and counts; SEARCH, LIST and STATUS are in
// mailbox_data.cpp, the items of FETCH in fetch.cpp. One row a state: what takes its
// tokens, what happens to literals, and what is said of anything else.
#include "proto/imap/responses.hpp"

#include <algorithm>
#include <array>

#include "base/release.hpp"
#include "base/text.hpp"

namespace postal::proto {
namespace {

using kind = imap_token_kind;

constexpr std::size_t longest_tag = 64;
constexpr std::size_t usual_string = 4096;  // what a session may keep from one response to the next

void shrink(std::string& kept) noexcept {
    if (kept.capacity() > usual_string) base::release(kept);
}

}  // namespace

struct imap_responses::handler {
    // Literals are handed over as one quoted string, or as they come.
    enum literal_rule : std::uint8_t { collected, streamed };

    state is;
    void (imap_responses::*run)(const imap_token&, imap_step&);
    literal_rule literals;
    base::error_name problem;  // of a token that has no place there

    static const std::array<handler, static_cast<std::size_t>(state::broken)> table;
    static const handler& of(state is) noexcept { return table[static_cast<std::size_t>(is)]; }
};

constexpr decltype(imap_responses::handler::table) imap_responses::handler::table{{
    {state::start, &imap_responses::on_start, collected, "garbage"},
    {state::tagged, &imap_responses::on_tagged, collected, "garbage"},
    {state::untagged, &imap_responses::on_untagged, collected, "garbage"},
    {state::response_text, &imap_responses::on_response_text, collected, "garbage"},
    {state::continuation, &imap_responses::on_continuation, collected, "garbage"},
    {state::counted, &imap_responses::on_counted, collected, "garbage"},
    {state::finish, &imap_responses::on_finish, collected, "end_expected"},
    {state::words, &imap_responses::on_words, collected, "bad_capability"},
    {state::flags_open, &imap_responses::on_open<state::flags>, collected, "bad_flags"},
    {state::flags, &imap_responses::on_flags, collected, "bad_flags"},
    {state::search, &imap_responses::on_search, collected, "bad_search"},
    {state::esearch, &imap_responses::on_esearch, collected, "bad_search"},
    {state::esearch_value, &imap_responses::on_esearch_value, collected, "bad_search"},
    {state::vanished, &imap_responses::on_vanished, collected, "bad_vanished"},
    {state::list_open, &imap_responses::on_open<state::list_attributes>, collected, "bad_list"},
    {state::list_attributes, &imap_responses::on_list_attributes, collected, "bad_list"},
    {state::list_delimiter, &imap_responses::on_list_delimiter, collected, "bad_list"},
    {state::list_name, &imap_responses::on_list_name, collected, "bad_list"},
    {state::namespaces, &imap_responses::on_namespaces, collected, "bad_namespace"},
    {state::namespace_open, &imap_responses::on_open<state::namespace_prefix>, collected,
     "bad_namespace"},
    {state::namespace_prefix, &imap_responses::on_namespace_prefix, collected, "bad_namespace"},
    {state::namespace_delimiter, &imap_responses::on_namespace_delimiter, collected,
     "bad_namespace"},
    {state::status_name, &imap_responses::on_status_name, collected, "bad_status"},
    {state::status_open, &imap_responses::on_open<state::status_item>, collected, "bad_status"},
    {state::status_item, &imap_responses::on_status_item, collected, "bad_status"},
    {state::status_value, &imap_responses::on_status_value, collected, "bad_status"},
    {state::fetch_open, &imap_responses::on_fetch_open, collected, "bad_fetch"},
    {state::fetch_item, &imap_responses::on_fetch_item, collected, "bad_fetch"},
    {state::fetch_value, &imap_responses::on_fetch_value, collected, "bad_fetch"},
    {state::fetch_modseq, &imap_responses::on_fetch_modseq, collected, "bad_fetch"},
    {state::fetch_structure, &imap_responses::on_fetch_structure, streamed, "bad_structure"},
    {state::fetch_body, &imap_responses::on_fetch_body, streamed, "bad_body"},
    {state::skip, &imap_responses::on_skip, streamed, "value_expected"},
    {state::ignore, &imap_responses::on_ignore, streamed, "garbage"},
}};

// What follows "* " or "* number ", and where that leads.
struct imap_responses::keyword {
    std::string_view name;
    state next;
    imap_event event;

    static const keyword plain[];
    static const keyword counted[];

    template <std::size_t Size>
    static const keyword* find(const keyword (&rows)[Size], std::string_view name) noexcept {
        for (const keyword& one : rows) {
            if (base::iequals(one.name, name)) return &one;
        }
        return nullptr;
    }
};

constexpr imap_responses::keyword imap_responses::keyword::plain[] = {
    {"SEARCH", state::search, imap_event::search_end},
    {"ESEARCH", state::esearch, imap_event::search_end},
    {"SORT", state::search, imap_event::search_end},
    {"VANISHED", state::vanished, imap_event::need_more},
    {"FLAGS", state::flags_open, imap_event::flags},
    {"CAPABILITY", state::words, imap_event::capability},
    {"ENABLED", state::words, imap_event::enabled},
    {"LIST", state::list_open, imap_event::list},
    {"LSUB", state::list_open, imap_event::list},
    {"STATUS", state::status_name, imap_event::status},
    {"NAMESPACE", state::namespaces, imap_event::personal_namespace},
};

constexpr imap_responses::keyword imap_responses::keyword::counted[] = {
    {"FETCH", state::fetch_open, imap_event::fetch},
    {"EXISTS", state::finish, imap_event::exists},
    {"RECENT", state::finish, imap_event::recent},
    {"EXPUNGE", state::finish, imap_event::expunge},
};

imap_step imap_responses::next(std::string_view input) {
    imap_step step;
    if (state_ == state::broken) {
        break_off(why_, step);
        return step;
    }
    while (!give_pending(step)) {
        imap_token token = parser_.next(input.substr(step.consumed));
        step.consumed += token.consumed;
        if (token.kind == kind::need_more) return step;
        if (token.kind == kind::broken) {
            break_off(base::error_name::of(token.text), step);
            return step;
        }
        const handler& row = handler::of(state_);
        if (row.literals == handler::streamed || collect(token, step)) {
            (this->*row.run)(token, step);
        }
        if (step.event != imap_event::need_more) return step;
    }
    return step;
}

// Whether the token is ready: a literal is once it has become a string.
bool imap_responses::collect(imap_token& token, imap_step& step) {
    switch (token.kind) {
        case kind::literal_begin:
            collected_.clear();
            if (token.number > imap_parser::max_token) break_off("string_too_long", step);
            return false;
        case kind::literal_piece:
            collected_.append(token.text);
            return false;
        case kind::literal_end:
            token.kind = kind::quoted;
            token.text = collected_;
            return true;
        default:
            return true;
    }
}

// What has been read but not given: the ranges of a set, or a body that came as a quoted string.
bool imap_responses::give_pending(imap_step& step) {
    switch (pending_) {
        case pending::nothing:
            return false;
        case pending::ranges:
            return give_range(step);
        case pending::body_piece:
            step.event = imap_event::body_piece;
            step.text = collected_;
            pending_ = pending::body_end;
            return true;
        default:
            step.event = imap_event::body_end;
            step.text = kept_;
            pending_ = pending::nothing;
            return true;
    }
}

void imap_responses::refuse(imap_step& step) noexcept {
    break_off(handler::of(state_).problem, step);
}

void imap_responses::break_off(base::error_name why, imap_step& step) noexcept {
    state_ = state::broken;
    why_ = why;
    step.event = imap_event::broken;
    step.text = why;
}

void imap_responses::on_start(const imap_token& token, imap_step& step) {
    if (!token.is_word() || token.text.size() > longest_tag) return refuse(step);
    ++begun_;
    shrink(kept_);
    shrink(collected_);
    if (token.text == "*") {
        state_ = state::untagged;
    } else if (token.text == "+") {
        state_ = state::continuation;
        parser_.take_text();
    } else {
        kept_ = token.text;
        state_ = state::tagged;
    }
}

void imap_responses::on_tagged(const imap_token& token, imap_step& step) {
    condition_ = token.kind == kind::atom ? imap_condition_of(token.text) : imap_condition::none;
    if (condition_ == imap_condition::none || condition_ > imap_condition::bad) return refuse(step);
    state_ = state::response_text;
    event_ = imap_event::tagged;
    parser_.take_text();
}

void imap_responses::on_untagged(const imap_token& token, imap_step& step) {
    if (token.kind == kind::number) {
        number_ = token.number;
        state_ = state::counted;
        return;
    }
    if (token.kind != kind::atom) return refuse(step);
    condition_ = imap_condition_of(token.text);
    if (condition_ != imap_condition::none) {
        state_ = state::response_text;
        event_ = imap_event::untagged;
        return parser_.take_text();
    }
    const keyword* row = keyword::find(keyword::plain, token.text);
    if (row == nullptr) return begin_other(token.text, step);
    state_ = row->next;
    event_ = row->event;
    number_ = 0;
    earlier_ = false;
    if (event_ == imap_event::capability) capabilities_.clear();
}

void imap_responses::begin_other(std::string_view name, imap_step& step) noexcept {
    state_ = state::ignore;
    step.event = imap_event::other;
    step.text = name;
}

void imap_responses::on_response_text(const imap_token& token, imap_step& step) {
    const imap_response_text said = read_imap_text(token.text);
    step.event = event_;
    step.condition = condition_;
    step.code = said.code;
    step.number = said.number;
    step.arguments = said.arguments;
    step.text = said.text;
    if (event_ == imap_event::tagged) step.tag = kept_;
    state_ = state::start;
    if (said.code != imap_code::capability) return;
    capabilities_.clear();
    for (std::string_view left = said.arguments; !left.empty();) {
        const std::size_t blank = std::min(left.find(' '), left.size());
        capabilities_.add(left.substr(0, blank));
        left.remove_prefix(std::min(blank + 1, left.size()));
    }
}

void imap_responses::on_continuation(const imap_token& token, imap_step& step) {
    step.event = imap_event::continuation;
    step.text = token.text;
    state_ = state::start;
}

void imap_responses::on_counted(const imap_token& token, imap_step& step) {
    if (token.kind != kind::atom) return refuse(step);
    const keyword* row = keyword::find(keyword::counted, token.text);
    if (row == nullptr) return begin_other(token.text, step);
    state_ = row->next;
    event_ = row->event;
}

void imap_responses::on_finish(const imap_token& token, imap_step& step) {
    if (token.kind != kind::end) return refuse(step);
    step.event = event_;
    step.number = number_;
    if (event_ == imap_event::status) step.text = kept_;
    state_ = state::start;
}

void imap_responses::on_words(const imap_token& token, imap_step& step) {
    if (token.kind == kind::end) return on_finish(token, step);
    if (!token.is_word()) return refuse(step);
    imap_capabilities& told = event_ == imap_event::capability ? capabilities_ : enabled_;
    told.add(token.text);
}

// FLAGS (...), also within FETCH.
void imap_responses::on_flags(const imap_token& token, imap_step& step) {
    const bool of_message = event_ == imap_event::fetch_flags;
    if (token.is_word()) {
        if (!of_message || kept_.size() + token.text.size() >= imap_parser::max_token) return;
        if (!kept_.empty()) kept_ += ' ';
        kept_ += token.text;
        return;
    }
    if (token.kind != kind::list_close) return refuse(step);
    if (!of_message) {
        state_ = state::finish;
        return;
    }
    step.event = event_;
    step.text = kept_;
    state_ = state::fetch_item;
}

// One value, whose first token has not come yet.
void imap_responses::skip_value(state after) noexcept {
    depth_ = parser_.depth();
    after_skip_ = after;
    state_ = state::skip;
}

// The list that has just been opened.
void imap_responses::skip_list(state after) noexcept {
    skip_value(after);
    --depth_;
}

void imap_responses::on_skip(const imap_token& token, imap_step& step) {
    if (token.kind == kind::end || parser_.depth() < depth_) return refuse(step);
    const bool begins = token.kind == kind::list_open || token.kind == kind::literal_begin;
    if (begins || token.kind == kind::literal_piece) return;
    if (parser_.depth() == depth_) state_ = after_skip_;
}

void imap_responses::on_ignore(const imap_token& token, imap_step&) {
    if (token.kind == kind::end) state_ = state::start;
}

}  // namespace postal::proto
