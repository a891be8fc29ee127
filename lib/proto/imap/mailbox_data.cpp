// SPDX-License-Identifier: GPL-3.0-or-later
// What imap_responses makes of SEARCH, ESEARCH, VANISHED, LIST, NAMESPACE and STATUS (RFC 3501
// 7.2, RFC 9051 7.3, RFC 4731, RFC 7162, RFC 2342).
#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "proto/imap/responses.hpp"

namespace postal::proto {
namespace {

using kind = imap_token_kind;

constexpr std::size_t longest_prefix = 1024;

// Those that must have a number, and where it goes.
struct status_item {
    std::string_view name;
    std::uint64_t imap_status::*into = nullptr;
};
constexpr status_item status_items[] = {{"MESSAGES"},
                                        {"RECENT"},
                                        {"UIDNEXT", &imap_status::uid_next},
                                        {"UIDVALIDITY", &imap_status::uid_validity},
                                        {"UNSEEN"},
                                        {"DELETED"},
                                        {"SIZE"},
                                        {"HIGHESTMODSEQ"}};

}  // namespace

void imap_responses::begin_ranges(std::string_view set, imap_event event) {
    kept_ = set;
    ranges_at_ = 0;
    range_event_ = event;
    pending_ = pending::ranges;
}

bool imap_responses::give_range(imap_step& step) {
    imap_set_reader set(std::string_view(kept_).substr(ranges_at_));
    if (!set.next(step.range)) {
        pending_ = pending::nothing;
        if (!set.good()) break_off("bad_set", step);
        return !set.good();
    }
    ranges_at_ = kept_.size() - set.left().size();
    step.event = range_event_;
    step.earlier = earlier_;
    return true;
}

void imap_responses::on_search(const imap_token& token, imap_step& step) {
    constexpr std::uint64_t largest_number = std::numeric_limits<std::uint32_t>::max();
    if (token.kind == kind::end) return on_finish(token, step);
    if (token.kind == kind::list_open) return skip_list(state::search);  // (MODSEQ 1), RFC 7162
    if (token.kind != kind::number || token.number == 0 || token.number > largest_number) {
        return refuse(step);
    }
    const auto number = static_cast<std::uint32_t>(token.number);
    ++number_;
    step.event = imap_event::found;
    step.range = {number, number};
}

void imap_responses::on_esearch(const imap_token& token, imap_step& step) {
    if (token.kind == kind::end) return on_finish(token, step);
    if (token.kind == kind::list_open) return skip_list(state::esearch);  // (TAG "a1")
    if (token.kind != kind::atom) return refuse(step);
    if (base::iequals(token.text, "UID")) return;
    state_ = state::esearch_value;
    if (base::iequals(token.text, "ALL")) {
        range_event_ = imap_event::found;
    } else if (base::iequals(token.text, "COUNT")) {
        range_event_ = imap_event::search_end;
    } else {
        skip_value(state::esearch);
    }
}

void imap_responses::on_esearch_value(const imap_token& token, imap_step& step) {
    if (!token.is_word()) return refuse(step);
    state_ = state::esearch;
    if (range_event_ == imap_event::found) return begin_ranges(token.text, imap_event::found);
    number_ = token.number;
}

void imap_responses::on_vanished(const imap_token& token, imap_step& step) {
    if (token.kind == kind::list_open || token.kind == kind::list_close) return;
    if (parser_.depth() != 0) {
        earlier_ = token.kind == kind::atom && base::iequals(token.text, "EARLIER");
        if (!earlier_) refuse(step);
        return;
    }
    if (!token.is_word()) return refuse(step);
    state_ = state::finish;
    begin_ranges(token.text, imap_event::vanished);
}

void imap_responses::on_list_attributes(const imap_token& token, imap_step& step) {
    if (token.is_word()) return;
    if (token.kind != kind::list_close) return refuse(step);
    state_ = state::list_delimiter;
}

void imap_responses::on_list_delimiter(const imap_token& token, imap_step& step) {
    const bool one = token.kind == kind::quoted && token.text.size() == 1;
    if (!one && !token.is_nil()) return refuse(step);
    item_number_ = one ? static_cast<unsigned char>(token.text[0]) : 0;
    state_ = state::list_name;
}

void imap_responses::on_list_name(const imap_token& token, imap_step& step) {
    if (!token.is_string()) return refuse(step);
    step.event = imap_event::list;
    step.number = item_number_;
    state_ = state::ignore;  // RFC 5258's extended items
}

// RFC 2342 5: ours come first, and of these the first is where our mailboxes may be made.
void imap_responses::on_namespaces(const imap_token& token, imap_step& step) {
    if (token.is_nil()) return begin_other("NAMESPACE", step);
    if (token.kind != kind::list_open) return refuse(step);
    state_ = state::namespace_open;
}

void imap_responses::on_namespace_prefix(const imap_token& token, imap_step& step) {
    if (!token.is_string() || token.is_nil() || token.text.size() > longest_prefix) {
        return refuse(step);
    }
    kept_ = token.text;
    state_ = state::namespace_delimiter;
}

void imap_responses::on_namespace_delimiter(const imap_token& token, imap_step& step) {
    const bool one = token.kind == kind::quoted && token.text.size() == 1;
    if (!one && !token.is_nil()) return refuse(step);
    step.event = event_;
    step.text = kept_;
    if (one) step.number = static_cast<unsigned char>(token.text.front());
    state_ = state::ignore;  // extensions, and what is others'
}

void imap_responses::on_status_name(const imap_token& token, imap_step& step) {
    if (!token.is_string()) return refuse(step);
    kept_ = token.text;
    status_ = {};
    state_ = state::status_open;
}

void imap_responses::on_status_item(const imap_token& token, imap_step& step) {
    if (token.kind == kind::list_close) {
        state_ = state::finish;
        return;
    }
    if (token.kind != kind::atom) return refuse(step);
    const auto known =
        std::find_if(std::begin(status_items), std::end(status_items),
                     [&](const status_item& one) { return base::iequals(one.name, token.text); });
    if (known == std::end(status_items)) return skip_value(state::status_item);
    item_number_ = static_cast<std::uint64_t>(known - std::begin(status_items));
    state_ = state::status_value;
}

void imap_responses::on_status_value(const imap_token& token, imap_step& step) {
    if (token.kind != kind::number) return refuse(step);
    if (const auto into = status_items[item_number_].into) status_.*into = token.number;
    state_ = state::status_item;
}

}  // namespace postal::proto
