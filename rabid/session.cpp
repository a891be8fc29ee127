// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/session.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>

#include "net/fault.hpp"
#include "rabid/imap_visit.hpp"
#include "rabid/phases.hpp"
#include "rabid/pop3_visit.hpp"
#include "rabid/population_visit.hpp"

namespace postal::rabid {

namespace {

constexpr std::chrono::nanoseconds look_again = std::chrono::milliseconds(5);  // for a free account
constexpr std::chrono::nanoseconds until_woken = std::chrono::hours(1);
constexpr std::uint64_t choices = 0x63686f6963657321;  // keeps its numbers apart from others'

constexpr client::channel::phases counted{
    static_cast<std::size_t>(phase::connect),
    {static_cast<std::size_t>(phase::tls), static_cast<std::size_t>(phase::tls_resumed)}};

// A coroutine's frame has room for all that may stand in it: for each kind of visit its own.
template <class Visit, class... More>
asio::awaitable<bool> talk(visit_context who, More&... more) {
    if (who.connection.tls().at_once()) {
        const bool secured = co_await who.connection.secure();
        if (!secured) co_return false;
    }
    if (!std::is_same_v<Visit, pop3_visit>) ++who.context.shared.counts().imap_connections;
    Visit dialogue(who, more...);
    co_return co_await dialogue.run();
}

}  // namespace

session::session(worker_context& context, unsigned index)
    : context_(context),
      plan_(context.of_run),
      opening_(context.shared, index),
      channel_(context.shared, {*this, opening_.place()}, index, counted),
      examiner_(context),
      random_(base::mix(plan_.load.seed, choices, index)),
      index_(index) {
    context_.shared.own.watch(*this);
}

asio::awaitable<void> session::run() {
    bool open = co_await opening_.wait_for_turn();
    if (plan_.populates && index_ == plan_.load.share.number(0))
        context_.shared.counts().wanted += plan_.populates->wanted();
    while (open && !context_.shared.own.stopping()) {
        open = co_await opening_.wait_for_ticket();
        if (open) co_await visit_someone();
    }
    opening_.return_ticket();
}

asio::awaitable<void> session::visit_someone() {
    const auto number = co_await wait_for_account();
    if (!number) co_return;
    if (plan_.populates) {
        co_await fill_someone(*number);
        co_return;
    }
    const bool fine = co_await call_on(*number);
    plan_.users->give_back(*number, fine ? visit_result::done : visit_result::failed);
    if (!fine) {
        co_await opening_.back_off();
        co_return;
    }
    opening_.succeeded();
    const auto rest = std::max(plan_.chosen.watch, plan_.behaviour.pause.pick(random_));
    if (rest.count() > 0) co_await context_.shared.gate.rest(opening_.place(), rest);
}

// The account keeps its turn, and the session its ticket, until all is done.
asio::awaitable<void> session::fill_someone(std::size_t account_number) {
    const bool done = co_await call_on(account_number);
    const bool moved =
        plan_.populates->books(account_number, plan_.users->at(account_number)).end_visit();
    if (done) plan_.populates->done(account_number);
    plan_.users->give_back(account_number, done ? visit_result::done : visit_result::unfinished);
    if (done || moved) opening_.succeeded();
    if (!done) co_await opening_.back_off();
}

std::optional<std::size_t> session::take_account() {
    return context_.ledger_keeps_up() ? plan_.users->take(random_) : std::nullopt;
}

// In turn, among those of this worker; nothing when the run stops.
asio::awaitable<std::optional<std::size_t>> session::wait_for_account() {
    auto& queue = context_.without_account;
    load::turnstile::waiter* const me = &opening_.place();
    if (queue.empty()) {
        if (const auto number = take_account()) co_return number;
    }
    queue.push_back(me);
    std::optional<std::size_t> number;
    while (!number && !context_.shared.own.stopping()) {
        const bool first = queue.front() == me;
        co_await context_.shared.gate.pause(*me, first ? look_again : until_woken);
        if (queue.front() == me) number = take_account();
    }
    queue.erase(std::find(queue.begin(), queue.end(), me));
    if (!queue.empty()) context_.shared.gate.wake(*queue.front());
    co_return number;
}

// True when nothing is wrong with the server.
asio::awaitable<bool> session::call_on(std::size_t account_number) {
    const bool imap = random_.below(100) < plan_.chosen.imap_percent;
    const auto& servers = imap ? plan_.imap : plan_.pop3;
    examiner_.open(plan_.users->at(account_number), imap ? ledger::way::imap : ledger::way::pop3,
                   index_);
    const bool connected = co_await channel_.open(servers[index_ % servers.size()], random_);
    if (!connected) {
        examiner_.close({channel_.first_problem(), context_.shared.own.stopping()});
        co_return false;
    }
    const load::steady_time begun = channel_.now();
    load::steady_time due = begun;
    if (!plan_.populates) due = opening_.use().due;
    const bool fine = co_await converse(imap, account_number);
    if (fine && plan_.populates) opening_.use();
    time(fine, begun, plan_.load.open_loop ? due : begun);
    const bool whole = examiner_.close({channel_.first_problem(), context_.shared.own.stopping()});
    if (!whole && channel_.stopped()) {
        channel_.refused(stage::retrieve, "stopped", "a message was abandoned when the run ended");
    }
    channel_.end();
    co_return fine;
}

// Of an open loop what did not succeed lies above all that did.
void session::time(bool succeeded, load::steady_time begun, load::steady_time due) {
    const load::steady_time ended = channel_.read_clock();
    context_.shared.counts().trial.ended(
        due, ended, succeeded ? stats::trial_end::accepted : stats::trial_end::failed);
    if (succeeded) {
        channel_.took(phase::session, ended - due);
        channel_.took(phase::service, ended - begun);
    } else if (plan_.load.open_loop) {
        context_.shared.counts().unserved.record(ended - due);
    }
}

asio::awaitable<bool> session::converse(bool imap, std::size_t account_number) {
    channel_.set_hurried(true);  // until something is to be read
    const auto& servers = imap ? plan_.imap : plan_.pop3;
    const visit_context who{context_,          channel_,
                            examiner_,         plan_.users->at(account_number),
                            random_,           {account_number, index_ % servers.size()},
                            channel_.server(), {index_, appended_}};
    if (!imap) return talk<pop3_visit>(who);
    if (plan_.populates) return talk<population_visit>(who, *plan_.populates);
    return talk<imap_visit>(who);
}

}  // namespace postal::rabid
