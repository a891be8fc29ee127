// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/process_accounts.hpp"

#include <algorithm>
#include <utility>

namespace postal::testbed {
namespace {

void add(process_amounts& to, const process_amounts& more) {
    to.cpu_ns += more.cpu_ns;
    to.read += more.read;
    to.written += more.written;
}

void pay(std::uint64_t& from, std::uint64_t& debt) {
    const std::uint64_t paid = std::min(from, debt);
    from -= paid;
    debt -= paid;
}

void pay(process_amounts& from, process_amounts& debt) {
    pay(from.cpu_ns, debt.cpu_ns);
    pay(from.read, debt.read);
    pay(from.written, debt.written);
}

std::uint64_t passed(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
}

// What a counter has grown by; all of it where it was not known before and everything counts.
std::uint64_t grown(const std::optional<std::uint64_t>& now,
                    const std::optional<std::uint64_t>& before, bool is_whole) {
    if (!now) return 0;
    if (!before) return is_whole ? *now : 0;
    return passed(*now, *before);
}

void keep_known(process_reading& now, const process_reading& before) {
    if (!now.io) now.io = before.io;
    if (!now.cpu_ns) now.cpu_ns = before.cpu_ns;
    if (!now.wakeups) now.wakeups = before.wakeups;
    if (!now.descriptors) now.descriptors = before.descriptors;
    if (!now.memory) now.memory = before.memory;
}

std::optional<std::uint64_t> part_of(const std::optional<os::process_io>& io,
                                     std::uint64_t os::process_io::*which) {
    return io ? std::optional((*io).*which) : std::nullopt;
}

// One that has ended has no descriptors and no memory, and hands its I/O on to its parent.
void note_levels(program_amounts& to, const process_reading& one, closeness how) {
    if (one.stat.ended) return;
    to.io_known = to.io_known && one.io;
    to.wakeups_known = to.wakeups_known && one.wakeups;
    if (how != closeness::thorough) return;
    to.descriptors_known = to.descriptors_known && one.descriptors;
    to.memory_known = to.memory_known && one.memory;
    to.descriptors += one.descriptors.value_or(0);
    to.memory += one.memory.value_or(0);
}

bool same(const process_reading& one, const process_reading& other) {
    return one.stat.pid == other.stat.pid && one.stat.start == other.stat.start;
}

}  // namespace

std::uint64_t process_accounts::own_ns(const process_reading& one) const {
    return one.cpu_ns.value_or((one.stat.user + one.stat.system) * tick_ns_);
}

// What the parent is given when it waits for it.
process_amounts process_accounts::all_of(const process_reading& one) const {
    const os::process_io io = one.io.value_or(os::process_io{});
    return {own_ns(one) + one.stat.children * tick_ns_, io.read_bytes, io.write_bytes};
}

void process_accounts::begin(const std::vector<process_reading>& processes) {
    for (const process_reading& one : processes) {
        if (!accounts_.try_emplace(one.stat.pid, account{one, false, {}}).second) continue;
        note_levels(amounts_of(one.stat.name, closeness::quick), one, closeness::quick);
    }
}

void process_accounts::look(const std::vector<process_reading>& alive, closeness how) {
    remove_gone(alive);
    for (auto& [name, amounts] : programs_) {
        amounts.descriptors = amounts.memory = 0;
        amounts.io_known = amounts.wakeups_known = true;
        amounts.descriptors_known = amounts.memory_known = how == closeness::thorough;
    }
    std::vector<growth> grown;
    grown.reserve(alive.size());
    for (const process_reading& one : alive)
        grown.push_back(grow(one, how));
    for (growth& one : grown) {
        pay(one.unpaid, orphans_.older);
        pay(one.unpaid, orphans_.newer);
        one.to->children_ns += one.unpaid.cpu_ns;
        one.to->cpu_ns += one.unpaid.cpu_ns;
        one.to->read += one.unpaid.read;
        one.to->written += one.unpaid.written;
    }
    orphans_ = {orphans_.newer, {}, 0};
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
        to.cpu_ns += one.owed.hidden_ns;
    }
}

// A process that is new has used nothing before.
process_accounts::growth process_accounts::grow(const process_reading& read, closeness how) {
    account& known = accounts_.try_emplace(read.stat.pid).first->second;
    process_reading now = read;
    keep_known(now, known.last);
    program_amounts& amounts = amounts_of(now.stat.name, how);
    note_levels(amounts, now, how);
    const process_reading& before = known.last;
    amounts.user += passed(now.stat.user, before.stat.user);
    amounts.system += passed(now.stat.system, before.stat.system);
    amounts.cpu_ns += passed(own_ns(now), own_ns(before));
    amounts.wakeups += grown(now.wakeups, before.wakeups, known.is_whole);
    const auto octets = [&](std::uint64_t os::process_io::*which) {
        return grown(part_of(now.io, which), part_of(before.io, which), known.is_whole);
    };
    process_amounts unpaid{passed(now.stat.children, before.stat.children) * tick_ns_,
                           octets(&os::process_io::read_bytes),
                           octets(&os::process_io::write_bytes)};
    pay_debts(known.owed, unpaid);
    known.last = std::move(now);
    return {&amounts, unpaid};
}

void process_accounts::pay_debts(debt& owed, process_amounts& from) const {
    const std::uint64_t most_hidden = 2 * tick_ns_;
    pay(from.cpu_ns, owed.hidden_ns);
    pay(from, owed.older);
    pay(from, owed.newer);
    owed.hidden_ns = std::min(most_hidden, owed.hidden_ns + owed.older.cpu_ns);
    owed.older = std::exchange(owed.newer, {});
}

program_amounts& process_accounts::amounts_of(const std::string& name, closeness how) {
    const bool is_full = programs_.size() >= most_names && !programs_.contains(name);
    const auto [at, is_new] = programs_.try_emplace(is_full ? "(others)" : name);
    if (is_new) at->second.descriptors_known = at->second.memory_known = how == closeness::thorough;
    return at->second;
}

}  // namespace postal::testbed
