// SPDX-License-Identifier: GPL-3.0-or-later
// How large the messages of a run are: a distribution of sizes in octets.
//
// A size is that of the whole message, headers and body with CRLF line ends, before dot-stuffing.
// Forms:
//   fixed:5K                      every message
//   uniform:1K,10K                every size between, both ends included
//   lognormal:MEDIAN,SIGMA[,MAX]  sigma of the logarithm; what exceeds MAX (64M) is drawn again
//   histogram:FILE                a line is "SIZE WEIGHT"; blank lines and lines with # are skipped
// Sizes are written as everywhere ("512", "5K", "10M").
//
// Parsing fails with one line: which part, why, and for a histogram file and line. Sampling never
// fails, allocates nothing, and depends only on the random source.
#pragma once

#include "base/random.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

class size_spec {
  public:
    // Every message 5 KiB.
    size_spec() = default;

    [[nodiscard]] static base::expected<size_spec> parse(std::string_view text);

    // For -M and -m; refused when minimum > maximum.
    [[nodiscard]] static base::expected<size_spec> uniform(std::uint64_t minimum,
                                                           std::uint64_t maximum);

    [[nodiscard]] std::uint64_t sample(base::random_source& random) const noexcept;

    // The largest that sample() can give, to compare with a server's SIZE.
    [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }

    // Of all that decides which sizes come: of a histogram what stands in the file, wherever that
    // lies, of other forms the text. The same on every host.
    [[nodiscard]] std::uint64_t hash() const noexcept;

    // As it was given, for the record.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    enum class form : std::uint8_t { fixed, uniform, lognormal, histogram };
    struct step {
        std::uint64_t size = 0;
        double cumulative = 0;  // share of this and all before
    };

    [[nodiscard]] static base::expected<size_spec> parse_lognormal(std::string_view arguments);
    [[nodiscard]] static base::expected<size_spec> parse_histogram(const std::string& path);
    [[nodiscard]] std::uint64_t sample_lognormal(base::random_source& random) const noexcept;
    [[nodiscard]] std::uint64_t sample_histogram(base::random_source& random) const noexcept;

    form form_ = form::fixed;
    std::uint64_t smallest_ = 5120;
    std::uint64_t largest_ = 5120;
    double mu_ = 0;
    double sigma_ = 0;
    std::vector<step> steps_;
    std::string text_ = "fixed:5K";
};

}  // namespace postal::mail
