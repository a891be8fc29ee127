// What the verbs of a profile say on an IMAP connection: reading, marking, moving, deleting,
// waiting.
#include "rabid/imap_visit.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "rabid/choice.hpp"

namespace postal::rabid {

namespace {

namespace asio = boost::asio;
using proto::imap_capability;
using proto::imap_tag;
using proto::imap_verb;
using std::chrono::steady_clock;

constexpr std::uint32_t newest = 50;

}  // namespace

asio::awaitable<bool> imap_visit::act(verb what) {
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
            co_return co_await rest(what_to_do().idle.pick(guest_.random));
        default:
            break;
    }
    const said one = say(what);
    if (one.tag == proto::no_tag) co_return true;  // an empty mailbox has nothing to fetch
    co_return co_await command(stage::command, one.tag, one.verb);
}

// The verbs that are one command.
imap_visit::said imap_visit::say(verb what) {
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
        case verb::search:
            return {commands_.search(out_, imap_verb::uid_search, "UNSEEN LARGER 10000"),
                    imap_verb::uid_search};
        case verb::list:
            return {commands_.list(out_, "", "*"), imap_verb::list};
        case verb::status:
            return {commands_.status(out_, "INBOX", "(MESSAGES UNSEEN UIDNEXT UIDVALIDITY)"),
                    imap_verb::status};
        default:
            return {commands_.plain(out_, imap_verb::noop), imap_verb::noop};
    }
}

imap_visit::said imap_visit::fetch(std::string_view set, std::string_view items) {
    if (mailbox_.exists() == 0) return {};
    return {commands_.fetch(out_, imap_verb::fetch, set, {.items = items}), imap_verb::fetch};
}

imap_visit::said imap_visit::fetch_newest(std::string_view items) {
    const std::uint32_t there = mailbox_.exists();
    text_ = std::to_string(there > newest ? there - newest + 1 : 1) + ":*";
    return fetch(text_, items);
}

imap_visit::said imap_visit::fetch_one(std::string_view items) {
    text_ = std::to_string(1 + guest_.random.below(mailbox_.exists()));
    return fetch(text_, items);
}

asio::awaitable<bool> imap_visit::read_chosen() {
    const auto numbers = pick_messages(guest_.shop.of_run.chosen, mailbox_.exists(), guest_.random);
    const bool fine = co_await read(numbers);
    if (!fine || guest_.shop.own.stopping()) co_return fine;
    co_return co_await remove();
}

asio::awaitable<bool> imap_visit::read_one() {
    const std::uint32_t there = mailbox_.exists();
    if (there == 0) co_return true;
    const std::vector<std::uint32_t> number{
        static_cast<std::uint32_t>(1 + guest_.random.below(there))};
    co_return co_await read(number);
}

// Whole messages, by ascending numbers.
asio::awaitable<bool> imap_visit::read(std::span<const std::uint32_t> left) {
    bool fine = true;
    while (fine && !left.empty() && !guest_.shop.own.stopping()) {
        text_.clear();
        const std::size_t taken = proto::append_imap_set(text_, left);
        left = left.subspan(taken);
        reading_ = true;
        since_ = steady_clock::now();
        const imap_tag tag =
            commands_.fetch(out_, imap_verb::fetch, text_, {.items = "(UID BODY.PEEK[])"});
        fine = co_await command(stage::retrieve, tag, imap_verb::fetch);
        reading_ = false;
    }
    co_return fine;
}

asio::awaitable<bool> imap_visit::read_new() {
    found_.clear();
    const imap_tag search = commands_.search(out_, imap_verb::search, "UNSEEN");
    bool fine = co_await command(stage::list, search, imap_verb::search);
    if (!fine || found_.empty()) co_return fine;
    std::sort(found_.begin(), found_.end());
    const std::vector<std::uint32_t> numbers = found_;
    fine = co_await read(numbers);
    if (!fine || ours_.empty() || guest_.shop.own.stopping()) co_return fine;
    std::sort(ours_.begin(), ours_.end());
    text_.clear();
    proto::append_imap_set(text_, ours_);
    const imap_tag tag =
        commands_.store(out_, imap_verb::uid_store, text_, "+FLAGS.SILENT (\\Seen)");
    co_return co_await command(stage::command, tag, imap_verb::uid_store);
}

asio::awaitable<bool> imap_visit::remove() {
    std::sort(to_delete_.begin(), to_delete_.end());
    std::span<const std::uint32_t> left = to_delete_;
    const bool uidplus = responses_.capabilities().has(imap_capability::uidplus);
    bool fine = true;
    while (fine && !left.empty()) {
        const load::steady_time begun = guest_.connection.now();
        text_.clear();
        const std::size_t taken = proto::append_imap_set(text_, left);
        imap_tag tag =
            commands_.store(out_, imap_verb::uid_store, text_, "+FLAGS.SILENT (\\Deleted)");
        fine = co_await command(stage::remove, tag, imap_verb::uid_store);
        if (!fine) break;
        if (!uidplus) {
            const bool may = co_await may_expunge();
            if (!may) break;
        }
        const imap_verb how = uidplus ? imap_verb::uid_expunge : imap_verb::expunge;
        tag = uidplus ? commands_.uid_expunge(out_, text_) : commands_.plain(out_, how);
        expunged_ = 0;
        fine = co_await command(stage::remove, tag, how);
        const std::uint64_t gone = std::min<std::uint64_t>(expunged_, taken);
        stats::tally& counts = guest_.shop.own.tally();
        counts.deleted += gone;
        if (guest_.connection.broken()) counts.delete_in_doubt += taken - gone;
        guest_.connection.took(phase::remove, guest_.connection.now() - begun);
        left = left.subspan(taken);
    }
    to_delete_.clear();
    co_return fine;
}

// Without UIDPLUS: only if nothing is marked but what we have marked ourselves.
asio::awaitable<bool> imap_visit::may_expunge() {
    found_.clear();
    const imap_tag tag = commands_.search(out_, imap_verb::uid_search, "DELETED");
    const bool fine = co_await command(stage::remove, tag, imap_verb::uid_search);
    if (!fine) co_return false;
    const bool ours_alone = std::all_of(found_.begin(), found_.end(), [this](std::uint32_t uid) {
        return std::binary_search(to_delete_.begin(), to_delete_.end(), uid);
    });
    if (!ours_alone) {
        guest_.connection.refused(stage::remove, "no_uidplus",
                                  "other messages are marked as deleted, and the server cannot "
                                  "expunge ours alone");
    }
    co_return ours_alone;
}

asio::awaitable<bool> imap_visit::mark() {
    if (ours_.empty()) co_return true;
    text_ = std::to_string(ours_[guest_.random.below(ours_.size())]);
    imap_tag tag = commands_.store(out_, imap_verb::uid_store, text_, "+FLAGS (\\Flagged)");
    bool fine = co_await command(stage::command, tag, imap_verb::uid_store);
    if (!fine) co_return false;
    tag = commands_.store(out_, imap_verb::uid_store, text_, "-FLAGS (\\Flagged)");
    fine = co_await command(stage::command, tag, imap_verb::uid_store);
    co_return fine;
}

// COPY or MOVE of one of ours; the mailbox is made when the server asks for that (TRYCREATE).
asio::awaitable<bool> imap_visit::put_elsewhere(imap_verb how) {
    static constexpr std::string_view elsewhere = "postal-elsewhere";
    if (ours_.empty()) co_return true;
    const bool can_move = responses_.capabilities().has(imap_capability::move);
    if (how == imap_verb::uid_move && !can_move) how = imap_verb::uid_copy;
    const std::size_t which = guest_.random.below(ours_.size());
    imap_tag tag = commands_.create(out_, elsewhere);
    expecting_no_ = true;  // it mostly exists already
    co_await command(stage::command, tag, imap_verb::create);
    expecting_no_ = false;
    if (guest_.connection.broken()) co_return false;
    text_ = std::to_string(ours_[which]);
    tag = commands_.copy(out_, how, text_, elsewhere);
    const bool fine = co_await command(stage::command, tag, how);
    if (fine && how == imap_verb::uid_move) {
        ours_.erase(ours_.begin() + static_cast<std::ptrdiff_t>(which));
    }
    co_return fine;
}

asio::awaitable<bool> imap_visit::append() {
    const auto message = guest_.shop.make_message(guest_.who);
    imap_tag tag = commands_.append(out_, "INBOX", {.size = message.text.size()});
    if (!mailbox_.sent(tag, imap_verb::append)) co_return false;
    bool fine = co_await send_out(stage::command);
    if (fine) {
        text_ = message.text;
        text_ += "\r\n";
        fine = co_await guest_.connection.send(stage::command, text_);
        text_ = std::string();
    }
    if (fine) fine = co_await complete(stage::command, tag);
    const auto unanswered =
        guest_.connection.broken() ? ledger::outcome::in_doubt : ledger::outcome::rejected;
    guest_.shop.note_appended(guest_.who, message, fine ? ledger::outcome::accepted : unanswered);
    co_return fine;
}

asio::awaitable<bool> imap_visit::make_mailbox() {
    const std::string name = "postal-" + std::to_string(guest_.random.next());
    imap_tag tag = commands_.create(out_, name);
    bool fine = co_await command(stage::command, tag, imap_verb::create);
    if (!fine) co_return false;
    tag = commands_.delete_mailbox(out_, name);
    fine = co_await command(stage::command, tag, imap_verb::delete_mailbox);
    co_return fine;
}

// IDLE (RFC 2177), or a pause with NOOP behind it where the server has none. Ends early when there
// are more messages than before.
asio::awaitable<bool> imap_visit::rest(std::chrono::nanoseconds how_long) {
    const std::uint32_t before = mailbox_.exists();
    if (!responses_.capabilities().has(imap_capability::idle)) {
        co_await guest_.connection.pause(how_long);
        const imap_tag noop = commands_.plain(out_, imap_verb::noop);
        co_return co_await command(stage::idle, noop, imap_verb::noop);
    }
    const imap_tag tag = commands_.plain(out_, imap_verb::idle);
    if (!mailbox_.sent(tag, imap_verb::idle)) co_return false;
    go_ahead_ = false;
    bool fine = co_await send_out(stage::idle);
    if (fine) fine = co_await wait_for_go_ahead(stage::idle);
    if (fine) fine = co_await idle_until(steady_clock::now() + how_long, before);
    if (!fine || answered_ == tag) co_return fine;
    fine = co_await guest_.connection.send(stage::idle, proto::imap_done);
    if (fine) fine = co_await complete(stage::idle, tag);
    co_return fine;
}

asio::awaitable<bool> imap_visit::idle_until(load::steady_time until, std::uint32_t before) {
    const imap_tag answered = answered_;
    while (mailbox_.exists() <= before && answered_ == answered) {
        const auto left = until - steady_clock::now();
        if (left.count() <= 0) co_return true;
        const bool go_on = co_await guest_.connection.wait(left);
        if (!go_on) co_return !guest_.connection.broken();
        if (!guest_.connection.something_to_hear()) continue;
        const bool heard = co_await guest_.connection.hear(stage::idle);
        if (!heard) co_return false;
        take_steps(stage::idle);
        if (guest_.connection.broken()) co_return false;
    }
    co_return true;
}

// --watch: reads what comes in from now on, until the run ends. That is also what the server tells
// of while others are read and deleted, so EXPUNGE itself lowers the number of those known.
asio::awaitable<bool> imap_visit::watch() {
    known_ = mailbox_.exists();
    bool fine = true;
    while (fine && !guest_.shop.own.stopping()) {
        if (mailbox_.exists() <= known_) fine = co_await rest(guest_.shop.of_run.chosen.watch);
        if (!fine || mailbox_.exists() <= known_) continue;
        std::vector<std::uint32_t> numbers;
        while (known_ < mailbox_.exists())
            numbers.push_back(++known_);
        fine = co_await read(numbers);
        if (fine) fine = co_await remove();
    }
    co_return fine;
}

}  // namespace postal::rabid
