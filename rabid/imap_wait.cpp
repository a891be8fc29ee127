// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_wait.hpp"

#include <algorithm>
#include <utility>

namespace postal::rabid {
namespace {

using std::chrono::steady_clock;

// RFC 5465 6.2: delayed, so that EXPUNGE comes only where a command allows it, and the numbers of
// messages hold while they are fetched. MessageNew is EXISTS, for which nothing need be said.
constexpr std::string_view of_selected = "(SELECTED-DELAYED (MessageNew MessageExpunge))";

}  // namespace

imap_wait::imap_wait(const visit_context& who, imap_dialogue& dialogue)
    : visit_(who), dialogue_(dialogue), commands_(dialogue.commands()), out_(dialogue.out()) {}

bool imap_wait::idles() const noexcept {
    const options& chosen = visit_.context.of_run.chosen;
    const bool may = chosen.watch.count() == 0 || chosen.watch_by == notified_by::idle;
    return may && dialogue_.offered().has(imap_capability::idle);
}

bool imap_wait::is_notified() const noexcept {
    const options& chosen = visit_.context.of_run.chosen;
    return chosen.watch.count() > 0 && chosen.watch_by == notified_by::notify;
}

ledger::notice imap_wait::told_how() const noexcept {
    if (is_notified()) return ledger::notice::notify;
    return idles() ? ledger::notice::answer : ledger::notice::poll;
}

ledger::waiting imap_wait::waits_how() const noexcept {
    if (is_notified()) return ledger::waiting::notified;
    return idles() ? ledger::waiting::idling : ledger::waiting::polling;
}

asio::awaitable<bool> imap_wait::begin_watching() {
    if (!is_notified()) co_return true;
    co_return co_await ask_to_be_notified();
}

asio::awaitable<bool> imap_wait::ask_to_be_notified() {
    if (!dialogue_.offered().has(imap_capability::notify)) {
        visit_.connection.refused(stage::idle, "no_notify",
                                  "the server does not offer NOTIFY (RFC 5465), which --watch-by "
                                  "notify asks for");
        co_return false;
    }
    asked_last_ = steady_clock::now();
    dialogue_.overflow_seen();
    const bool fine = co_await dialogue_.command(stage::idle, say_notify());
    if (fine) agreed_us_ = now_us();
    co_return fine;
}

imap_tag imap_wait::say_notify() {
    const folder_news* const folders = dialogue_.folders();
    if (folders == nullptr) return commands_.notify(out_, std::string("SET ").append(of_selected));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < folders->size(); ++i)
        names.push_back(folders->name(i));
    return commands_.notify(out_, of_selected, names, "(MessageNew MessageExpunge)");
}

// After NOTIFICATIONOVERFLOW it is as if NOTIFY NONE had been said (RFC 5465 5.8). A server that
// says so each time is asked once a second.
asio::awaitable<bool> imap_wait::ask_again() {
    constexpr std::chrono::nanoseconds between = std::chrono::seconds(1);
    const std::chrono::nanoseconds left = asked_last_ + between - steady_clock::now();
    if (left.count() > 0) co_await visit_.connection.pause(left);
    if (visit_.stopping() || visit_.connection.broken()) co_return !visit_.connection.broken();
    co_return co_await ask_to_be_notified();
}

// Says nothing, but NOOP before a server may take a client that is silent for gone (RFC 9051 5.4).
asio::awaitable<bool> imap_wait::wait_to_be_notified(std::chrono::nanoseconds how_long) {
    if (dialogue_.commands_said() != said_by_then_) {
        said_by_then_ = dialogue_.commands_said();
        said_last_ = steady_clock::now();
    }
    const auto until = steady_clock::now() + how_long;
    const bool fine = co_await idle_until(std::min(until, said_last_ + longest_idle));
    if (!fine || visit_.stopping() || dialogue_.has_news()) co_return fine;
    if (dialogue_.overflowed()) co_return co_await ask_again();
    if (steady_clock::now() < said_last_ + longest_idle) co_return true;
    co_return co_await ask();
}

asio::awaitable<bool> imap_wait::rest(std::chrono::nanoseconds how_long) {
    if (is_notified()) return wait_to_be_notified(how_long);
    return idles() ? idle(how_long) : ask_after(how_long);
}

asio::awaitable<bool> imap_wait::ask_after(std::chrono::nanoseconds how_long) {
    co_await visit_.connection.pause(how_long);
    co_return co_await ask();
}

asio::awaitable<bool> imap_wait::ask() {
    const std::uint64_t said = now_us();
    const imap_tag tag = commands_.plain(out_, imap_verb::noop);
    const bool fine = co_await dialogue_.command(stage::idle, tag);
    if (fine) asked_us_ = said;
    co_return fine;
}

asio::awaitable<bool> imap_wait::idle(std::chrono::nanoseconds how_long) {
    bool fine = true;
    for (auto left = how_long; fine && left.count() > 0; left -= longest_idle) {
        const std::uint64_t said = now_us();
        fine = co_await begin_idle();
        const auto until = steady_clock::now() + std::min(longest_idle, left);
        if (fine) fine = co_await idle_until(until);
        if (fine && !dialogue_.completed()) fine = co_await end_idle();
        if (fine) asked_us_ = said;
        if (visit_.stopping() || dialogue_.has_news()) break;
    }
    co_return fine;
}

asio::awaitable<bool> imap_wait::begin_idle() {
    if (!dialogue_.begin(stage::idle, commands_.plain(out_, imap_verb::idle))) co_return false;
    dialogue_.announced().idle_said();
    bool fine = co_await dialogue_.send_out();
    if (fine) fine = co_await dialogue_.wait_for_go_ahead();
    if (fine && stretch_.began_us == 0) stretch_.began_us = now_us();
    co_return fine;
}

asio::awaitable<bool> imap_wait::end_idle() {
    dialogue_.announced().done_said();
    const std::uint64_t done = now_us();
    bool fine = co_await dialogue_.send(proto::imap_done, proto::imap_done);
    if (fine) fine = co_await dialogue_.complete();
    if (fine) stretch_.ended_us = done;
    co_return fine;
}

asio::awaitable<bool> imap_wait::idle_until(load::steady_time until) {
    const imap_tag answered = dialogue_.answered();
    const auto is_told = [this] { return !is_notified() || !dialogue_.overflowed(); };
    while (!dialogue_.has_news() && dialogue_.answered() == answered && is_told()) {
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
