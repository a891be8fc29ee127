// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/command_counts.hpp"

#include <algorithm>

namespace postal::stats {

void command_count::add(command_end how) noexcept {
    constexpr std::array members{&command_count::ok, &command_count::no, &command_count::bad,
                                 &command_count::unanswered};
    ++sent;
    ++(this->*members[static_cast<std::size_t>(how)]);
}

void command_count::merge(const command_count& other) noexcept {
    sent += other.sent;
    ok += other.ok;
    no += other.no;
    bad += other.bad;
    unanswered += other.unanswered;
}

void command_counts::add(std::size_t kind, command_end how) noexcept {
    if (kind < most_kinds) kinds[kind].add(how);
}

void command_counts::merge(const command_counts& other) noexcept {
    for (std::size_t i = 0; i < most_kinds; ++i)
        kinds[i].merge(other.kinds[i]);
}

command_count command_counts::total() const noexcept {
    command_count sum;
    for (const command_count& one : kinds)
        sum.merge(one);
    return sum;
}

std::size_t size_class_of(std::uint64_t messages) noexcept {
    std::size_t index = 0;
    for (; messages > 0 && index + 1 < size_classes; messages /= 10)
        ++index;
    return index;
}

std::uint64_t least_of_size_class(std::size_t index) noexcept {
    std::uint64_t least = index == 0 ? 0 : 1;
    for (std::size_t i = 1; i < index; ++i)
        least *= 10;
    return least;
}

void action_count::add(action_end how, std::chrono::nanoseconds took, std::uint64_t messages) {
    constexpr std::array members{&action_count::ok, &action_count::refused, &action_count::failed,
                                 &action_count::nothing};
    ++begun;
    ++(this->*members[static_cast<std::size_t>(how)]);
    if (how != action_end::ok) return;
    if (!time) time.emplace();
    time->record(took);
    std::optional<histogram>& sized = by_size[size_class_of(messages)];
    if (!sized) sized.emplace();
    sized->record(took);
}

void action_count::merge(const action_count& other) {
    begun += other.begun;
    ok += other.ok;
    refused += other.refused;
    failed += other.failed;
    nothing += other.nothing;
    const auto add = [](std::optional<histogram>& to, const std::optional<histogram>& from) {
        if (!from || from->empty()) return;
        if (!to) to.emplace();
        to->merge(*from);
    };
    add(time, other.time);
    for (std::size_t i = 0; i < by_size.size(); ++i)
        add(by_size[i], other.by_size[i]);
}

void action_count::clear() noexcept {
    begun = ok = refused = failed = nothing = 0;
    if (time) time->clear();
    for (std::optional<histogram>& one : by_size)
        if (one) one->clear();
}

void action_counts::add(std::size_t verb, action_end how, std::chrono::nanoseconds took,
                        std::uint64_t messages) {
    if (verb >= most_verbs) return;
    if (verbs.size() <= verb) verbs.resize(verb + 1);
    verbs[verb].add(how, took, messages);
}

void action_counts::merge(const action_counts& other) {
    if (verbs.size() < other.verbs.size()) verbs.resize(other.verbs.size());
    for (std::size_t i = 0; i < other.verbs.size(); ++i)
        verbs[i].merge(other.verbs[i]);
}

void action_counts::clear() noexcept {
    for (action_count& one : verbs)
        one.clear();
}

}  // namespace postal::stats
