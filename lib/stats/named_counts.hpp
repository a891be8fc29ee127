// SPDX-License-Identifier: GPL-3.0-or-later
// How often each of a few named things happened: a short list, scanned, with the place of the
// previous hit tried first.
//
// For names whose number somebody bounds: exit statuses, ciphers, mechanisms. Counting a name that
// was there before, also before a clear(), allocates nothing. Nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

struct named_count {
    std::string name;
    std::uint64_t count = 0;
};

class named_counts {
  public:
    void add(std::string_view name, std::uint64_t count = 1);
    void merge(const named_counts& other);
    // Back to zero, keeping the names' memory.
    void clear() noexcept;

    // The most frequent first, those of the same count by name; none of zero.
    [[nodiscard]] std::vector<named_count> sorted() const;
    [[nodiscard]] bool empty() const noexcept;

  private:
    std::vector<named_count> all_;
    std::size_t last_ = 0;  // where the previous one counted: most are alike
};

}  // namespace postal::stats
