// SPDX-License-Identifier: GPL-3.0-or-later
#include "wishes.hpp"

#include <charconv>

#include <fmt/format.h>

namespace simulation {

namespace {

std::optional<std::uint64_t> number(std::string_view word) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error == std::errc{} && end == word.data() + word.size();
    return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<wishes> read_wishes(const std::vector<std::string_view>& words) {
    wishes made;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--transcript") {
            made.transcript = true;
        } else if (words[i] == "--keep-going") {
            made.keep_going = true;
        } else {
            const auto value = i + 1 < words.size() ? number(words[i + 1]) : std::nullopt;
            if (!value) return std::nullopt;
            if (words[i] == "--seeds")
                made.seeds = *value;
            else if (words[i] == "--from")
                made.from = *value;
            else if (words[i] == "--seed")
                made.seed = *value;
            else if (words[i] == "--seconds")
                made.seconds = *value;
            else
                return std::nullopt;
            ++i;
        }
    }
    if (made.seed) made.from = *made.seed;
    if (made.seed) made.seeds = 1;
    return made;
}

std::optional<std::uint64_t> progress::next() const {
    const bool over = wanted_.seconds != 0 && elapsed() > static_cast<double>(wanted_.seconds);
    const bool stops = failed_ > 0 && !wanted_.keep_going;
    if (over || stops || tried_ >= wanted_.seeds) return std::nullopt;
    return wanted_.from + tried_;
}

std::string progress::summary() const {
    return fmt::format("{} runs from seed {}, {} wrong, {:.0f} runs a second", tried_, wanted_.from,
                       failed_, static_cast<double>(tried_) / elapsed());
}

}  // namespace simulation
