// What imap_responses makes of SEARCH, ESEARCH, VANISHED, LIST and STATUS (RFC 3501 7.2, RFC
// 9051 7.3, RFC 4731, RFC 7162).
#include <bit>
#include <limits>

#include "base/text.hpp"
#include "proto/imap/responses.hpp"

namespace postal::proto {
namespace {

using kind = imap_token_kind;

template <class Bits>
struct named_bit {
    std::string_view name;
    Bits bit;
};

template <class Bits, std::size_t Size>
Bits find_bit(const named_bit<Bits> (&rows)[Size], std::string_view name) noexcept {
    for (const named_bit<Bits>& one : rows) {
        if (base::iequals(one.name, name)) return one.bit;
    }
    return 0;
}

constexpr named_bit<imap_flags> attributes[] = {
    {"\\Noselect", imap_mailbox_attribute::noselect},
    {"\\NoInferiors", imap_mailbox_attribute::noinferiors},
    {"\\HasChildren", imap_mailbox_attribute::has_children},
    {"\\HasNoChildren", imap_mailbox_attribute::has_no_children},
    {"\\Marked", imap_mailbox_attribute::marked},
    {"\\Unmarked", imap_mailbox_attribute::unmarked},
    {"\\NonExistent", imap_mailbox_attribute::nonexistent},
    {"\\All", imap_mailbox_attribute::special_use},
    {"\\Archive", imap_mailbox_attribute::special_use},
    {"\\Drafts", imap_mailbox_attribute::special_use},
    {"\\Flagged", imap_mailbox_attribute::special_use},
    {"\\Junk", imap_mailbox_attribute::special_use},
    {"\\Sent", imap_mailbox_attribute::special_use},
    {"\\Trash", imap_mailbox_attribute::special_use},
};

constexpr named_bit<std::uint8_t> status_items[] = {
    {"MESSAGES", imap_status_items::messages}, {"RECENT", imap_status_items::recent},
    {"UIDNEXT", imap_status_items::uid_next},  {"UIDVALIDITY", imap_status_items::uid_validity},
    {"UNSEEN", imap_status_items::unseen},     {"DELETED", imap_status_items::deleted},
    {"SIZE", imap_status_items::size},         {"HIGHESTMODSEQ", imap_status_items::highest_modseq},
};

}  // namespace

std::uint64_t imap_status_items::value(item one) const noexcept {
    return values[std::countr_zero(static_cast<unsigned>(one))];
}

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
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (token.kind == kind::end) return on_finish(token, step);
    if (token.kind == kind::list_open) return skip_list(state::search);  // (MODSEQ 1), RFC 7162
    if (token.kind != kind::number || token.number == 0 || token.number > most) {
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

void imap_responses::on_list_open(const imap_token& token, imap_step& step) {
    if (token.kind != kind::list_open) return refuse(step);
    flags_ = 0;
    state_ = state::list_attributes;
}

void imap_responses::on_list_attributes(const imap_token& token, imap_step& step) {
    if (token.is_word()) {
        flags_ |= find_bit(attributes, token.text);
        return;
    }
    if (token.kind != kind::list_close) return refuse(step);
    state_ = state::list_delimiter;
}

void imap_responses::on_list_delimiter(const imap_token& token, imap_step& step) {
    const bool one = token.kind == kind::quoted && token.text.size() == 1;
    if (!one && !token.is_nil()) return refuse(step);
    delimiter_ = one ? token.text[0] : '\0';
    state_ = state::list_name;
}

void imap_responses::on_list_name(const imap_token& token, imap_step& step) {
    if (!token.is_string()) return refuse(step);
    step.event = imap_event::list;
    step.text = token.text;
    step.flags = flags_;
    step.delimiter = delimiter_;
    state_ = state::ignore;  // RFC 5258's extended items
}

void imap_responses::on_status_name(const imap_token& token, imap_step& step) {
    if (!token.is_string()) return refuse(step);
    kept_ = token.text;
    state_ = state::status_open;
}

void imap_responses::on_status_open(const imap_token& token, imap_step& step) {
    if (token.kind != kind::list_open) return refuse(step);
    status_ = {};
    state_ = state::status_item;
}

void imap_responses::on_status_item(const imap_token& token, imap_step& step) {
    if (token.kind == kind::list_close) {
        state_ = state::finish;
        return;
    }
    if (token.kind != kind::atom) return refuse(step);
    status_item_ = find_bit(status_items, token.text);
    if (status_item_ == 0) return skip_value(state::status_item);
    state_ = state::status_value;
}

void imap_responses::on_status_value(const imap_token& token, imap_step& step) {
    if (token.kind != kind::number) return refuse(step);
    status_.told |= status_item_;
    status_.values[std::countr_zero(static_cast<unsigned>(status_item_))] = token.number;
    state_ = state::status_item;
}

}  // namespace postal::proto
