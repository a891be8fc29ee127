// SPDX-License-Identifier: GPL-3.0-or-later
// What a behaviour remembers: token buckets and greylists, shared by all workers.
//
// Time is passed in, as nanoseconds since the start; where workers race and it comes in the wrong
// order, it stands still. Each has a lock of its own, which is taken only where a rule with such a
// gate matches. Memory is bounded: beyond `most_keys` the keys that were idle longest are
// forgotten, which lets their owners begin anew.
#pragma once

#include "behaviour/recent_keys.hpp"
#include "behaviour/rule.hpp"

#include <cstddef>
#include <mutex>
#include <string_view>

namespace postal::behaviour {

inline constexpr std::size_t most_keys = 100'000;

class token_buckets {
  public:
    explicit token_buckets(const token_bucket& how, std::size_t most = most_keys)
        : how_(how), buckets_(most) {}

    // Whether there was a token, which is taken then. A new key's bucket is full.
    [[nodiscard]] bool take(std::string_view key, nanoseconds now);

    // Keys that are remembered.
    [[nodiscard]] std::size_t size();

  private:
    struct bucket {
        double tokens = 0;
        nanoseconds seen{};
    };

    const token_bucket how_;
    std::mutex mutex_;  // guards what follows
    recent_keys<bucket> buckets_;
};

enum class grey_verdict : std::uint8_t {
    first,   // never seen, or forgotten: refused
    early,   // before `wait` was over: refused
    late,    // behind the retry window: begins anew, refused
    passes,  // came again in time, or did so before
};

class greylists {
  public:
    explicit greylists(const greylist& how, std::size_t most = most_keys)
        : how_(how), triplets_(most) {}

    [[nodiscard]] grey_verdict judge(std::string_view triplet, nanoseconds now);

    // Triplets that are remembered.
    [[nodiscard]] std::size_t size();

  private:
    struct memory {
        nanoseconds first{};
        nanoseconds seen{};
        bool passed = false;
    };

    const greylist how_;
    std::mutex mutex_;  // guards what follows
    recent_keys<memory> triplets_;
};

}  // namespace postal::behaviour
