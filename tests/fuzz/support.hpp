// SPDX-License-Identifier: GPL-3.0-or-later
// What harnesses share: what must hold, numbers drawn from an input, and the input as a file.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace fuzz {

inline void require(bool holds) {
    if (!holds) std::abort();
}

// A reason that is shown on a terminal as it is.
inline void require_harmless(std::string_view reason) {
    require(!reason.empty());
    require(postal::base::printable(reason, std::numeric_limits<std::size_t>::max()) == reason);
}

// Cuts an input into pieces as a peer's octets may come: at every octet for one input of eight,
// else at a few places. Where, the input itself says, so that each one is always cut alike, while
// those that differ little are cut everywhere.
class pieces {
  public:
    explicit pieces(std::string_view all) : left_(all), state_(hash(all)) {
        single_ = state_ % 8 == 0;
        longest_ = std::max<std::size_t>(1, all.size() / 2);
    }

    [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
    std::string_view next() noexcept {
        state_ = postal::base::scramble(state_);
        const std::string_view some = left_.substr(0, single_ ? 1 : 1 + state_ % longest_);
        left_.remove_prefix(some.size());
        return some;
    }

  private:
    static std::uint64_t hash(std::string_view text) noexcept {
        std::uint64_t value = text.size();
        for (; text.size() >= 8; text.remove_prefix(8)) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data(), 8);
            value = postal::base::scramble(value ^ word);
        }
        for (const char c : text)
            value = postal::base::scramble(value ^ static_cast<unsigned char>(c));
        return value;
    }

    std::string_view left_;
    std::uint64_t state_;
    std::size_t longest_ = 1;
    bool single_ = false;
};

// The same for one piece.
class whole {
  public:
    explicit whole(std::string_view all) : left_(all) {}
    [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
    std::string_view next() noexcept { return std::exchange(left_, {}); }

  private:
    std::string_view left_;
};

// Takes numbers from the front of an input; behind its end they are 0.
class drawn {
  public:
    explicit drawn(std::string_view from) : left_(from) {}

    [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
    std::uint64_t octet() {
        if (left_.empty()) return 0;
        const auto value = static_cast<unsigned char>(left_.front());
        left_.remove_prefix(1);
        return value;
    }
    std::uint64_t below(std::uint64_t bound) { return octet() % bound; }
    // Small ones mostly, and now and then one of any 64 bits.
    std::int64_t number() {
        const std::uint64_t first = octet();
        if (first < 0xf0) return static_cast<std::int64_t>(first);
        std::uint64_t value = 0;
        for (std::uint64_t more = first & 0xfU; more > 0; --more)
            value = value << 8U | octet();
        return static_cast<std::int64_t>(value);
    }
    std::string_view text(std::size_t most) {
        const std::size_t size = octet() % (most + 1);
        const std::string_view taken = left_.substr(0, size);
        left_.remove_prefix(taken.size());
        return taken;
    }

  private:
    std::string_view left_;
};

// For what reads from a path: one file in memory, whose content changes.
class memory_file {
  public:
    memory_file() : file_(::memfd_create("fuzz", MFD_CLOEXEC)) { require(file_.is_open()); }
    void hold(std::string_view content) {
        require(::ftruncate(file_.get(), 0) == 0 && ::lseek(file_.get(), 0, SEEK_SET) == 0);
        require(postal::base::write_all(file_.get(), content) == 0);
    }
    [[nodiscard]] std::string path() const {
        return "/proc/self/fd/" + std::to_string(file_.get());
    }

  private:
    postal::base::file_descriptor file_;
};

inline std::string_view text_of(const unsigned char* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace fuzz
