#include "postal/message_maker.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace postal {

namespace {

constexpr std::uint64_t who_receives = 0x7265637069656e74;  // keeps its numbers apart from others'

// Different users, chosen at random; the plan has at least as many.
void choose_recipients(const plan& plan, base::random_source& random,
                       std::vector<std::uint32_t>& into) {
    const recipient_range range = plan.chosen.recipients;
    const std::uint64_t users = plan.recipients.size();
    const std::uint64_t wanted = range.least + random.below(range.most - range.least + 1);
    into.clear();
    while (into.size() < wanted) {
        const auto one = static_cast<std::uint32_t>(random.below(users));
        if (std::find(into.begin(), into.end(), one) == into.end()) into.push_back(one);
    }
}

}  // namespace

void message_maker::make(transaction& tx, std::optional<std::uint32_t> sender,
                         std::chrono::system_clock::time_point now) {
    base::random_source random(base::mix(plan_.load.seed ^ who_receives, tx.session, tx.sequence));
    choose_recipients(plan_, random, tx.recipients);
    addresses_.clear();
    for (const std::uint32_t one : tx.recipients) {
        addresses_.push_back(plan_.recipients[one].address);
    }
    const auto drawn = static_cast<std::uint32_t>(random.below(plan_.senders.size()));
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

}  // namespace postal
