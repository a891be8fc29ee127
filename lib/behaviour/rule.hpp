// SPDX-License-Identifier: GPL-3.0-or-later
// A rule: whom it is about, and what happens to them at which stage.
//
// Plain data, made from a file by parse_behaviour() (behaviour_file.hpp) and asked by the engine
// (engine.hpp). What is empty asks for nothing.
#pragma once

#include "behaviour/stage.hpp"

#include "base/random.hpp"
#include "net/ip_address.hpp"
#include "proto/smtp/stage_effect.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::behaviour {

using std::chrono::nanoseconds;

// From `least` to `most`, both within; of numbers above 0, every `step`th from `least` on.
template <class T>
struct range {
    T least{};
    T most = std::numeric_limits<T>::max();
    std::uint64_t step = 1;

    bool operator==(const range&) const = default;
};

using number_range = range<std::uint64_t>;
using time_range = range<std::int64_t>;  // nanoseconds

[[nodiscard]] constexpr bool contains(const number_range& all, std::uint64_t one) noexcept {
    return one >= all.least && one <= all.most && (one - all.least) % all.step == 0;
}
[[nodiscard]] constexpr bool contains(const time_range& all, nanoseconds one) noexcept {
    return one.count() >= all.least && one.count() <= all.most;
}

// All that are given must hold; of a list one is enough. Patterns match without regard to ASCII
// case, and * stands for any text.
struct conditions {
    std::vector<std::string> listener{};       // endpoints as --listen has them
    std::vector<net::address_range> client{};  // nobody over a Unix socket is in any
    std::optional<bool> tls{};                 // whether the connection has TLS
    std::vector<std::string> helo{};           // patterns
    std::vector<std::string> sender{};         // patterns; "<>" is the null reverse-path
    std::vector<std::string> recipient{};      // patterns
    std::vector<std::string> domain{};         // of the recipient: "example.com", "*.example.com"
    std::optional<bool> known{};               // whether the recipient is in the user list
    std::optional<number_range> size{};        // octets: at mail as declared, at end as they came
    std::optional<number_range> session{};     // in the order in which they came, from 1
    std::optional<number_range> message{};     // of the session, from 1
    std::optional<time_range> time{};          // since the start
    double probability = 1;

    bool operator==(const conditions&) const = default;
};

struct reply_text {
    std::uint16_t code = 0;
    std::string enhanced{};  // "4.7.1"; empty: none
    std::string text{};

    [[nodiscard]] proto::server_reply view() const noexcept { return {code, enhanced, text}; }
    bool operator==(const reply_text&) const = default;
};

enum class distribution : std::uint8_t { fixed, uniform, lognormal };

struct delay {
    distribution kind = distribution::fixed;
    nanoseconds from{};       // fixed: all of it; lognormal: the median
    nanoseconds to{};         // uniform only
    double sigma = 0;         // lognormal only: of the logarithm
    nanoseconds per_octet{};  // of the message; at end only

    [[nodiscard]] bool none() const noexcept {
        return from.count() == 0 && to.count() == 0 && per_octet.count() == 0;
    }
    bool operator==(const delay&) const = default;
};

// No more than a day, however unlikely the draw.
[[nodiscard]] nanoseconds draw(const delay& from, std::uint64_t octets,
                               base::random_source& random);
// Octets a second within the range, each order of magnitude as likely as another; 0 when it ends
// there.
[[nodiscard]] std::uint64_t draw_rate(const number_range& among, base::random_source& random);

// What is counted apart: each client, say, has a bucket of its own.
enum class key : std::uint8_t { all, listener, client, helo, sender, recipient, domain, session };

// What the action is kept for: only what is beyond it meets the action, the rest meets later rules.
// With a greylist beside it, only what is beyond it is greylisted.
struct token_bucket {
    double per_second = 0;   // refill; 0: none, `most` is a limit for ever
    std::uint64_t most = 1;  // tokens: how many may come at once
    key per = key::all;
    bool operator==(const token_bucket&) const = default;
};

// Of a triplet of client network (/24, /64), sender and recipient, as in the greylisting of RFC
// 6647: meets the action until it comes again `wait` after its first time and within `window`; then
// it passes for `lifetime` from its last time.
struct greylist {
    nanoseconds wait{};
    nanoseconds window{};
    nanoseconds lifetime{};
    bool operator==(const greylist&) const = default;
};

struct action {
    std::optional<reply_text> reply{};  // in place of the usual one
    delay before{};                     // the reply
    proto::cut close = proto::cut::no;  // behind the reply, or in its place
    number_range read_rate{0,
                           0};  // octets a second from here on, drawn for each session; 0: no limit
    std::uint64_t window = 0;   // octets of the socket's receive buffer; 0: as it is
    std::optional<token_bucket> beyond{};
    std::optional<greylist> grey{};
    std::uint32_t line = 0;

    bool operator==(const action&) const = default;
};

struct rule {
    std::string name{};
    std::uint32_t line = 0;
    conditions when{};
    std::array<std::optional<action>, stage_count> at{};
};

// In the order of the file.
struct behaviour {
    std::string file{};
    std::vector<rule> rules{};

    [[nodiscard]] bool empty() const noexcept { return rules.empty(); }
};

}  // namespace postal::behaviour
