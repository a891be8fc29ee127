#include "ledger/page.hpp"

#include <utility>

namespace postal::ledger {

namespace {

constexpr std::size_t most_remembered = 65536;

}  // namespace

page::page(writer& to) : writer_(&to), block_(std::make_unique<block>()) {}

page::~page() {
    flush();
}

address_id page::address(std::string_view text) {
    const auto found = known_.find(text);
    if (found != known_.end()) return found->second;
    if (known_.size() >= most_remembered) known_.clear();
    const address_id number = writer_->address(text);
    known_.emplace(text, number);
    return number;
}

void page::flush_if_due(std::chrono::steady_clock::time_point now) {
    if (now - flushed_ < longest_kept) return;
    flushed_ = now;
    flush();
}

void page::flush() {
    if (block_->size() > 0) block_ = writer_->hand_over(std::move(block_));
}

}  // namespace postal::ledger
