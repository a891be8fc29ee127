// SPDX-License-Identifier: GPL-3.0-or-later
// Digests over a stream of octets: xxh3 (64 bits), md5, sha256.
//
// Flow: hasher h(kind); h.reset(kind); h.update(octets)...; digest_value d = h.finish(); and again.
// Contexts are kept between messages; after the first use of a kind nothing is allocated.
//
// xxh3 cannot fail. md5 and sha256 come from OpenSSL's EVP; where a policy (FIPS) forbids one,
// is_available() is false, and resetting to it throws std::runtime_error, which the start of a run
// does once. Limits: xxh3 detects accidents, not attackers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace postal::mail {

enum class digest_kind : std::uint8_t { xxh3, md5, sha256 };

[[nodiscard]] std::string_view name_of(digest_kind kind) noexcept;
[[nodiscard]] std::optional<digest_kind> digest_of(std::string_view name) noexcept;
[[nodiscard]] std::size_t octets_of(digest_kind kind) noexcept;
[[nodiscard]] bool is_available(digest_kind kind) noexcept;

// Has OpenSSL set itself up for digests, where a process has not used it before and has one thread.
// It crashes where memory fails it meanwhile: `no_memory` is called in its place, and must not
// return.
void load_digests(void (*no_memory)() noexcept) noexcept;

struct digest_value {
    digest_kind kind = digest_kind::xxh3;
    std::array<std::uint8_t, 32> octets{};  // as many as octets_of(kind), the rest zero
    bool operator==(const digest_value&) const = default;
};

// "xxh3:0123456789abcdef"
[[nodiscard]] std::string to_text(const digest_value& value);
[[nodiscard]] std::optional<digest_value> parse_digest(std::string_view text) noexcept;

class hasher {
  public:
    explicit hasher(digest_kind kind = digest_kind::xxh3);
    ~hasher();
    hasher(hasher&&) noexcept;
    hasher& operator=(hasher&&) noexcept;

    void reset(digest_kind kind);
    void update(std::string_view octets) noexcept;
    // Ends the stream; reset() before the next.
    [[nodiscard]] digest_value finish() noexcept;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace postal::mail
