// SPDX-License-Identifier: GPL-3.0-or-later
// ledger/reconciler.hpp: rows may say anything; what was acknowledged ends in one way each, and the
// parts add up. The input draws runs' ends, visits, and messages with their rows.
#include "ledger/reconciler.hpp"

#include <numeric>

#include "support.hpp"

namespace {

using namespace postal::ledger;

observation drawn_observation(fuzz::drawn& from) {
    observation made;
    for (std::uint64_t more = from.below(4); more > 0; --more)
        made.open.unseen.push_back({from.number(), from.number()});
    for (std::uint64_t more = from.below(3); more > 0; --more)
        made.open.senders.emplace(from.below(3), from.number());
    for (std::uint64_t more = from.below(3); more > 0; --more)
        made.open.removing.push_back({from.number(), from.number()});
    for (std::int64_t mailbox = 0; mailbox < 4; ++mailbox) {
        for (std::uint64_t more = from.below(4); more > 0; --more)
            made.readers.add({mailbox, static_cast<std::int64_t>(from.below(3)),
                              static_cast<way>(from.below(4)),
                              static_cast<extent>(from.below(extent_count)), from.number(),
                              from.number(), std::string(from.text(8))});
    }
    made.readers.finish();
    if (from.below(2) != 0) made.sinks_until_us = from.number();
    made.untold = from.below(8) == 1;
    return made;
}

seen_entry drawn_copy(fuzz::drawn& from, std::int64_t number) {
    seen_entry made;
    made.number = number;
    made.observer = static_cast<std::int64_t>(from.below(3));
    made.mailbox = static_cast<std::int64_t>(from.below(4));
    made.server = static_cast<std::int64_t>(from.below(3));
    made.uid_validity = static_cast<std::int64_t>(from.below(2));
    made.uid = from.number();
    made.place = from.number();
    made.time_us = from.number();
    made.sent_us = from.number();
    made.what = static_cast<condition>(from.below(condition_count));
    made.through = static_cast<way>(from.below(4));
    return made;
}

message_entry drawn_message(fuzz::drawn& from, std::int64_t& number) {
    message_entry made;
    made.run = static_cast<std::int64_t>(from.below(3));
    made.session = static_cast<std::int64_t>(from.below(3));
    made.octets = from.number();
    for (std::uint64_t more = from.below(4); more > 0; --more)
        made.sent.push_back({++number, static_cast<std::int64_t>(from.below(4)),
                             static_cast<std::int64_t>(from.below(3)),
                             static_cast<outcome>(from.below(5)), from.number()});
    for (std::uint64_t more = from.below(6); more > 0; --more)
        made.seen.push_back(drawn_copy(from, ++number));
    for (std::uint64_t more = from.below(3); more > 0; --more)
        made.removed.push_back({static_cast<std::int64_t>(from.below(4)),
                                static_cast<std::int64_t>(from.below(3)),
                                static_cast<std::int64_t>(from.below(2)), from.number(),
                                static_cast<way>(from.below(4))});
    for (std::uint64_t more = from.below(3); more > 0; --more)
        made.returned.push_back({++number, static_cast<std::int64_t>(from.below(4)), from.number(),
                                 static_cast<action>(from.below(action_count)),
                                 short_text(from.text(20))});
    return made;
}

void check(const summary& of, const discrepancy_counts& told) {
    fuzz::require(of.acknowledged() == of.found + of.vanished + of.lost + of.not_looked_for +
                                           of.not_known + of.misplaced + of.bounced);
    std::uint64_t acknowledged = 0;
    for (const counted_size& one : of.sizes)
        acknowledged += one.acknowledged;
    fuzz::require(acknowledged == of.acknowledged());
    const auto count = [&](discrepancy what) { return told[static_cast<std::size_t>(what)]; };
    fuzz::require(count(discrepancy::lost) == of.lost && count(discrepancy::bounced) == of.bounced);
    fuzz::require(count(discrepancy::vanished) == of.vanished);
    fuzz::require(count(discrepancy::unacknowledged) == of.all_unacknowledged());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    fuzz::drawn from(fuzz::text_of(data, size));
    discrepancy_counts told{};
    std::uint64_t judged = 0;
    reconciler judge({[&](discrepancy what, std::int64_t, std::int64_t) {
                          ++told[static_cast<std::size_t>(what)];
                      },
                      [](std::int64_t) {}, [&](const judgement&) { ++judged; }},
                     drawn_observation(from));
    std::int64_t number = 0;
    std::uint64_t sent = 0;
    while (!from.empty()) {
        message_entry one = drawn_message(from, number);
        sent += one.sent.size();
        judge.add(one);
        if (from.below(8) == 1)
            judge.add_stranger(static_cast<condition>(from.below(condition_count)), ++number);
    }
    const summary& of = judge.result();
    fuzz::require(std::accumulate(of.sent.begin(), of.sent.end(), std::uint64_t{0}) == sent);
    fuzz::require(judged <= sent && judged >= of.acknowledged());
    check(of, told);
    return 0;
}
