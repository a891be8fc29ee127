// SPDX-License-Identifier: GPL-3.0-or-later
// Random numbers that are fast, repeatable from a seed, and the same on every machine.
//
// random_source is xoshiro256++ (Blackman and Vigna 2019), its state filled by splitmix64 from one
// seed; equal seeds give equal sequences for ever, so the standard library's distributions, whose
// results differ between implementations, are not used. mix() makes one seed from several numbers,
// such as (seed, session, sequence), so that each message has its own independent source.
//
// Nothing here fails except fresh_entropy(), which throws std::system_error when the kernel
// refuses. Limits: not for secrets; one random_source belongs to one thread.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace postal::base {

// The finalizer of splitmix64: every bit of the input changes about half of the output's.
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

// One seed from three numbers. The order matters.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b,
                                          std::uint64_t c) noexcept {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
    std::uint64_t result = scramble(a + golden);
    result = scramble((result ^ b) + golden);
    return scramble((result ^ c) + golden);
}

class random_source {
  public:
    explicit constexpr random_source(std::uint64_t seed) noexcept {
        for (auto& word : state_) {
            seed += 0x9e3779b97f4a7c15U;
            word = scramble(seed);
        }
    }

    // 64 random bits.
    constexpr std::uint64_t next() noexcept {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // Uniform in [0, bound), without bias (Lemire 2019); 0 when bound is 0.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        if (bound == 0) return 0;
        auto [high, low] = multiply(next(), bound);
        if (low < bound) {
            const std::uint64_t threshold = (0 - bound) % bound;
            while (low < threshold) {
                const auto again = multiply(next(), bound);
                high = again.high;
                low = again.low;
            }
        }
        return high;
    }

    // Uniform in [0, 1), 53 random bits.
    constexpr double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

    // Exponential with mean 1: the gaps of a Poisson process. Always finite.
    double exponential() noexcept { return -std::log1p(-uniform()); }

    // Standard normal (Marsaglia's polar method; the second value of a pair is not kept, so that
    // the state is only the 256 bits above).
    double normal() noexcept {
        while (true) {
            const double x = 2 * uniform() - 1;
            const double y = 2 * uniform() - 1;
            const double square = x * x + y * y;
            if (square < 1 && square > 0) return x * std::sqrt(-2 * std::log(square) / square);
        }
    }

  private:
    struct product {
        std::uint64_t high = 0;
        std::uint64_t low = 0;
    };

    // 64 x 64 -> 128 bits; the extension is GCC's and Clang's on every 64-bit machine.
    static constexpr product multiply(std::uint64_t a, std::uint64_t b) noexcept {
        __extension__ typedef unsigned __int128 wide;
        const wide result = static_cast<wide>(a) * b;
        return {static_cast<std::uint64_t>(result >> 64U), static_cast<std::uint64_t>(result)};
    }

    std::array<std::uint64_t, 4> state_{};
};

// 64 bits from the kernel (getrandom).
[[nodiscard]] std::uint64_t fresh_entropy();

}  // namespace postal::base
