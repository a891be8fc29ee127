// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/reconciler.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "base/saturated.hpp"
#include "ledger/copies.hpp"

namespace postal::ledger {

namespace {

constexpr std::size_t most_streams = 4'000'000;

auto order_of(const seen_entry& one) {
    return std::make_tuple(one.mailbox, group_of(one), one.uid != 0, copy_of(one), one.number);
}

// Calls `each` with every run of neighbours that are alike.
template <class Alike, class Each>
void for_runs(std::span<const seen_entry> all, Alike alike, Each each) {
    for (std::size_t from = 0; from < all.size();) {
        std::size_t to = from + 1;
        while (to < all.size() && alike(all[from], all[to]))
            ++to;
        each(all.subspan(from, to - from));
        from = to;
    }
}

template <class Each>
void for_groups(std::span<const seen_entry> mailbox, Each each) {
    for_runs(
        mailbox,
        [](const seen_entry& a, const seen_entry& b) { return group_of(a) == group_of(b); }, each);
}

template <class Each>
void for_copies(std::span<const seen_entry> group, Each each) {
    for_runs(group, same_copy, each);
}

const seen_entry& earliest(std::span<const seen_entry> all) {
    return *std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::tie(a.time_us, a.number) < std::tie(b.time_us, b.number);
    });
}

// The sighting that says what is wrong with a copy; null when nothing is.
const seen_entry* damage_of(std::span<const seen_entry> copy) {
    const auto found = std::find_if(copy.begin(), copy.end(),
                                    [](const seen_entry& one) { return is_corrupt(one.what); });
    return found == copy.end() ? nullptr : &*found;
}

}  // namespace

std::uint64_t summary::all_unacknowledged() const noexcept {
    return std::accumulate(unacknowledged.begin(), unacknowledged.end(), std::uint64_t{0});
}

std::uint64_t summary::all_corrupt() const noexcept {
    return std::accumulate(corrupt.begin(), corrupt.end(), std::uint64_t{0});
}

std::size_t reconciler::stream_hash::operator()(const stream& of) const noexcept {
    const auto& [sender, recipient, observer, validity, through] = of;
    return base::mix(
        static_cast<std::uint64_t>(sender), static_cast<std::uint64_t>(recipient),
        base::mix(static_cast<std::uint64_t>(observer), static_cast<std::uint64_t>(validity),
                  static_cast<std::uint64_t>(through)));
}

void reconciler::add(message_entry& one) {
    std::sort(one.seen.begin(), one.seen.end(),
              [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
    std::sort(one.sent.begin(), one.sent.end(), [](const auto& a, const auto& b) {
        return std::tie(a.recipient, a.number) < std::tie(b.recipient, b.number);
    });
    if (one.population) merge_sent(one.sent);
    std::sort(one.removed.begin(), one.removed.end());
    at_hand_ = &one;
    if (session_ != std::pair(one.run, one.session)) {
        session_ = {one.run, one.session};
        first_seen_.clear();
    }
    summary_.sightings += one.seen.size();
    missing_.clear();
    strays_.clear();
    const bool acknowledged = std::any_of(one.sent.begin(), one.sent.end(), [](const auto& row) {
        return row.what == outcome::accepted;
    });
    auto sent = one.sent.begin();
    const auto same_mailbox = [](const auto& a, const auto& b) { return a.mailbox == b.mailbox; };
    for_runs(one.seen, same_mailbox, [&](span here) {
        const std::int64_t mailbox = here.front().mailbox;
        for (; sent != one.sent.end() && sent->recipient < mailbox; ++sent)
            add_sent(*sent, {});
        if (sent != one.sent.end() && sent->recipient == mailbox) {
            count_damage(here, sent->number, sent->what);
            for (; sent != one.sent.end() && sent->recipient == mailbox; ++sent)
                add_sent(*sent, here);
            return;
        }
        count_damage(here, 0, acknowledged ? outcome::accepted : outcome::in_doubt);
        count_stray(one, here);
    });
    for (; sent != one.sent.end(); ++sent)
        add_sent(*sent, {});
    end_missing();
}

// Of each recipient one row stays: the last that was accepted, else the last that is in doubt, else
// the last.
void reconciler::merge_sent(std::vector<sent_entry>& sent) {
    const auto rank = [](const sent_entry& row) {
        const int good = row.what == outcome::accepted ? 2 : row.what == outcome::in_doubt ? 1 : 0;
        return std::tuple(good, row.time_us, row.number);
    };
    std::size_t kept = 0;
    for (std::size_t from = 0; from < sent.size();) {
        std::size_t best = from;
        std::size_t to = from + 1;
        for (; to < sent.size() && sent[to].recipient == sent[from].recipient; ++to)
            if (rank(sent[best]) < rank(sent[to])) best = to;
        sent[kept++] = sent[best];
        from = to;
    }
    sent.resize(kept);
}

// One that was there when its mailbox was read whole last, where such messages come again.
bool reconciler::counts_as_copy(span copy) const {
    if (!at_hand_->population) return true;
    const std::int64_t until = how_.readers.read_until(copy.front().mailbox);
    return std::any_of(copy.begin(), copy.end(),
                       [until](const seen_entry& one) { return one.time_us >= until; });
}

// In a mailbox to which the message was not sent, as far as that is written.
void reconciler::count_stray(const message_entry& one, span here) {
    const seen_entry& first = earliest(here);
    const auto sender = how_.open.senders.find(one.run);
    const bool unwritten =
        sender != how_.open.senders.end() && (one.sent.empty() || first.time_us >= sender->second);
    if (!unwritten && !one.sent.empty()) return strays_.push_back(&first);
    const std::size_t copies = find_most(here, [](span group) {
        std::size_t count = 0;
        for_copies(group, [&](span) { ++count; });
        return count;
    });
    (unwritten ? summary_.unwritten : summary_.unknown) += copies;
}

void reconciler::add_stranger(condition what, std::int64_t seen) {
    summary_.foreign += what == condition::foreign ? 1 : 0;
    summary_.original += what == condition::original || what == condition::original_corrupt ? 1 : 0;
    if (!is_corrupt(what)) return;
    at_hand_ = nullptr;
    if (what != condition::original_corrupt) ++summary_.sightings;
    ++summary_.corrupt[static_cast<std::size_t>(what)];
    report(discrepancy::corrupt, 0, seen);
}

void reconciler::add_sent(const sent_entry& sent, span here) {
    ++summary_.sent[static_cast<std::size_t>(sent.what)];
    if (sent.what == outcome::accepted)
        ++summary_.sizes[size_class_of(at_hand_->octets)].acknowledged;
    if (who_.on_sent) who_.on_sent(sent.number, here.empty() ? 0 : earliest(here).number);
    if (!here.empty()) return add_found(sent, here);
    if (sent.what == outcome::accepted) add_missing(sent);
}

void reconciler::add_found(const sent_entry& sent, span here) {
    const std::size_t copies = count_copies(sent, here);
    finding what = finding::found;
    if (sent.what == outcome::accepted) {
        what = judge_presence(sent, here, copies);
        check_order(sent, here);
    } else {
        ++summary_.unacknowledged[static_cast<std::size_t>(sent.what)];
        report(discrepancy::unacknowledged, sent.number, earliest(here).number);
    }
    count_delivery(here);
    judged({.sent = &sent, .what = what, .first = &earliest(here), .copies = copies, .here = here});
}

// Puts into most_ what shows the most of what is counted: for each server the uid validity, and of
// all protocols one. Gives the sum.
template <class Count>
std::size_t reconciler::find_most(span here, Count count) {
    std::size_t most = 0;
    most_.clear();
    const auto same_way = [](const auto& a, const auto& b) { return a.through == b.through; };
    const auto same_server = [](const auto& a, const auto& b) { return a.server == b.server; };
    for_runs(here, same_way, [&](span way) {
        std::size_t sum = 0;
        of_this_way_.clear();
        for_runs(way, same_server, [&](span server) {
            std::pair<std::size_t, span> best;
            for_groups(server, [&](span group) {
                const std::size_t counted = count(group);
                if (counted > best.first) best = {counted, group};
            });
            sum += best.first;
            of_this_way_.push_back(best.second);
        });
        if (sum <= most) return;
        most = sum;
        most_.swap(of_this_way_);
    });
    return most;
}

// Gives how many there are.
std::size_t reconciler::count_copies(const sent_entry& sent, span here) {
    const std::size_t copies = find_most(here, [this](span group) {
        std::size_t count = 0;
        for_copies(group, [&](span copy) { count += counts_as_copy(copy) ? 1 : 0; });
        return count;
    });
    if (copies < 2) return std::max<std::size_t>(copies, 1);
    ++summary_.duplicated;
    summary_.extra_copies += copies - 1;
    bool first = true;
    if (most_.size() > 1) count_same(most_[0], most_[1]);
    for (const span group : most_) {
        for_copies(group, [&](span copy) {
            if (!counts_as_copy(copy)) return;
            if (!first) report(discrepancy::duplicated, sent.number, copy.front().number);
            first = false;
        });
    }
    return copies;
}

// Of two servers: the same ids mean that these are perhaps one, under two names.
void reconciler::count_same(span a, span b) {
    const auto same = [&](const seen_entry& one) {
        return one.uid != 0 && std::any_of(b.begin(), b.end(), [&](const seen_entry& other) {
                   return one.uid == other.uid && one.uid_validity == other.uid_validity;
               });
    };
    summary_.same_on_two_servers += std::all_of(a.begin(), a.end(), same) ? 1 : 0;
}

void reconciler::count_damage(span here, std::int64_t sent, outcome what) {
    for_groups(here, [&](span group) {
        for_copies(group, [&](span copy) {
            const bool nobody_looked = std::all_of(copy.begin(), copy.end(), [](const auto& one) {
                return one.what == condition::unchecked;
            });
            summary_.unchecked += nobody_looked ? 1 : 0;
        });
    });
    find_most(here, [](span group) {
        std::size_t damaged = 0;
        for_copies(group, [&](span copy) { damaged += damage_of(copy) != nullptr ? 1 : 0; });
        return damaged;
    });
    for (const span group : most_) {
        for_copies(group, [&](span copy) {
            const seen_entry* damage = damage_of(copy);
            if (damage == nullptr) return;
            ++summary_.corrupt[static_cast<std::size_t>(damage->what)];
            summary_.corrupt_acknowledged += what == outcome::accepted ? 1 : 0;
            report(discrepancy::corrupt, sent, damage->number);
        });
    }
}

void reconciler::count_delivery(span here) {
    if (at_hand_->population) return;
    const seen_entry& first = earliest(here);
    const std::int64_t took = base::saturated_difference(first.time_us, first.sent_us);
    summary_.seen_before_sent += took < 0 ? 1 : 0;
    if (who_.on_delivery) who_.on_delivery(took);
}

// Messages come latest first, so that what is known of a stream is when the later ones were seen.
void reconciler::check_order(const sent_entry& sent, span here) {
    if (at_hand_->population) return;
    bool late = false;
    bool unknown = false;
    std::int64_t seen = 0;
    for_groups(here, [&](span group) {
        const seen_entry& first = earliest(group);
        if (first.through == way::pop3 &&
            how_.readers.read_in_parts(first.mailbox, first.observer)) {
            unknown = true;
            return;
        }
        const position now{first.place, first.time_us, first.number};
        const stream which{sent.sender, sent.recipient, first.observer, first.uid_validity,
                           first.through};
        const auto known = first_seen_.find(which);
        if (known == first_seen_.end()) {
            summary_.order_is_whole = summary_.order_is_whole && first_seen_.size() < most_streams;
            if (first_seen_.size() < most_streams) first_seen_.emplace(which, now);
        } else if (known->second < now) {
            late = true;
            seen = first.number;
        } else {
            known->second = now;
        }
    });
    summary_.order_unknown += unknown ? 1 : 0;
    if (!late) return;
    ++summary_.out_of_order;
    report(discrepancy::out_of_order, sent.number, seen);
}

void reconciler::report(discrepancy what, std::int64_t sent, std::int64_t seen) {
    const std::int64_t octets = at_hand_ == nullptr ? size_not_recorded : at_hand_->octets;
    ++summary_.sizes[size_class_of(octets)].found[static_cast<std::size_t>(what)];
    if (who_.on_discrepancy) who_.on_discrepancy(what, sent, seen);
}

void reconciler::judged(const judgement& one) {
    if (who_.on_judged) who_.on_judged(one);
    judge_told(one);
}

// Of what nobody has looked for it is not known whether there was anything to tell of.
void reconciler::judge_told(const judgement& one) {
    const bool looked_for = one.what == finding::found || one.what == finding::vanished ||
                            one.what == finding::lost || one.what == finding::misplaced;
    if (one.sent->what != outcome::accepted || !looked_for) return;
    told_.add({.accepted_us = one.sent->time_us,
               .mailbox = one.sent->recipient,
               .here = one.here,
               .removed = at_hand_->removed});
    if (told_.counts() && who_.on_told)
        who_.on_told({one.sent->recipient, told_.after_us(), told_.parts()});
    for (const std::int64_t wait : told_.missed()) {
        ++summary_.missed;
        report(discrepancy::missed, one.sent->number, wait);
    }
}

}  // namespace postal::ledger
