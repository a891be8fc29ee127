// SPDX-License-Identifier: GPL-3.0-or-later
// The items of a FETCH response (RFC 3501 7.4.2, RFC 9051 7.5.2, RFC 3516 BINARY, RFC 7162 MODSEQ).
#include "base/text.hpp"
#include "proto/imap/responses.hpp"

namespace postal::proto {
namespace {

using kind = imap_token_kind;

constexpr std::uint32_t envelope_members = 10;
constexpr std::uint32_t least_structure_members = 2;  // a part and the subtype of a multipart

bool begins_with(std::string_view text, std::string_view upper) noexcept {
    return text.size() >= upper.size() && base::iequals(text.substr(0, upper.size()), upper);
}

}  // namespace

struct imap_responses::fetch_row {
    std::string_view name;
    imap_event event;
    state next;
    std::string_view section;  // of an item that is a body by another name

    static const fetch_row table[];
    static const fetch_row* find(std::string_view name) noexcept;
};

// The most frequent first.
constexpr imap_responses::fetch_row imap_responses::fetch_row::table[] = {
    {"UID", imap_event::fetch_uid, state::fetch_value, ""},
    {"FLAGS", imap_event::fetch_flags, state::flags_open, ""},
    {"RFC822.SIZE", imap_event::fetch_size, state::fetch_value, ""},
    {"INTERNALDATE", imap_event::fetch_date, state::fetch_value, ""},
    {"MODSEQ", imap_event::fetch_modseq, state::fetch_modseq, ""},
    {"ENVELOPE", imap_event::fetch_envelope, state::fetch_structure, ""},
    {"BODYSTRUCTURE", imap_event::fetch_structure, state::fetch_structure, ""},
    {"BODY", imap_event::fetch_structure, state::fetch_structure, ""},
    {"RFC822", imap_event::body_begin, state::fetch_body, "[]"},
    {"RFC822.HEADER", imap_event::body_begin, state::fetch_body, "[HEADER]"},
    {"RFC822.TEXT", imap_event::body_begin, state::fetch_body, "[TEXT]"},
};

const imap_responses::fetch_row* imap_responses::fetch_row::find(std::string_view name) noexcept {
    for (const fetch_row& one : table) {
        if (base::iequals(one.name, name)) return &one;
    }
    return nullptr;
}

void imap_responses::on_fetch_open(const imap_token& token, imap_step& step) {
    if (token.kind != kind::list_open) return refuse(step);
    step.event = imap_event::fetch;
    step.number = number_;
    state_ = state::fetch_item;
}

void imap_responses::on_fetch_item(const imap_token& token, imap_step& step) {
    if (token.kind == kind::list_close) {
        event_ = imap_event::fetch_end;
        state_ = state::finish;
        return;
    }
    if (token.kind != kind::atom) return refuse(step);
    if (begins_with(token.text, "BODY[") || begins_with(token.text, "BINARY[")) {
        return begin_body(token.text);
    }
    const fetch_row* row = fetch_row::find(token.text);
    if (row == nullptr) return skip_value(state::fetch_item);
    event_ = row->event;
    state_ = row->next;
    depth_ = parser_.depth();
    members_ = 0;
    if (event_ == imap_event::fetch_flags) kept_.clear();
    if (event_ == imap_event::body_begin) begin_body(row->section);
}

void imap_responses::on_fetch_value(const imap_token& token, imap_step& step) {
    const bool date = event_ == imap_event::fetch_date;
    if (token.kind != (date ? kind::quoted : kind::number)) return refuse(step);
    step.event = event_;
    step.number = token.number;
    step.text = token.text;
    state_ = state::fetch_item;
}

void imap_responses::on_fetch_modseq(const imap_token& token, imap_step& step) {
    if (parser_.depth() == depth_ + 1) {
        if (token.kind == kind::list_open) return;
        if (token.kind != kind::number || members_ != 0) return refuse(step);
        ++members_;
        item_number_ = token.number;
        return;
    }
    if (token.kind != kind::list_close || members_ == 0) return refuse(step);
    step.event = event_;
    step.number = item_number_;
    state_ = state::fetch_item;
}

// RFC 3501 9, envelope and body: lists of lists of strings, numbers and NIL. What they say is not
// kept; their parentheses, the words in them and the count of the members are checked.
void imap_responses::on_fetch_structure(const imap_token& token, imap_step& step) {
    if (token.kind == kind::list_open || token.kind == kind::literal_begin ||
        token.kind == kind::literal_piece) {
        if (parser_.depth() == depth_) refuse(step);
        return;
    }
    if (token.kind == kind::atom && !token.is_nil()) return refuse(step);
    if (parser_.depth() > depth_) {
        if (parser_.depth() == depth_ + 1) ++members_;
        return;
    }
    if (token.kind != kind::list_close || parser_.depth() < depth_) return refuse(step);
    const bool envelope = event_ == imap_event::fetch_envelope;
    if (envelope ? members_ != envelope_members : members_ < least_structure_members) {
        return refuse(step);
    }
    step.event = event_;
    state_ = state::fetch_item;
}

// BODY[section]<origin>, of which the origin is nobody's concern; the parser has seen to it that
// the bracket is closed.
void imap_responses::begin_body(std::string_view item) {
    const std::size_t open = item.find('[');
    const std::size_t close = item.rfind(']');
    kept_ = item.substr(open + 1, close - open - 1);
    state_ = state::fetch_body;
}

void imap_responses::on_fetch_body(const imap_token& token, imap_step& step) {
    step.text = kept_;
    switch (token.kind) {
        case kind::literal_begin:
            step.event = imap_event::body_begin;
            step.number = token.number;
            return;
        case kind::literal_piece:
            step.event = imap_event::body_piece;
            step.text = token.text;
            return;
        case kind::literal_end:
            step.event = imap_event::body_end;
            break;
        case kind::quoted:
            step.event = imap_event::body_begin;
            step.number = token.text.size();
            collected_ = token.text;
            pending_ = token.text.empty() ? pending::body_end : pending::body_piece;
            break;
        default:
            if (!token.is_nil()) return refuse(step);
            step.event = imap_event::body_nil;
    }
    state_ = state::fetch_item;
}

}  // namespace postal::proto
