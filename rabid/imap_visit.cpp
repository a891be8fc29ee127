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
using proto::imap_condition;
using proto::imap_event;
using proto::imap_step;
using proto::imap_tag;
using proto::imap_verb;
using std::chrono::steady_clock;

constexpr std::uint32_t newest = 50;
constexpr std::uint32_t most_messages = 1'000'000;  // that are known by number

}  // namespace

imap_visit::imap_visit(const guest& who) : guest_(who), mailbox_(most_messages) {}

asio::awaitable<bool> imap_visit::run() {
    bool fine = co_await greet();
    const bool tls = guest_.connection.tls().in_dialogue();
    if (fine && tls) fine = co_await start_tls();
    if (fine) fine = co_await log_in();
    if (fine) fine = co_await enable_qresync();
    if (fine) {
        guest_.messages.open(guest_.who, ledger::way::imap);
        fine = co_await select();
    }
    const bool watching = guest_.shop.of_run.chosen.watch.count() > 0;
    if (fine && watching) fine = co_await watch();
    if (fine && !watching) fine = co_await follow_profile();
    if (resyncs_ && mailbox_.selected()) {
        guest_.shop.of_run.users->keep(guest_.at.account, {guest_.at.server, mailbox_.remember()});
    }
    if (!guest_.connection.broken()) {
        const bool ended = co_await say_logout();
        fine = fine && ended;
    }
    if (in_message_) {
        ++guest_.shop.own.tally().failed;
        guest_.messages.drop();
    }
    co_return fine;
}

// ---- the session ----

asio::awaitable<bool> imap_visit::greet() {
    const load::steady_time connected = guest_.connection.now();
    while (!greeted_) {
        const bool heard = co_await guest_.connection.hear(stage::banner);
        if (!heard) co_return false;
        take_steps(stage::banner);
        if (guest_.connection.broken()) co_return false;
    }
    guest_.connection.took(phase::banner, guest_.connection.now() - connected);
    co_return !said_bye_;
}

// RFC 3501 6.2.1: what the server offered before is asked for again. A server that greets with
// PREAUTH cannot be told any more, and might be somebody in between.
asio::awaitable<bool> imap_visit::start_tls() {
    if (logged_in_) {
        guest_.connection.give_up(stage::tls, "preauth", "PREAUTH over a connection without TLS");
        co_return false;
    }
    const imap_tag tag = commands_.plain(out_, imap_verb::starttls);
    starting_tls_ = true;
    const bool agreed = co_await command(stage::tls, tag, imap_verb::starttls);
    starting_tls_ = false;
    if (!agreed) co_return false;
    const bool secured = co_await guest_.connection.secure();
    if (!secured) co_return false;
    responses_ = proto::imap_responses();
    co_return true;
}

asio::awaitable<bool> imap_visit::log_in() {
    if (responses_.capabilities().empty()) {
        const imap_tag tag = commands_.plain(out_, imap_verb::capability);
        const bool told = co_await command(stage::login, tag, imap_verb::capability);
        if (!told) co_return false;
    }
    if (!logged_in_) {
        const load::steady_time begun = guest_.connection.now();
        const bool by_sasl = guest_.shop.of_run.chosen.auth.wanted();
        if (!by_sasl && responses_.capabilities().has(imap_capability::login_disabled)) {
            guest_.connection.give_up(stage::login, "login_disabled",
                                      "the server lets nobody in without TLS");
            co_return false;
        }
        commands_.literals(proto::imap_literals_of(responses_.capabilities()));
        bool in = false;
        if (by_sasl) {
            in = co_await authenticate();
        } else {
            const imap_tag tag = commands_.login(out_, guest_.who.login, guest_.who.password);
            shown_ = "a" + std::to_string(tag) + " LOGIN " + guest_.who.login + " ***\r\n";
            in = co_await command(stage::login, tag, imap_verb::login);
        }
        if (!in) co_return false;
        guest_.connection.took(phase::login, guest_.connection.now() - begun);
    }
    commands_.literals(proto::imap_literals_of(responses_.capabilities()));
    const bool may_compress = responses_.capabilities().has(imap_capability::compress);
    if (!guest_.shop.of_run.chosen.compress || !may_compress) co_return true;
    const imap_tag tag = commands_.plain(out_, imap_verb::compress);
    const bool agreed = co_await command(stage::login, tag, imap_verb::compress);
    if (agreed) guest_.connection.compress();
    co_return !guest_.connection.broken();
}

// RFC 5161, RFC 7162 3.2.3; where the profile wants it. A server that refuses it has said no to
// what it offers, and the session goes on without.
asio::awaitable<bool> imap_visit::enable_qresync() {
    const proto::imap_capabilities& offered = responses_.capabilities();
    const bool may = what_to_do().resync && offered.has(imap_capability::enable) &&
                     offered.has(imap_capability::qresync);
    if (!may) co_return true;
    const imap_tag tag = commands_.enable(out_, "QRESYNC");
    const bool agreed = co_await command(stage::login, tag, imap_verb::enable);
    resyncs_ = agreed && responses_.enabled().has(imap_capability::qresync);
    if (resyncs_) mailbox_.qresync_enabled();
    co_return !guest_.connection.broken();
}

asio::awaitable<bool> imap_visit::select() {
    const load::steady_time begun = guest_.connection.now();
    proto::imap_memory before;
    if (resyncs_) before = guest_.shop.of_run.users->recall(guest_.at.account, guest_.at.server);
    proto::imap_select_options with;
    text_.clear();
    if (before.usable()) {
        before.append_uids(text_);
        with = {.uid_validity = before.uid_validity, .modseq = before.modseq, .known_uids = text_};
    }
    const bool resyncing = before.usable();
    const imap_tag tag = commands_.select(out_, imap_verb::select, "INBOX", with);
    if (!mailbox_.resync("INBOX", tag, imap_verb::select, std::move(before))) co_return false;
    bool fine = co_await send_out(stage::list);
    if (fine) fine = co_await complete(stage::list, tag);
    guest_.connection.took(phase::list, guest_.connection.now() - begun);
    // What the server does not want to hear is not said again.
    if (!fine && resyncing) guest_.shop.of_run.users->keep(guest_.at.account, {});
    if (fine && mailbox_.exists() > most_messages) {
        guest_.connection.give_up(stage::list, "too_many", "messages in one mailbox");
        co_return false;
    }
    co_return fine;
}

asio::awaitable<bool> imap_visit::follow_profile() {
    const profile& todo = what_to_do();
    std::vector<verb> script = todo.first;
    const std::uint64_t more =
        todo.least_actions + guest_.random.below(todo.most_actions - todo.least_actions + 1U);
    for (std::uint64_t i = 0; i < more; ++i)
        script.push_back(todo.pick(guest_.random));
    script.insert(script.end(), todo.last.begin(), todo.last.end());
    bool begun = false;
    for (const verb what : script) {
        if (guest_.shop.own.stopping()) break;
        const auto thinking = todo.think.pick(guest_.random);
        if (std::exchange(begun, true) && thinking.count() > 0) {
            const bool go_on = co_await guest_.connection.pause(thinking);
            if (!go_on) break;
        }
        // A command that is refused is counted, and the session goes on.
        co_await act(what);
        if (guest_.connection.broken()) co_return false;
    }
    co_return true;
}

asio::awaitable<bool> imap_visit::say_logout() {
    leaving_ = true;
    const imap_tag tag = commands_.plain(out_, imap_verb::logout);
    const bool fine = co_await command(stage::quit, tag, imap_verb::logout);
    co_return fine;
}

// ---- verbs ----

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

// ---- commands and what comes back ----

asio::awaitable<bool> imap_visit::command(stage where, imap_tag tag, imap_verb verb) {
    if (tag == proto::no_tag || !mailbox_.sent(tag, verb)) {
        out_.clear();
        shown_.clear();
        guest_.connection.refused(where, "not_sayable", "the name or password cannot be sent");
        co_return false;
    }
    bool fine = co_await send_out(where);
    if (fine) fine = co_await complete(where, tag);
    co_return fine;
}

// Literals that must wait for their go-ahead are sent piece by piece.
asio::awaitable<bool> imap_visit::send_out(stage where) {
    const std::string text = std::exchange(out_.text, {});
    const std::vector<std::size_t> waits = std::exchange(out_.waits, {});
    const std::string secret = std::exchange(shown_, {});
    std::string_view shown = secret;
    std::size_t at = 0;
    for (const std::size_t wait : waits) {
        go_ahead_ = false;
        const std::string_view piece = std::string_view(text).substr(at, wait - at);
        if (secret.empty()) shown = piece;
        bool fine = co_await guest_.connection.send(where, piece, shown);
        shown = "***\r\n";
        if (fine) fine = co_await wait_for_go_ahead(where);
        if (!fine) co_return false;
        at = wait;
    }
    if (at == text.size()) co_return true;
    const std::string_view rest = std::string_view(text).substr(at);
    if (secret.empty()) shown = rest;
    co_return co_await guest_.connection.send(where, rest, shown);
}

// True as well when the server has answered the command instead.
asio::awaitable<bool> imap_visit::wait_for_go_ahead(stage where) {
    const imap_tag before = answered_;
    take_steps(where);
    while (!go_ahead_ && answered_ == before && !guest_.connection.broken()) {
        const bool heard = co_await guest_.connection.hear(where);
        if (!heard) co_return false;
        take_steps(where);
    }
    co_return go_ahead_ && !guest_.connection.broken();
}

asio::awaitable<bool> imap_visit::complete(stage where, imap_tag tag) {
    take_steps(where);
    while (answered_ != tag && !guest_.connection.broken()) {
        const bool heard = co_await guest_.connection.hear(where);
        if (!heard) co_return false;
        take_steps(where);
    }
    co_return !guest_.connection.broken() && condition_ == imap_condition::ok;
}

void imap_visit::take_steps(stage where) {
    std::string_view& heard = guest_.connection.heard();
    while (!guest_.connection.broken()) {
        const imap_step step = responses_.next(heard);
        heard.remove_prefix(step.consumed);
        if (step.event == imap_event::need_more) return;
        take_step(where, step);
        if (starting_tls_ && step.event == imap_event::tagged) return;
        // No answer is so long: somebody wants us to listen for ever.
        if (++steps_ > steps_expected()) {
            guest_.connection.give_up(where, "flood", "the server talks without an end");
        }
    }
}

// Since the last tagged response or whole message: every message may be named a few times.
std::uint64_t imap_visit::steps_expected() const noexcept {
    return std::uint64_t{16} * mailbox_.exists() + 1'000'000;
}

void imap_visit::take_step(stage where, const imap_step& step) {
    const std::string_view wrong = mailbox_.apply(step);
    if (!wrong.empty()) {
        guest_.connection.refused(where, "contradiction",
                                  std::string(wrong) + " (" +
                                      std::string(proto::imap_verb_name(mailbox_.answering())) +
                                      ")");
    }
    switch (step.event) {
        case imap_event::broken:
            guest_.connection.give_up(where, step.text, "what the server says cannot be read");
            break;
        case imap_event::tagged:
            steps_ = 0;
            answered_ = proto::read_imap_tag(step.tag);
            condition_ = step.condition;
            if (authenticating_) said_ = step.text;
            if (condition_ != imap_condition::ok && !expecting_no_) {
                guest_.connection.refused(where, "refused", step.text);
            }
            break;
        case imap_event::untagged:
            if (!greeted_) {
                greeted_ = true;
                logged_in_ = step.condition == imap_condition::preauth;
            }
            if (step.condition == imap_condition::bye) {
                said_bye_ = true;
                if (!leaving_) guest_.connection.give_up(where, "bye", step.text);
            }
            break;
        case imap_event::continuation:
            go_ahead_ = true;
            if (authenticating_) said_ = step.text;
            break;
        case imap_event::found:
            for (std::uint64_t n = step.range.first; n <= step.range.last; ++n) {
                if (found_.size() < most_messages) found_.push_back(static_cast<std::uint32_t>(n));
            }
            break;
        case imap_event::expunge:
            ++expunged_;
            if (step.number > 0 && step.number <= known_) --known_;
            break;
        case imap_event::vanished:
            if (!step.earlier) note_vanished(step.range.last - step.range.first + std::uint64_t{1});
            break;
        case imap_event::body_begin:
            if (reading_ && step.text.empty()) message_begin(step);
            break;
        case imap_event::body_piece:
            if (in_message_) guest_.messages.feed(step.text);
            break;
        case imap_event::body_end:
            whole_ = in_message_;
            break;
        case imap_event::fetch_end:
            if (whole_) message_end();
            break;
        default:
            break;
    }
}

// UIDs: those that we have deleted ourselves, which we knew.
void imap_visit::note_vanished(std::uint64_t count) noexcept {
    expunged_ += count;
    known_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(known_, count));
}

void imap_visit::message_begin(const imap_step&) {
    if (in_message_) return;  // the same body twice in one response: the first counts
    ++guest_.shop.own.tally().started;
    in_message_ = true;
    whole_ = false;
    guest_.messages.begin();
}

// The UID may have come before the body or behind it.
void imap_visit::message_end() {
    in_message_ = whole_ = false;
    steps_ = 0;
    const std::uint32_t uid = mailbox_.uid(mailbox_.fetched());
    guest_.connection.took(phase::retrieve, guest_.connection.now() - since_);
    since_ = guest_.connection.now();
    const finding what = guest_.messages.finish({.uid = uid, .place = uid});
    if (uid == 0) return;
    const options& chosen = guest_.shop.of_run.chosen;
    const bool ours = what != finding::foreign && what != finding::doubtful;
    if (ours && ours_.size() < most_messages) ours_.push_back(uid);
    if ((ours || chosen.delete_foreign) && pick_deletion(chosen, guest_.random)) {
        to_delete_.push_back(uid);
    }
}

}  // namespace postal::rabid
