// SPDX-License-Identifier: GPL-3.0-or-later
// What a connection is to write.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <sys/uio.h>

namespace postal::net {

// What is to be written, in order, without copying. write_now() takes away what was written.
class gather {
  public:
    void add(std::string_view part) {
        if (!part.empty()) {
            parts_.push_back({const_cast<char*>(part.data()), part.size()});
            size_ += part.size();
        }
    }
    void clear() noexcept {
        parts_.clear();
        first_ = 0;
        size_ = 0;
    }
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }
    std::span<iovec> left() noexcept { return std::span(parts_).subspan(first_); }
    void take_away(std::size_t octets) noexcept;

  private:
    std::vector<iovec> parts_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace postal::net
