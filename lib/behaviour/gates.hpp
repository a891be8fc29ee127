// What a behaviour remembers: token buckets and greylists, shared by all workers.
//
// Time is passed in, as nanoseconds since the start. Each has a lock of its own, which is taken only
// where a rule with such a gate matches. Memory is bounded: beyond `most_keys` the keys that were
// idle longest are forgotten, which lets their owners begin anew.
#pragma once

#include "behaviour/rule.hpp"

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace postal::behaviour {

inline constexpr std::size_t most_keys = 100'000;

class token_buckets {
  public:
    explicit token_buckets(const token_bucket& how, std::size_t most = most_keys)
        : how_(how), most_(most) {}

    // Whether there was a token, which is taken then.
    [[nodiscard]] bool take(std::string_view key, nanoseconds now);

  private:
    struct bucket {
        std::string key;
        double tokens;
        nanoseconds seen;
    };

    const token_bucket how_;
    const std::size_t most_;
    std::mutex mutex_;          // guards what follows
    std::list<bucket> by_age_;  // the longest idle first
    std::unordered_map<std::string_view, std::list<bucket>::iterator> known_;
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
        : how_(how), most_(most) {}

    [[nodiscard]] grey_verdict judge(std::string_view triplet, nanoseconds now);

  private:
    struct triplet {
        std::string key;
        nanoseconds first;
        nanoseconds seen;
        bool passed;
    };

    const greylist how_;
    const std::size_t most_;
    std::mutex mutex_;           // guards what follows
    std::list<triplet> by_age_;  // the longest idle first
    std::unordered_map<std::string_view, std::list<triplet>::iterator> known_;
};

}  // namespace postal::behaviour
