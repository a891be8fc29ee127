// SPDX-License-Identifier: GPL-3.0-or-later
// Which seeds a program of simulated runs tries, as its command line says, and how far it has come.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

struct wishes {
    std::uint64_t from = 1;
    std::uint64_t seeds = 20000;
    std::optional<std::uint64_t> seed;  // this one alone
    std::uint64_t seconds = 0;          // 0: as long as it takes
    bool transcript = false;
    bool keep_going = false;
};

// Nothing where a word is not understood.
[[nodiscard]] std::optional<wishes> read_wishes(const std::vector<std::string_view>& words);

class progress {
  public:
    explicit progress(const wishes& wanted) : wanted_(wanted) {}

    // Nothing when there is to be no more.
    [[nodiscard]] std::optional<std::uint64_t> next() const;
    void tried(bool fine) noexcept {
        ++tried_;
        failed_ += fine ? 0 : 1;
    }
    [[nodiscard]] bool fine() const noexcept { return failed_ == 0 && tried_ > 0; }
    // "20000 runs from seed 1, 0 wrong, 3700 runs a second"
    [[nodiscard]] std::string summary() const;

  private:
    [[nodiscard]] double elapsed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    }

    const wishes wanted_;
    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::uint64_t tried_ = 0;
    std::uint64_t failed_ = 0;
};

}  // namespace simulation
