// SPDX-License-Identifier: GPL-3.0-or-later
// Of which of its accepted messages a client may not have heard: those that were answered when it
// may have gone already, and those whose reply never left.
//
// Flow: accepted() where an answer is written; sending() before the output goes out, where
// has_news(); unheard() at the session's end. `left` is always the octets that have left the
// connection so far. A reply that the kernel has taken may still not be heard; nobody can know.
// Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace postal::serve {

class heard_answers {
  public:
    // What stands in the output now accepts so many messages (LMTP: recipients).
    void accepted(std::uint32_t units) noexcept { in_output_ += units; }
    void said(std::size_t octets) noexcept { said_ += octets; }
    bool has_news() const noexcept { return in_output_ != 0; }

    // All that was said is on its way from here on.
    void sending(bool may_have_gone, std::uint64_t left) noexcept {
        const std::uint32_t units = std::exchange(in_output_, 0);
        if (may_have_gone) {
            in_doubt_ += units;
            return;
        }
        if (left >= said_until_) not_left_ = 0;
        not_left_ += units;
        said_until_ = said_;
    }

    // Everything that was said, and to somebody who was there.
    bool all(std::uint64_t left) const noexcept { return left >= said_ && in_doubt_ == 0; }

    // The session is over; a client that has said QUIT waited for what it was told.
    std::uint64_t unheard(std::uint64_t left, bool quit) const noexcept {
        std::uint64_t units = in_output_;  // memory ran out before it was sent
        if (left < said_until_) units += not_left_;
        return quit ? units : units + in_doubt_;
    }

  private:
    std::uint64_t said_ = 0;        // octets of output so far
    std::uint64_t said_until_ = 0;  // the end of what not_left_ stands in
    std::uint32_t in_output_ = 0;
    std::uint32_t not_left_ = 0;  // within what may not have left
    std::uint32_t in_doubt_ = 0;  // answered when the client may have gone
};

}  // namespace postal::serve
