// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_visit.hpp"

#include <utility>

#include "rabid/imap_login.hpp"

namespace postal::rabid {

imap_visit::imap_visit(const visit_context& who)
    : visit_(who),
      dialogue_(who.connection),
      reader_(who.context, who.messages, who.random),
      retrieval_(visit_, dialogue_, reader_),
      wait_(visit_, dialogue_),
      watch_(visit_, dialogue_, reader_, retrieval_, wait_) {
    reader_.watch(dialogue_.announced());
}

asio::awaitable<bool> imap_visit::run() {
    bool fine = co_await begin();
    visit_.connection.set_hurried(false);
    const bool watching = visit_.context.of_run.chosen.watch.count() > 0;
    if (fine && watching) fine = co_await watch_.run();
    if (fine && !watching) fine = co_await follow_profile();
    proto::imap_mailbox& mailbox = dialogue_.mailbox();
    const bool inbox = visit_.context.of_run.chosen.watch_folders.empty();
    if (resyncs_ && inbox && mailbox.selected()) {
        visit_.context.of_run.users->keep(visit_.at.account,
                                          {visit_.at.server, mailbox.remember()});
    }
    if (!visit_.connection.broken()) {
        visit_.connection.set_hurried(true);
        const auto logout = dialogue_.commands().plain(dialogue_.out(), imap_verb::logout);
        const bool ended = co_await dialogue_.command(stage::quit, logout);
        fine = fine && ended;
    }
    dialogue_.finish();
    co_return fine;
}

asio::awaitable<bool> imap_visit::begin() {
    bool fine = co_await dialogue_.greet();
    if (fine && visit_.connection.tls().in_dialogue()) fine = co_await dialogue_.start_tls();
    if (fine) fine = co_await log_in(dialogue_, visit_);
    if (fine) fine = co_await enable_qresync();
    if (fine) fine = co_await ask_for_namespace();
    if (fine) fine = co_await select();
    co_return fine;
}

// RFC 5161, RFC 7162 3.2.3; where the profile wants it. A server that refuses it has said no to
// what it offers, and the session goes on without.
asio::awaitable<bool> imap_visit::enable_qresync() {
    const proto::imap_capabilities& offered = dialogue_.offered();
    const bool may = visit_.context.of_run.behaviour.resync &&
                     offered.has(imap_capability::enable) && offered.has(imap_capability::qresync);
    if (!may) co_return true;
    const auto tag = dialogue_.commands().enable(dialogue_.out(), "QRESYNC");
    const bool agreed = co_await dialogue_.command(stage::login, tag);
    resyncs_ = agreed && dialogue_.enabled().has(imap_capability::qresync);
    if (resyncs_) dialogue_.mailbox().qresync_enabled();
    co_return !visit_.connection.broken();
}

// RFC 2342; where the profile makes mailboxes, or folders are watched. One that refuses it is taken
// at its word that there is a place for them without a prefix.
asio::awaitable<bool> imap_visit::ask_for_namespace() {
    const proto::imap_capabilities& offered = dialogue_.offered();
    const bool may = offered.has(imap_capability::name_space) ||
                     offered.has(imap_capability::imap4rev2);  // RFC 9051 appendix E
    const plan& run = visit_.context.of_run;
    const bool makes = run.behaviour.makes_mailboxes() && run.chosen.watch.count() == 0;
    const bool wanted = makes || !run.chosen.watch_folders.empty();
    if (!may || !wanted) co_return true;
    const auto tag = dialogue_.commands().plain(dialogue_.out(), imap_verb::name_space);
    co_await dialogue_.command(stage::login, tag);
    co_return !visit_.connection.broken();
}

asio::awaitable<bool> imap_visit::select() {
    visit_.messages.notes().listing();
    const load::steady_time begun = visit_.connection.now();
    proto::imap_memory before;
    if (resyncs_) before = visit_.context.of_run.users->recall(visit_.at.account, visit_.at.server);
    const bool fine = co_await dialogue_.select("INBOX", before);
    visit_.connection.took(phase::list, visit_.connection.now() - begun);
    if (fine) visit_.messages.notes().listed(dialogue_.mailbox().exists());
    // What the server does not want to hear is not said again.
    if (!fine && before.usable()) visit_.context.of_run.users->keep(visit_.at.account, {});
    co_return fine;
}

asio::awaitable<bool> imap_visit::follow_profile() {
    const profile& todo = visit_.context.of_run.behaviour;
    const std::vector<verb> script = todo.script(visit_.random);
    imap_verbs verbs(visit_, dialogue_, reader_, retrieval_, wait_);
    bool begun = false;
    for (const verb what : script) {
        if (visit_.stopping()) break;
        const auto thinking = todo.think.pick(visit_.random);
        if (std::exchange(begun, true) && thinking.count() > 0) {
            const bool go_on = co_await visit_.connection.pause(thinking);
            if (!go_on) break;
        }
        co_await act(verbs, what);
        if (visit_.connection.broken()) co_return false;
    }
    co_return true;
}

// A command that is refused is counted, and the session goes on.
asio::awaitable<void> imap_visit::act(imap_verbs& verbs, verb what) {
    client::channel& line = visit_.connection;
    const load::steady_time begun = line.read_clock();
    const std::uint64_t said_before = dialogue_.commands_said();
    const std::uint32_t there = dialogue_.mailbox().exists();
    const bool fine = co_await verbs.act(what);
    stats::action_end how = fine ? stats::action_end::ok : stats::action_end::refused;
    if (fine && dialogue_.commands_said() == said_before) how = stats::action_end::nothing;
    if (line.broken()) how = stats::action_end::failed;
    line.counts().actions.add(static_cast<std::size_t>(what), how, line.read_clock() - begun,
                              there);
}

}  // namespace postal::rabid
