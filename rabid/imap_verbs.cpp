// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_verbs.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <utility>

#include "rabid/choice.hpp"

namespace postal::rabid {

namespace {

constexpr std::uint32_t newest = 50;

// One that hardly any text has: the server has to look at all of it, or at its index.
std::string word(base::random_source& random) {
    std::string text;
    for (int i = 0; i < 6; ++i)
        text += static_cast<char>('a' + random.below(26));
    return text;
}

// As SEARCH has it (RFC 3501 9, date): "01-Feb-1994".
std::string day_of_last_year(base::random_source& random) {
    using namespace std::chrono;
    const auto day = system_clock::now() - days(random.below(365));
    return fmt::format("{:%d-%b-%Y}", fmt::gmtime(system_clock::to_time_t(day)));
}

}  // namespace

imap_verbs::imap_verbs(const visit_context& who, imap_dialogue& dialogue, imap_reader& reader,
                       imap_retrieval& retrieval, imap_wait& wait)
    : visit_(who),
      dialogue_(dialogue),
      reader_(reader),
      retrieval_(retrieval),
      wait_(wait),
      commands_(dialogue.commands()),
      out_(dialogue.out()) {}

asio::awaitable<bool> imap_verbs::act(verb what) {
    switch (what) {
        case verb::read:
            co_return co_await read_chosen();
        case verb::read_new:
            co_return co_await read_new();
        case verb::read_one:
            co_return co_await read_one();
        case verb::mark:
            co_return co_await mark();
        case verb::append:
            co_return co_await append();
        case verb::copy:
            co_return co_await put_elsewhere(imap_verb::uid_copy);
        case verb::move:
            co_return co_await put_elsewhere(imap_verb::uid_move);
        case verb::create:
            co_return co_await make_mailbox();
        case verb::idle:
            dialogue_.told().known = exists();
            co_return co_await wait_.rest(visit_.context.of_run.behaviour.idle.pick(visit_.random));
        default:
            break;
    }
    const imap_tag tag = say(what);
    if (tag == proto::no_tag) co_return true;  // an empty mailbox has nothing to fetch
    co_return co_await dialogue_.command(stage::command, tag);
}

// The verbs that are one command.
imap_tag imap_verbs::say(verb what) {
    switch (what) {
        case verb::headers:
            return fetch_newest(
                "(UID FLAGS RFC822.SIZE BODY.PEEK[HEADER.FIELDS (DATE FROM TO SUBJECT "
                "MESSAGE-ID)])");
        case verb::envelope:
            return fetch_newest("(UID FLAGS INTERNALDATE ENVELOPE)");
        case verb::structure:
            return fetch_one("(UID BODYSTRUCTURE)");
        case verb::part:
            return fetch_one("(UID BODY.PEEK[]<0.2048>)");
        case verb::flags:
            return fetch("1:*", "(UID FLAGS)");
        case verb::page:
            return fetch_page("(UID FLAGS INTERNALDATE ENVELOPE)");
        case verb::structures:
            return fetch_newest("(UID BODYSTRUCTURE)");
        case verb::search:
            return search("UNSEEN LARGER 10000");
        case verb::search_text:
            return search("TEXT " + word(visit_.random));
        case verb::search_header:
            return search("SUBJECT " + word(visit_.random));
        case verb::search_date:
            return search("SINCE " + day_of_last_year(visit_.random));
        case verb::sort:
            return order(imap_capability::sort, imap_verb::uid_sort, "(REVERSE DATE) UTF-8 ALL");
        case verb::thread:
            return order(imap_capability::thread_references, imap_verb::uid_thread,
                         "REFERENCES UTF-8 ALL");
        case verb::list:
            return commands_.list(out_, "", "*");
        case verb::status:
            return commands_.status(out_, "INBOX", "(MESSAGES UNSEEN UIDNEXT UIDVALIDITY)");
        default:
            return commands_.plain(out_, imap_verb::noop);
    }
}

imap_tag imap_verbs::fetch(std::string_view set, std::string_view items) {
    if (exists() == 0) return proto::no_tag;
    return commands_.fetch(out_, imap_verb::fetch, set, items);
}

imap_tag imap_verbs::fetch_newest(std::string_view items) {
    const std::uint32_t there = exists();
    return fetch(std::to_string(there > newest ? there - newest + 1 : 1) + ":*", items);
}

imap_tag imap_verbs::fetch_page(std::string_view items) {
    const std::uint32_t there = exists();
    const auto first =
        there > newest ? 1 + visit_.random.below(std::uint64_t{there} - newest + 1) : 1;
    return fetch(fmt::format("{}:{}", first, std::min<std::uint64_t>(first + newest - 1, there)),
                 items);
}

imap_tag imap_verbs::search(std::string_view criteria) {
    return commands_.search(out_, imap_verb::uid_search, criteria);
}

imap_tag imap_verbs::order(imap_capability needed, imap_verb how, std::string_view criteria) {
    if (!dialogue_.offered().has(needed)) return proto::no_tag;
    return commands_.search(out_, how, criteria);
}

imap_tag imap_verbs::fetch_one(std::string_view items) {
    return fetch(std::to_string(1 + visit_.random.below(exists())), items);
}

imap_tag imap_verbs::uid_store(std::string_view set, std::string_view action) {
    return commands_.store(out_, imap_verb::uid_store, set, action);
}

// ---- reading ----

// What other verbs have read is not deleted.
asio::awaitable<bool> imap_verbs::read_chosen() {
    reader_.to_delete().clear();
    const auto numbers = pick_messages(visit_.context.of_run.chosen, exists(), visit_.random);
    const bool fine = co_await retrieval_.read(numbers);
    if (!fine || visit_.stopping()) co_return fine;
    co_return co_await retrieval_.remove();
}

asio::awaitable<bool> imap_verbs::read_one() {
    if (exists() == 0) co_return true;
    const auto number = static_cast<std::uint32_t>(1 + visit_.random.below(exists()));
    co_return co_await retrieval_.read({&number, 1});
}

asio::awaitable<bool> imap_verbs::read_new() {
    bool fine = co_await dialogue_.command(stage::list,
                                           commands_.search(out_, imap_verb::search, "UNSEEN"));
    std::vector<std::uint32_t> numbers = std::move(dialogue_.told().found);
    if (!fine || numbers.empty()) co_return fine;
    std::sort(numbers.begin(), numbers.end());
    fine = co_await retrieval_.read(numbers);
    if (!fine || visit_.stopping()) co_return fine;
    co_return co_await mark_seen();
}

// What the last reading has found to be ours; one command where its UIDs fit.
asio::awaitable<bool> imap_verbs::mark_seen() {
    const auto first = static_cast<std::ptrdiff_t>(reader_.ours_before());
    std::vector<std::uint32_t> fresh(reader_.ours().begin() + first, reader_.ours().end());
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    std::span<const std::uint32_t> left = fresh;
    bool fine = true;
    while (fine && !left.empty() && !visit_.stopping()) {
        text_.clear();
        left = left.subspan(proto::append_imap_set(text_, left));
        fine =
            co_await dialogue_.command(stage::command, uid_store(text_, "+FLAGS.SILENT (\\Seen)"));
    }
    co_return fine;
}

// ---- changing ----

asio::awaitable<bool> imap_verbs::mark() {
    const std::vector<std::uint32_t>& ours = reader_.ours();
    if (ours.empty()) co_return true;
    text_ = std::to_string(ours[visit_.random.below(ours.size())]);
    const bool fine =
        co_await dialogue_.command(stage::command, uid_store(text_, "+FLAGS (\\Flagged)"));
    if (!fine) co_return false;
    co_return co_await dialogue_.command(stage::command, uid_store(text_, "-FLAGS (\\Flagged)"));
}

// COPY or MOVE of one of ours, into a mailbox that mostly exists already.
asio::awaitable<bool> imap_verbs::put_elsewhere(imap_verb how) {
    const std::string elsewhere = own("postal-elsewhere");
    const std::vector<std::uint32_t>& ours = reader_.ours();
    if (ours.empty()) co_return true;
    if (!dialogue_.offered().has(imap_capability::move)) how = imap_verb::uid_copy;
    const std::uint32_t which = ours[visit_.random.below(ours.size())];
    const imap_tag create = commands_.create(out_, elsewhere);
    co_await dialogue_.command(stage::command, create, {.refusal = imap_refusal::expected});
    if (visit_.connection.broken()) co_return false;
    const bool moves = how == imap_verb::uid_move;
    if (moves) reader_.removing({&which, 1}, dialogue_.mailbox().uid_validity());
    const imap_tag tag = commands_.copy(out_, how, std::to_string(which), elsewhere);
    const bool fine = co_await dialogue_.command(stage::command, tag);
    if (fine && moves) reader_.removed({&which, 1});
    co_return fine;
}

asio::awaitable<bool> imap_verbs::append() {
    auto message =
        visit_.context.make_message(visit_.who, visit_.appends.session, visit_.appends.appended++);
    const imap_tag tag = commands_.append(out_, "INBOX", message.text.size());
    if (!dialogue_.begin(stage::command, tag)) co_return false;
    bool fine = co_await dialogue_.send_out();
    message.text += "\r\n";
    if (fine) fine = co_await dialogue_.send(message.text, message.text);
    if (fine) fine = co_await dialogue_.complete();
    const auto unanswered =
        visit_.connection.broken() ? ledger::outcome::in_doubt : ledger::outcome::rejected;
    visit_.context.note_appended(visit_.who, message,
                                 fine ? ledger::outcome::accepted : unanswered);
    co_return fine;
}

asio::awaitable<bool> imap_verbs::make_mailbox() {
    const std::string name = own("postal-" + std::to_string(visit_.random.next()));
    const bool fine = co_await dialogue_.command(stage::command, commands_.create(out_, name));
    if (!fine) co_return false;
    co_return co_await dialogue_.command(stage::command, commands_.delete_mailbox(out_, name));
}

}  // namespace postal::rabid
