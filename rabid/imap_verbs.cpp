// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_verbs.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <utility>

#include "rabid/choice.hpp"

namespace postal::rabid {

namespace {

using std::chrono::steady_clock;

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

imap_verbs::imap_verbs(const visit_context& who, imap_dialogue& dialogue, imap_reader& reader)
    : visit_(who),
      dialogue_(dialogue),
      reader_(reader),
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
            co_return co_await rest(visit_.context.of_run.behaviour.idle.pick(visit_.random));
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

asio::awaitable<bool> imap_verbs::read_chosen() {
    const auto numbers = pick_messages(visit_.context.of_run.chosen, exists(), visit_.random);
    const bool fine = co_await read(numbers);
    if (!fine || stopping()) co_return fine;
    co_return co_await remove();
}

asio::awaitable<bool> imap_verbs::read_one() {
    if (exists() == 0) co_return true;
    const auto number = static_cast<std::uint32_t>(1 + visit_.random.below(exists()));
    co_return co_await read({&number, 1});
}

// Whole messages, by ascending numbers.
asio::awaitable<bool> imap_verbs::read(std::span<const std::uint32_t> left) {
    bool fine = true;
    const std::uint32_t there = exists();
    reader_.begin_reading(there);
    while (fine && !left.empty() && !stopping()) {
        text_.clear();
        left = left.subspan(proto::append_imap_set(text_, left));
        reader_.begin(steady_clock::now());
        // When it came, for who compares that with when others were told of it.
        const std::string_view items = visit_.messages.notes().wanted()
                                           ? "(UID INTERNALDATE BODY.PEEK[])"
                                           : "(UID BODY.PEEK[])";
        const imap_tag tag = commands_.fetch(out_, imap_verb::fetch, text_, items);
        fine = co_await dialogue_.command(stage::retrieve, tag, {.reader = &reader_});
    }
    visit_.messages.notes().looked_at(reader_.came(), there);
    co_return fine;
}

asio::awaitable<bool> imap_verbs::read_new() {
    bool fine = co_await dialogue_.command(stage::list,
                                           commands_.search(out_, imap_verb::search, "UNSEEN"));
    std::vector<std::uint32_t> numbers = std::move(dialogue_.told().found);
    if (!fine || numbers.empty()) co_return fine;
    std::sort(numbers.begin(), numbers.end());
    fine = co_await read(numbers);
    if (!fine || stopping()) co_return fine;
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
    while (fine && !left.empty() && !stopping()) {
        text_.clear();
        left = left.subspan(proto::append_imap_set(text_, left));
        fine =
            co_await dialogue_.command(stage::command, uid_store(text_, "+FLAGS.SILENT (\\Seen)"));
    }
    co_return fine;
}

// What the server tells of while others are read and deleted comes in, too, so EXPUNGE itself
// lowers the number of those known.
asio::awaitable<bool> imap_verbs::watch() {
    std::uint32_t& known = dialogue_.told().known;
    known = exists();
    visit_.messages.notes().watching();
    dialogue_.announced().begin(known, told_how());
    const std::uint64_t opened = now_us();
    std::uint64_t alive = opened;  // up to then all that was told of was read
    bool fine = true;
    if (is_notified()) fine = co_await ask_to_be_notified();
    if (!fine) co_return false;
    while (fine && !stopping()) {
        const std::uint64_t since = now_us();
        if (exists() <= known) fine = co_await rest(visit_.context.of_run.chosen.watch);
        if (fine && exists() <= known) {
            visit_.messages.notes().nothing_new(since);
            alive = now_us();
        }
        if (!fine || exists() <= known) continue;
        fine = co_await read_announced();
        if (fine && read_all_) {
            alive = now_us();
            note_idle(opened);
        }
        stretch_ = {};
        if (fine) fine = co_await remove();
    }
    if (exists() <= known) note_idle(opened);
    visit_.messages.notes().waited({.session = visit_.appends.session,
                                    .opened_us = opened,
                                    .began_us = opened,
                                    .ended_us = alive,
                                    .how = waits_how()});
    co_return fine;
}

// What has come by now, at most so many at a time: a server may tell of any number.
asio::awaitable<bool> imap_verbs::read_announced() {
    constexpr std::size_t most_at_once = 10'000;
    std::uint32_t& known = dialogue_.told().known;
    const std::uint32_t come = exists();
    const std::uint64_t gone = dialogue_.announced().gone();
    const auto left = [&] { return known < std::min(come, exists()); };
    std::vector<std::uint32_t> numbers;
    std::uint64_t missing = 0;
    bool fine = true;
    while (fine && missing == 0 && left()) {
        numbers.clear();
        while (left() && numbers.size() < most_at_once)
            numbers.push_back(++known);
        fine = co_await read(numbers);
        missing = numbers.size() - std::min<std::uint64_t>(numbers.size(), reader_.came());
    }
    read_all_ = missing == 0;
    if (fine && !read_all_ && !stopping()) fine = co_await look_for_absent(missing, gone);
    dialogue_.announced().forget(known);
    co_return fine;
}

// Somebody else may have deleted what was announced. The server may not say so while it answers
// FETCH (RFC 3501 7.4.1), and does with NOOP: what then still counts and was not there, never was.
asio::awaitable<bool> imap_verbs::look_for_absent(std::uint64_t missing,
                                                  std::uint64_t gone_before) {
    const imap_tag tag = commands_.plain(out_, imap_verb::noop);
    const bool fine = co_await dialogue_.command(stage::command, tag);
    const std::uint64_t gone = dialogue_.announced().gone() - gone_before;
    if (!fine || gone >= missing) co_return fine;
    visit_.context.shared.counts().announced_absent += missing - gone;
    visit_.connection.refused(stage::retrieve, "contradiction",
                              "EXISTS counts messages that FETCH does not find");
    co_return fine;
}

// Behind all that was told of in it and read.
void imap_verbs::note_idle(std::uint64_t opened_us) {
    if (stretch_.ended_us > stretch_.began_us)
        visit_.messages.notes().waited({.session = visit_.appends.session,
                                        .opened_us = opened_us,
                                        .began_us = stretch_.began_us,
                                        .ended_us = stretch_.ended_us,
                                        .how = ledger::waiting::in_idle});
    stretch_ = {};
}

// ---- deleting ----

asio::awaitable<bool> imap_verbs::remove() {
    std::vector<std::uint32_t>& chosen = reader_.to_delete();
    std::sort(chosen.begin(), chosen.end());
    std::span<const std::uint32_t> left = chosen;
    bool fine = true;
    while (fine && !left.empty()) {
        const load::steady_time begun = visit_.connection.now();
        text_.clear();
        const std::size_t marked = proto::append_imap_set(text_, left);
        reader_.removing(left.first(marked), dialogue_.mailbox().uid_validity());
        fine = co_await dialogue_.command(stage::remove,
                                          uid_store(text_, "+FLAGS.SILENT (\\Deleted)"));
        if (!fine) break;
        const bool may = co_await may_expunge();
        if (!may) break;
        fine = co_await expunge(marked);
        visit_.connection.took(phase::remove, visit_.connection.now() - begun);
        if (fine) reader_.removed(left.first(marked));
        left = left.subspan(marked);
    }
    chosen.clear();
    co_return fine;
}

// Without UIDPLUS: only if nothing is marked but what we have marked ourselves.
asio::awaitable<bool> imap_verbs::may_expunge() {
    if (dialogue_.offered().has(imap_capability::uidplus)) co_return true;
    const imap_tag tag = commands_.search(out_, imap_verb::uid_search, "DELETED");
    const bool fine = co_await dialogue_.command(stage::remove, tag);
    if (!fine) co_return false;
    const auto& found = dialogue_.told().found;
    const bool ours_alone = std::all_of(found.begin(), found.end(), [this](std::uint32_t uid) {
        return std::binary_search(reader_.to_delete().begin(), reader_.to_delete().end(), uid);
    });
    if (!ours_alone) {
        visit_.connection.refused(
            stage::remove, "no_uidplus",
            "other messages are marked as deleted, and the server cannot expunge ours alone");
    }
    co_return ours_alone;
}

// Those whose UIDs are in text_.
asio::awaitable<bool> imap_verbs::expunge(std::size_t marked) {
    const bool uidplus = dialogue_.offered().has(imap_capability::uidplus);
    const imap_tag tag =
        uidplus ? commands_.uid_expunge(out_, text_) : commands_.plain(out_, imap_verb::expunge);
    const bool fine = co_await dialogue_.command(stage::remove, tag);
    const std::uint64_t gone = std::min<std::uint64_t>(dialogue_.told().expunged, marked);
    stats::tally& counts = visit_.context.shared.counts();
    counts.deleted += gone;
    if (visit_.connection.broken()) counts.delete_in_doubt += marked - gone;
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

// ---- waiting ----

bool imap_verbs::idles() const noexcept {
    const options& chosen = visit_.context.of_run.chosen;
    const bool may = chosen.watch.count() == 0 || chosen.watch_by == notified_by::idle;
    return may && dialogue_.offered().has(imap_capability::idle);
}

bool imap_verbs::is_notified() const noexcept {
    const options& chosen = visit_.context.of_run.chosen;
    return chosen.watch.count() > 0 && chosen.watch_by == notified_by::notify;
}

ledger::notice imap_verbs::told_how() const noexcept {
    if (is_notified()) return ledger::notice::notify;
    return idles() ? ledger::notice::answer : ledger::notice::poll;
}

ledger::waiting imap_verbs::waits_how() const noexcept {
    if (is_notified()) return ledger::waiting::notified;
    return idles() ? ledger::waiting::idling : ledger::waiting::polling;
}

// RFC 5465 6.2: delayed, so that EXPUNGE comes only where a command allows it, and the numbers of
// messages hold while they are fetched. MessageNew is EXISTS, for which nothing need be said.
asio::awaitable<bool> imap_verbs::ask_to_be_notified() {
    if (!dialogue_.offered().has(imap_capability::notify)) {
        visit_.connection.refused(stage::idle, "no_notify",
                                  "the server does not offer NOTIFY (RFC 5465), which --watch-by "
                                  "notify asks for");
        co_return false;
    }
    asked_last_ = steady_clock::now();
    dialogue_.overflow_seen();
    co_return co_await dialogue_.command(
        stage::idle, commands_.notify(out_, "SET (SELECTED-DELAYED (MessageNew MessageExpunge))"));
}

// After NOTIFICATIONOVERFLOW it is as if NOTIFY NONE had been said (RFC 5465 5.8). A server that
// says so each time is asked once a second.
asio::awaitable<bool> imap_verbs::ask_again() {
    constexpr std::chrono::nanoseconds between = std::chrono::seconds(1);
    const std::chrono::nanoseconds left = asked_last_ + between - steady_clock::now();
    if (left.count() > 0) co_await visit_.connection.pause(left);
    if (stopping() || visit_.connection.broken()) co_return !visit_.connection.broken();
    co_return co_await ask_to_be_notified();
}

// Says nothing, but NOOP before a server may take a client that is silent for gone (RFC 9051 5.4).
asio::awaitable<bool> imap_verbs::wait_to_be_notified(std::chrono::nanoseconds how_long) {
    const std::uint32_t before = exists();
    if (dialogue_.commands_said() != said_by_then_) {
        said_by_then_ = dialogue_.commands_said();
        said_last_ = steady_clock::now();
    }
    const auto until = steady_clock::now() + how_long;
    const bool fine = co_await idle_until(std::min(until, said_last_ + longest_idle), before);
    if (!fine || stopping() || exists() > before) co_return fine;
    if (dialogue_.overflowed()) co_return co_await ask_again();
    if (steady_clock::now() < said_last_ + longest_idle) co_return true;
    co_return co_await dialogue_.command(stage::idle, commands_.plain(out_, imap_verb::noop));
}

// In IDLE, said again where that is long, or a pause with NOOP behind it. IDLE ends early when
// there are more messages than before.
asio::awaitable<bool> imap_verbs::rest(std::chrono::nanoseconds how_long) {
    if (is_notified()) co_return co_await wait_to_be_notified(how_long);
    if (!idles()) co_return co_await ask_after(how_long);
    const std::uint32_t before = exists();
    bool fine = true;
    for (auto left = how_long; fine && left.count() > 0; left -= longest_idle) {
        fine = co_await idle(std::min(longest_idle, left));
        if (stopping() || exists() > before) break;
    }
    co_return fine;
}

asio::awaitable<bool> imap_verbs::ask_after(std::chrono::nanoseconds how_long) {
    co_await visit_.connection.pause(how_long);
    co_return co_await dialogue_.command(stage::idle, commands_.plain(out_, imap_verb::noop));
}

asio::awaitable<bool> imap_verbs::idle(std::chrono::nanoseconds how_long) {
    const std::uint32_t before = exists();
    if (!dialogue_.begin(stage::idle, commands_.plain(out_, imap_verb::idle))) co_return false;
    dialogue_.announced().idle_said();
    bool fine = co_await dialogue_.send_out();
    if (fine) fine = co_await dialogue_.wait_for_go_ahead();
    if (fine && stretch_.began_us == 0) stretch_.began_us = now_us();
    if (fine) fine = co_await idle_until(steady_clock::now() + how_long, before);
    if (!fine || dialogue_.completed()) co_return fine;
    dialogue_.announced().done_said();
    const std::uint64_t done = now_us();
    fine = co_await dialogue_.send(proto::imap_done, proto::imap_done);
    if (fine) fine = co_await dialogue_.complete();
    if (fine) stretch_.ended_us = done;
    co_return fine;
}

asio::awaitable<bool> imap_verbs::idle_until(load::steady_time until, std::uint32_t before) {
    const imap_tag answered = dialogue_.answered();
    const auto is_told = [this] { return !is_notified() || !dialogue_.overflowed(); };
    while (exists() <= before && dialogue_.answered() == answered && is_told()) {
        const auto left = until - steady_clock::now();
        if (left.count() <= 0) co_return true;
        const bool go_on = co_await visit_.connection.wait(left);
        if (!go_on) co_return !visit_.connection.broken();
        if (!visit_.connection.something_to_hear()) continue;
        const bool heard = co_await dialogue_.hear();
        if (!heard) co_return false;
    }
    co_return true;
}

}  // namespace postal::rabid
