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

}  // namespace postal::rabid
