// SPDX-License-Identifier: GPL-3.0-or-later
#include "sink.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace simulation {

using postal::ledger::condition;

std::optional<harm> harm_of(const scenario& of, std::uint64_t session, std::uint64_t sequence) {
    const auto found = std::find_if(of.harms.begin(), of.harms.end(), [&](const auto& one) {
        return one.session == session && one.sequence == sequence;
    });
    return found == of.harms.end() ? std::nullopt : std::optional(found->how);
}

void sink::begin(std::uint64_t session, std::uint64_t sequence) {
    session_ = session;
    sequence_ = sequence;
    octets_ = 0;
    harmed_ = false;
    harm_ = harm_of(of_, session, sequence);
    examination_->reset();
}

void sink::take(std::string_view content) {
    octets_ += content.size();
    examination_->feed(content);
}

const postal::ledger::seen_row& sink::finish(std::uint64_t time_us) {
    if (harm_ == harm::changed) examination_->feed("One line more\r\n");
    const postal::mail::check_result found = examination_->finish();
    row_ = {};
    row_.through = of_.lmtp ? postal::ledger::way::lmtp : postal::ledger::way::smtp;
    row_.time_us = time_us;
    examination_->describe(found, row_, with_.rebuilder());
    size_ = found.id == nullptr ? 0 : found.id->size;
    return row_;
}

std::string sink::complaint() const {
    if (row_.run != apparatus::run) return "a message came without its identity";
    if (row_.session != session_ || row_.sequence != sequence_) {
        return fmt::format("message {}.{} came in the place of {}.{}", row_.session, row_.sequence,
                           session_, sequence_);
    }
    const bool intact = row_.what == condition::verified;
    if (intact != (harm_ != harm::changed))
        return fmt::format("message {}.{} is {}", session_, sequence_,
                           intact ? "not found to be changed" : "changed");
    // DATA adds a line end where there was none.
    if (octets_ != size_ && octets_ != size_ + 2) {
        return fmt::format("message {}.{} has {} octets and not {}", session_, sequence_, octets_,
                           size_);
    }
    return {};
}

void sink::deliver(std::span<const std::string> to) {
    for (const std::string& mailbox : to) {
        const std::optional<harm> how = std::exchange(harmed_, true) ? std::nullopt : harm_;
        row_.mailbox = books_.address(how == harm::elsewhere ? somebody_else : mailbox);
        if (how != harm::lost) put(how);
        if (how == harm::twice) put(how);
    }
}

void sink::put(std::optional<harm> how) {
    store_ == nullptr ? books_.add(row_) : store_->deliver(row_, how == harm::vanishes);
}

}  // namespace simulation
