// SPDX-License-Identifier: GPL-3.0-or-later
// Delays and ranges, as texts of a behaviour's file.
#include "behaviour/behaviour_file.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <optional>
#include <utility>

namespace postal::behaviour {
namespace {

constexpr nanoseconds longest_delay = std::chrono::hours{24};
constexpr double largest_sigma = 10;
constexpr std::string_view dots = "..";

// Both ends as they are written; either may be empty.
struct ends {
    std::string_view from;
    std::string_view to;
};

// Nothing where there are no dots.
std::optional<ends> split_range(std::string_view text) {
    const std::size_t at = text.find(dots);
    if (at == std::string_view::npos) return std::nullopt;
    return ends{text.substr(0, at), text.substr(at + dots.size())};
}

base::failure is_empty(std::string_view text) {
    return base::fail("\"{}\" holds nothing: it ends before it begins", base::printable(text, 60));
}

// `parse` reads one end; those that are not written stay as they are in a new Range.
template <class Range, class Parse>
base::expected<Range> parse_ends(std::string_view text, const ends& of, Parse parse) {
    Range all;
    if (of.from.empty() && of.to.empty())
        return base::fail("\"{}\" has neither beginning nor end", base::printable(text, 60));
    if (!of.from.empty()) {
        const auto least = parse(of.from);
        if (!least) return least.error();
        all.least = *least;
    }
    if (!of.to.empty()) {
        const auto most = parse(of.to);
        if (!most) return most.error();
        all.most = *most;
    }
    if (all.most < all.least) return is_empty(text);
    return all;
}

base::expected<std::uint64_t> parse_number(std::string_view text) {
    return base::parse_size(text);
}

base::expected<std::int64_t> parse_time(std::string_view text) {
    const auto time = base::parse_duration(text);
    if (!time) return time.error();
    return std::int64_t{time->count()};
}

base::expected<nanoseconds> parse_wait(std::string_view text) {
    const auto wait = base::parse_duration(text);
    if (!wait) return wait.error();
    if (*wait > longest_delay)
        return base::fail("'{}' is longer than a day", base::printable(text, 60));
    return *wait;
}

base::expected<delay> parse_lognormal(std::string_view text) {
    const auto words = base::fields(text);
    if (words.size() != 3)
        return base::fail(
            "\"{}\": want \"lognormal MEDIAN SIGMA\", such as \"lognormal 200ms 0.8\"",
            base::printable(text, 60));
    const auto median = parse_wait(words[1]);
    if (!median) return median.error();
    if (median->count() == 0)
        return base::fail("\"{}\": the median is more than 0", base::printable(text, 60));
    const auto sigma = base::parse_number(words[2]);
    if (!sigma || *sigma <= 0 || *sigma > largest_sigma)
        return base::fail("\"{}\": sigma, of the logarithm, is more than 0 and at most {}",
                          base::printable(text, 60), largest_sigma);
    return delay{.kind = distribution::lognormal, .from = *median, .sigma = *sigma};
}

}  // namespace

base::expected<delay> parse_delay(std::string_view text) {
    const auto words = base::fields(text);
    if (!words.empty() && words.front() == "lognormal") return parse_lognormal(text);
    const auto range = split_range(text);
    if (!range) {
        const auto wait = parse_wait(text);
        if (!wait) return wait.error();
        return delay{.from = *wait};
    }
    const auto from = parse_wait(range->from);
    if (!from) return from.error();
    const auto to = parse_wait(range->to);
    if (!to) return to.error();
    if (*to < *from) return is_empty(text);
    return delay{.kind = distribution::uniform, .from = *from, .to = *to};
}

base::expected<number_range> parse_number_range(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::string_view numbers = text.substr(0, slash);
    number_range all;
    if (const auto range = split_range(numbers)) {
        const auto both = parse_ends<number_range>(text, *range, parse_number);
        if (!both) return both.error();
        all = *both;
    } else {
        const auto one = parse_number(numbers);
        if (!one) return one.error();
        all.least = *one;
        if (slash == std::string_view::npos) all.most = *one;
    }
    if (slash == std::string_view::npos) return all;
    const auto step = base::parse_count(text.substr(slash + 1));
    if (!step) return step.error();
    if (*step == 0) return base::fail("\"{}\": the step is 1 or more", base::printable(text, 60));
    all.step = *step;
    return all;
}

base::expected<time_range> parse_time_range(std::string_view text) {
    const auto range = split_range(text);
    if (!range)
        return base::fail("\"{}\" is no stretch of time; write it as \"10s..40s\" or \"10s..\"",
                          base::printable(text, 60));
    return parse_ends<time_range>(text, *range, parse_time);
}

}  // namespace postal::behaviour
