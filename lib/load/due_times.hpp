// SPDX-License-Identifier: GPL-3.0-or-later
// When the messages that begin together were due, each at its own time: one message nearly always,
// over LMTP one for each recipient of a transaction. They are in order, so the last says when all
// were due. A single one costs no memory; add() throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <vector>

#include "load/watched.hpp"

namespace postal::load {

class due_times {
  public:
    due_times() = default;
    explicit due_times(steady_time first) noexcept : last_(first), size_(1) {}

    // Not before the last.
    void add(steady_time next) {
        if (size_ > 0) earlier_.push_back(last_);
        last_ = next;
        ++size_;
    }
    // Only so many of them, the first.
    void keep(std::size_t most) noexcept {
        if (most == 0 || most >= size_) return;
        last_ = earlier_[most - 1];
        earlier_.resize(most - 1);
        size_ = most;
    }
    void remove(std::size_t which) noexcept {
        if (which >= size_) return;
        --size_;
        if (earlier_.empty()) return;
        if (which < earlier_.size()) {
            earlier_.erase(earlier_.begin() + static_cast<std::ptrdiff_t>(which));
        } else {
            last_ = earlier_.back();
            earlier_.pop_back();
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] steady_time last() const noexcept { return last_; }
    steady_time operator[](std::size_t which) const noexcept {
        return which < earlier_.size() ? earlier_[which] : last_;
    }

  private:
    std::vector<steady_time> earlier_;
    steady_time last_{};
    std::size_t size_ = 0;
};

}  // namespace postal::load
