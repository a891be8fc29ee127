// SPDX-License-Identifier: GPL-3.0-or-later
// What a POP3 visit asks before it reads: how many messages there are, and which; see
// pop3_visit.hpp.
#include <chrono>

#include "rabid/choice.hpp"
#include "rabid/pop3_visit.hpp"

namespace postal::rabid {

namespace {

using std::chrono::steady_clock;

constexpr std::uint32_t most_messages = 1'000'000;  // that a server may claim

// A number for a unique id, which may be any text (FNV-1a).
std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char octet : text) {
        hash ^= static_cast<unsigned char>(octet);
        hash *= 0x100000001b3U;
    }
    return hash == 0 ? 1 : hash;
}

}  // namespace

// STAT, and who is there by number: LIST, or with a ledger UIDL, in one write where that may be.
asio::awaitable<bool> pop3_visit::look_around() {
    const load::steady_time begun = steady_clock::now();
    const bool by_uid = visit_.context.row_buffer() != nullptr;
    const std::string_view listing = by_uid ? proto::pop3_uidl : proto::pop3_list;
    visit_.messages.notes().listing();
    out_ = proto::pop3_stat;
    parser_.expect(pop3_form::status_line);
    if (offered_.pipelining) {
        out_ += listing;
        parser_.expect(pop3_form::listing);
    }
    bool fine = co_await visit_.connection.send(stage::list, out_);
    if (!fine) co_return false;
    const pop3_event event = co_await next(stage::list);
    if (event != pop3_event::status || !accepted(stage::list)) co_return false;
    const auto numbers = proto::parse_stat(parser_.text());
    if (!numbers) visit_.connection.give_up(stage::list, "garbage", parser_.text());
    if (numbers && numbers->number > most_messages)
        visit_.connection.give_up(stage::list, "too_many", "messages in one mailbox");
    if (visit_.connection.broken()) co_return false;
    there_ = static_cast<std::uint32_t>(numbers->number);
    if (visit_.context.of_run.chosen.watch.count() > 0) shown_ = {now_us(), ledger::notice::visit};
    visit_.messages.notes().listed(there_);
    if (!offered_.pipelining) {
        parser_.expect(pop3_form::listing);
        fine = co_await visit_.connection.send(stage::list, listing);
        if (!fine) co_return false;
    }
    fine = co_await read_listing();
    if (!fine) co_return false;
    visit_.connection.took(phase::list, visit_.connection.now() - begun);
    for (const std::uint32_t number :
         pick_messages(visit_.context.of_run.chosen, there_, visit_.random)) {
        const std::uint64_t uid = number <= uids_.size() ? uids_[number - 1] : 0;
        wanted_.push_back({number, uid});
    }
    co_return true;
}

// Unique ids are for the ledger, so that a message that is seen in two sessions is no duplicate.
asio::awaitable<bool> pop3_visit::read_listing() {
    const bool by_uid = visit_.context.row_buffer() != nullptr;
    if (by_uid) uids_.assign(there_, 0);
    std::uint32_t lines = 0;
    bool beyond = false;
    for (;;) {
        const pop3_event event = co_await next(stage::list);
        if (event == pop3_event::broken) co_return false;
        if (event == pop3_event::list_line) {
            ++lines;
            const bool known = by_uid ? note_uid(parser_.text()) : is_listed(parser_.text());
            beyond = beyond || !known;
        }
        if (parser_.reply_complete()) break;
    }
    if (parser_.status() != pop3_status::ok) {
        // UIDL is optional (RFC 1939 7), LIST is not (RFC 1939 5).
        if (!by_uid) visit_.connection.refused(stage::list, "refused", parser_.text());
        co_return true;
    }
    if (lines != there_ || beyond) {
        visit_.connection.refused(stage::list, "contradiction",
                                  std::string("STAT and ") + (by_uid ? "UIDL" : "LIST") +
                                      " do not agree about how many messages there are");
        visit_.messages.notes().doubt_listing();
    }
    co_return true;
}

// False for a number that STAT does not know; what cannot be read is no id, and no contradiction.
bool pop3_visit::note_uid(std::string_view line) {
    const auto uid = proto::parse_uidl_line(line);
    if (!uid) return true;
    if (uid->number < 1 || uid->number > there_) return false;
    uids_[uid->number - 1] = hash_of(uid->uid);
    return true;
}

bool pop3_visit::is_listed(std::string_view line) const {
    const auto one = proto::parse_list_line(line);
    return !one || one->number <= there_;
}

}  // namespace postal::rabid
