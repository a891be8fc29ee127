// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/row_buffer.hpp"

#include <utility>

namespace postal::ledger {

namespace {

constexpr std::size_t most_remembered = 65536;

}  // namespace

row_buffer::row_buffer(writer& to) : writer_(&to), block_(std::make_unique<block>()) {
    writer_->know(*this);
}

row_buffer::~row_buffer() {
    writer_->forget(*this, std::move(block_));
}

address_id row_buffer::address(std::string_view text) {
    const auto found = known_.find(text);
    if (found != known_.end()) return found->second;
    if (known_.size() >= most_remembered) known_.clear();
    const address_id number = writer_->address(text);
    known_.emplace(text, number);
    return number;
}

void row_buffer::flush_if_due(std::chrono::steady_clock::time_point now) {
    if (now - flushed_ < longest_kept) return;
    flushed_ = now;
    flush();
}

void row_buffer::flush() {
    block_ = writer_->hand_over(std::move(block_), *this);
}

}  // namespace postal::ledger
