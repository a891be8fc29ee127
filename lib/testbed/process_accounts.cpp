// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/process_accounts.hpp"

#include <algorithm>

namespace postal::testbed {
namespace {

void add(process_amounts& to, const process_amounts& more) {
    to.ticks += more.ticks;
    to.read += more.read;
    to.written += more.written;
}

void pay(std::uint64_t& from, std::uint64_t& debt) {
    const std::uint64_t paid = std::min(from, debt);
    from -= paid;
    debt -= paid;
}

void pay(process_amounts& from, process_amounts& debt) {
    pay(from.ticks, debt.ticks);
    pay(from.read, debt.read);
    pay(from.written, debt.written);
}

std::uint64_t passed(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
}

// What the parent is given when it waits for it.
process_amounts all_of(const process_reading& one) {
    const os::process_io io = one.io.value_or(os::process_io{});
    return {one.stat.user + one.stat.system + one.stat.children, io.read_bytes, io.write_bytes};
}

bool same(const process_reading& one, const process_reading& other) {
    return one.stat.pid == other.stat.pid && one.stat.start == other.stat.start;
}

}  // namespace

void process_accounts::begin(const std::vector<process_reading>& processes) {
    for (const process_reading& one : processes) {
        if (!accounts_.try_emplace(one.stat.pid, account{one, {}}).second) continue;
        program_amounts& amounts = amounts_of(one.stat.name);
        amounts.io_known = amounts.io_known && one.io;
    }
}

void process_accounts::look(const std::vector<process_reading>& alive) {
    remove_gone(alive);
    std::vector<growth> grown;
    grown.reserve(alive.size());
    for (const process_reading& one : alive)
        grown.push_back(grow(one));
    for (growth& one : grown) {
        pay(one.unpaid, orphans_.older);
        pay(one.unpaid, orphans_.newer);
        one.to->children += one.unpaid.ticks;
        one.to->read += one.unpaid.read;
        one.to->written += one.unpaid.written;
    }
    orphans_ = {orphans_.newer, {}};
}

// Their parents owe what they have used, and what they owed themselves.
void process_accounts::remove_gone(const std::vector<process_reading>& alive) {
    std::unordered_map<pid_t, const process_reading*> now;
    for (const process_reading& one : alive)
        now.emplace(one.stat.pid, &one);
    std::vector<account> gone;
    for (auto at = accounts_.begin(); at != accounts_.end();) {
        const auto found = now.find(at->first);
        const bool lives = found != now.end() && same(*found->second, at->second.last);
        if (!lives) gone.push_back(std::move(at->second));
        at = lives ? std::next(at) : accounts_.erase(at);
    }
    for (const account& one : gone) {
        const auto parent = accounts_.find(one.last.stat.parent);
        process_amounts& to =
            parent == accounts_.end() ? orphans_.newer : parent->second.owed.newer;
        add(to, all_of(one.last));
        add(to, one.owed.older);
    }
}

// A process that is new has used nothing before.
process_accounts::growth process_accounts::grow(const process_reading& now) {
    const auto [at, is_new] = accounts_.try_emplace(now.stat.pid);
    account& known = at->second;
    if (is_new) known.last.io = os::process_io{};
    program_amounts& amounts = amounts_of(now.stat.name);
    const os::process_stat& before = known.last.stat;
    amounts.user += passed(now.stat.user, before.user);
    amounts.system += passed(now.stat.system, before.system);
    process_amounts unpaid{passed(now.stat.children, before.children), 0, 0};
    if (now.io && known.last.io) {
        unpaid.read = passed(now.io->read_bytes, known.last.io->read_bytes);
        unpaid.written = passed(now.io->write_bytes, known.last.io->write_bytes);
    } else {
        amounts.io_known = false;
    }
    pay(unpaid, known.owed.older);
    pay(unpaid, known.owed.newer);
    known.owed = {known.owed.newer, {}};
    known.last = now;
    return {&amounts, unpaid};
}

program_amounts& process_accounts::amounts_of(const std::string& name) {
    const bool is_full = programs_.size() >= most_names && !programs_.contains(name);
    return programs_[is_full ? "(others)" : name];
}

}  // namespace postal::testbed
