// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/message_maker.hpp"

#include <algorithm>

namespace postal::sender {

namespace {

constexpr std::uint64_t who_receives = 0x7265637069656e74;  // keeps its numbers apart from others'

std::uint64_t draw_number(recipient_range range, base::random_source& random) {
    return range.least + random.below(range.most - range.least + 1);
}

// Different users, chosen at random; the plan has at least as many. Where some come so seldom that
// only others are drawn, all are alike.
void choose_recipients(const plan& plan, base::random_source& random, std::uint64_t most,
                       std::vector<std::uint32_t>& into) {
    constexpr int most_misses = 64;
    const std::uint64_t wanted = std::min(draw_number(plan.chosen.recipients, random), most);
    into.clear();
    for (int misses = 0; into.size() < wanted;) {
        const std::uint32_t one =
            misses < most_misses ? plan.draw_recipient.draw(random)
                                 : static_cast<std::uint32_t>(random.below(plan.recipients.size()));
        if (std::find(into.begin(), into.end(), one) == into.end())
            into.push_back(one);
        else
            ++misses;
    }
}

}  // namespace

base::random_source message_maker::numbers_of(std::uint64_t session,
                                              std::uint64_t sequence) const noexcept {
    return base::random_source(base::mix(plan_.load.seed ^ who_receives, session, sequence));
}

std::uint64_t message_maker::recipients_of(std::uint64_t session, std::uint64_t sequence) const {
    base::random_source random = numbers_of(session, sequence);
    return draw_number(plan_.chosen.recipients, random);
}

void message_maker::make(transaction& tx, std::optional<std::uint32_t> sender,
                         std::uint64_t most_recipients, std::chrono::system_clock::time_point now) {
    base::random_source random = numbers_of(tx.session, tx.sequence);
    choose_recipients(plan_, random, most_recipients, tx.recipients);
    addresses_.clear();
    for (const std::uint32_t one : tx.recipients) {
        addresses_.push_back(plan_.recipients[one].address);
    }
    const std::uint32_t drawn = plan_.draw_sender.draw(random);
    tx.sender_index = sender.value_or(drawn);
    tx.sender = plan_.senders[tx.sender_index].address;
    tx.message = lend();
    source_->make({.session = tx.session,
                   .sequence = tx.sequence,
                   .from = tx.sender,
                   .recipients = addresses_,
                   .now = now},
                  *tx.message);
}

mail::message* message_maker::lend() {
    if (spare_.empty()) {
        messages_.push_back(std::make_unique<mail::message>());
        return messages_.back().get();
    }
    mail::message* one = spare_.back();
    spare_.pop_back();
    return one;
}

}  // namespace postal::sender
