// SPDX-License-Identifier: GPL-3.0-or-later
// See size_spec.hpp.
#include "mail/size_spec.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace postal::mail {
namespace {

constexpr std::uint64_t default_lognormal_maximum = std::uint64_t{64} << 20U;
constexpr double most_sigma = 10;  // beyond it the median says nothing any more
constexpr int most_draws = 64;  // after so many draws above the maximum the maximum itself is taken
constexpr std::string_view wanted_size =
    "want fixed:5K, uniform:1K,10K, lognormal:MEDIAN,SIGMA[,MAX] or histogram:FILE";

}  // namespace

base::expected<size_spec> size_spec::uniform(std::uint64_t minimum, std::uint64_t maximum) {
    if (minimum > maximum) {
        return base::fail("the minimum size {} is above the maximum size {}",
                          base::format_size(minimum), base::format_size(maximum));
    }
    size_spec spec;
    spec.form_ = minimum == maximum ? form::fixed : form::uniform;
    spec.smallest_ = minimum;
    spec.largest_ = maximum;
    spec.text_ = minimum == maximum ? fmt::format("fixed:{}", minimum)
                                    : fmt::format("uniform:{},{}", minimum, maximum);
    return spec;
}

base::expected<size_spec> size_spec::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const std::string_view arguments =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    base::expected<size_spec> spec =
        base::fail("\"{}\" is no form of size: {}", base::printable(text, 60), wanted_size);
    if (name == "fixed" || name == "uniform") {
        const auto pieces = base::split(arguments, ',');
        if (arguments.empty() || pieces.size() != (name == "fixed" ? 1U : 2U)) {
            return base::fail("\"{}\" has {}; give {}", base::printable(text, 60),
                              arguments.empty() ? "no size" : "too many sizes or too few",
                              name == "fixed" ? "fixed:5K" : "uniform:1K,10K");
        }
        const auto minimum = base::parse_size(pieces.front());
        if (!minimum) return minimum.error();
        const auto maximum = base::parse_size(pieces.back());
        if (!maximum) return maximum.error();
        spec = uniform(*minimum, *maximum);
    } else if (name == "lognormal") {
        spec = parse_lognormal(arguments);
    } else if (name == "histogram") {
        spec = parse_histogram(std::string(arguments));
    }
    if (spec) spec->text_ = std::string(text);
    return spec;
}

base::expected<size_spec> size_spec::parse_lognormal(std::string_view arguments) {
    const auto pieces = base::split(arguments, ',');
    if (pieces.size() < 2 || pieces.size() > 3) {
        return base::fail("lognormal needs MEDIAN,SIGMA or MEDIAN,SIGMA,MAX, not \"{}\"",
                          base::printable(arguments, 60));
    }
    const auto median = base::parse_size(pieces[0]);
    if (!median) return median.error();
    const auto sigma = base::parse_number(pieces[1]);
    if (!sigma) return base::fail("sigma of lognormal: {}", sigma.error().message);
    const auto maximum = pieces.size() == 3
                             ? base::parse_size(pieces[2])
                             : base::expected<std::uint64_t>(default_lognormal_maximum);
    if (!maximum) return maximum.error();
    if (*median == 0) return base::fail("the median of lognormal must be above 0");
    if (*sigma > most_sigma) return base::fail("sigma of lognormal must be 0 to {}", most_sigma);
    if (*median > *maximum) {
        return base::fail("the median of lognormal, {}, is above its maximum, {}",
                          base::format_size(*median), base::format_size(*maximum));
    }
    size_spec spec;
    spec.form_ = form::lognormal;
    spec.largest_ = *maximum;
    spec.mu_ = std::log(static_cast<double>(*median));
    spec.sigma_ = *sigma;
    return spec;
}

base::expected<size_spec> size_spec::parse_histogram(const std::string& path) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    size_spec spec;
    spec.form_ = form::histogram;
    spec.largest_ = 0;
    double sum = 0;
    std::size_t number = 0;
    for (std::string_view line : base::split(*text, '\n')) {
        ++number;
        line = base::trim(line);
        if (line.empty() || line.front() == '#') continue;
        const std::string where = fmt::format("{}:{}", path, number);
        const auto columns = base::fields(line);
        if (columns.size() != 2) {
            return base::fail("{}: want a size and a weight, not {} fields", where, columns.size());
        }
        const auto size = base::parse_size(columns[0]);
        if (!size) return base::at(where, size.error());
        const auto weight = base::parse_number(columns[1]);
        if (!weight) return base::at(where, weight.error());
        if (*weight <= 0) continue;
        sum += *weight;
        spec.steps_.push_back({*size, sum});
        spec.largest_ = std::max(spec.largest_, *size);
    }
    if (spec.steps_.empty()) {
        return base::fail("{}: no line with a size and a weight above 0", path);
    }
    for (step& each : spec.steps_)
        each.cumulative /= sum;
    return spec;
}

std::uint64_t size_spec::hash() const noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(form_);
    if (form_ != form::histogram) {
        for (const char c : text_)
            hash = base::mix(hash, static_cast<unsigned char>(c), 0);
        return hash;
    }
    for (const step& each : steps_)
        hash = base::mix(hash, each.size, std::bit_cast<std::uint64_t>(each.cumulative));
    return hash;
}

std::uint64_t size_spec::sample(base::random_source& random) const noexcept {
    switch (form_) {
        case form::fixed:
            return largest_;
        case form::uniform: {
            const std::uint64_t span = largest_ - smallest_ + 1;  // 0 when it is all of 64 bits
            return smallest_ + (span == 0 ? random.next() : random.below(span));
        }
        case form::lognormal:
            return sample_lognormal(random);
        case form::histogram:
            break;
    }
    return sample_histogram(random);
}

std::uint64_t size_spec::sample_lognormal(base::random_source& random) const noexcept {
    for (int draw = 0; draw < most_draws; ++draw) {
        const double size = std::exp(mu_ + sigma_ * random.normal());
        if (size <= static_cast<double>(largest_)) {
            return std::min(static_cast<std::uint64_t>(size + 0.5), largest_);
        }
    }
    return largest_;
}

std::uint64_t size_spec::sample_histogram(base::random_source& random) const noexcept {
    const double share = random.uniform();
    const auto found = std::upper_bound(
        steps_.begin(), steps_.end(), share,
        [](double wanted_share, const step& each) { return wanted_share < each.cumulative; });
    return found == steps_.end() ? steps_.back().size : found->size;
}

}  // namespace postal::mail
