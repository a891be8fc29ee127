// SPDX-License-Identifier: GPL-3.0-or-later
// See body_kind.hpp.
#include "mail/body_kind.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

namespace postal::mail {
namespace {

constexpr std::array<std::string_view, 7> kind_names{
    "ascii", "8bit", "dots", "long-lines", "crlf-edge", "multipart", "corpus"};
constexpr std::string_view wanted_kind =
    "want ascii, 8bit, dots, long-lines, crlf-edge, multipart or a mix such as ascii=90,8bit=10";

}  // namespace

std::string_view name_of(body_kind kind) noexcept {
    return kind_names[static_cast<std::size_t>(kind)];
}

std::optional<body_kind> kind_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < kind_names.size(); ++i) {
        if (kind_names[i] == name) return static_cast<body_kind>(i);
    }
    return std::nullopt;
}

body_mix::body_mix(body_kind only) noexcept {
    weights_[static_cast<std::size_t>(only) % generated_kinds] = 1;
    settle();
}

base::expected<body_mix> body_mix::parse(std::string_view text) {
    body_mix mix;
    mix.weights_.fill(0);
    std::array<bool, generated_kinds> seen{};
    for (const std::string_view piece : base::split(text, ',')) {
        const std::size_t equals = piece.find('=');
        const std::string_view name = base::trim(piece.substr(0, equals));
        const auto kind = kind_of(name);
        if (!kind || *kind == body_kind::corpus) {
            return base::fail("\"{}\" is no kind of body: {}", base::printable(name, 60),
                              wanted_kind);
        }
        const auto index = static_cast<std::size_t>(*kind);
        if (seen[index]) return base::fail("body kind {} is given twice", name);
        seen[index] = true;
        mix.weights_[index] = 1;
        if (equals == std::string_view::npos) continue;
        const auto weight = base::parse_number(base::trim(piece.substr(equals + 1)));
        if (!weight) return base::fail("weight of body kind {}: {}", name, weight.error().message);
        mix.weights_[index] = *weight;
    }
    double sum = 0;
    for (const double weight : mix.weights_)
        sum += weight;
    if (sum <= 0)
        return base::fail("body mix \"{}\": every weight is 0", base::printable(text, 80));
    mix.settle();
    return mix;
}

void body_mix::settle() noexcept {
    double sum = 0;
    std::size_t used = 0;
    for (std::size_t i = 0; i < generated_kinds; ++i) {
        sum += weights_[i];
        cumulative_[i] = sum;
        if (weights_[i] > 0 && used++ == 0) first_ = static_cast<body_kind>(i);
    }
    for (double& share : cumulative_)
        share /= sum;
    single_ = used == 1;
}

body_kind body_mix::pick_weighted(double uniform) const noexcept {
    for (std::size_t i = 0; i < generated_kinds; ++i) {
        if (weights_[i] > 0 && uniform < cumulative_[i]) return static_cast<body_kind>(i);
    }
    return first_;
}

bool body_mix::has(body_kind kind) const noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index < generated_kinds && weights_[index] > 0;
}

std::string body_mix::text() const {
    if (single_) return std::string(name_of(first_));
    std::string all;
    for (std::size_t i = 0; i < generated_kinds; ++i) {
        if (weights_[i] <= 0) continue;
        if (!all.empty()) all += ',';
        all += fmt::format("{}={}", kind_names[i], weights_[i]);
    }
    return all;
}

}  // namespace postal::mail
