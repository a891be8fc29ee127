#include "experiment/figures.hpp"

#include <fmt/format.h>

namespace postal::experiment {
namespace {

constexpr double as_factor = 2;
constexpr double largest_factor = 100;

}  // namespace

std::string factor_text(double ratio) {
    if (ratio > largest_factor) return fmt::format("> {:g}", largest_factor);
    if (ratio < 1 / largest_factor) return fmt::format("< {:g}", 1 / largest_factor);
    return fmt::format("{:.2f}", ratio);
}

std::string percent(double ratio) {
    return fmt::format("{:+.1f} %", (ratio - 1) * 100);
}

bool is_large(double ratio) {
    return ratio >= as_factor || ratio <= 1 / as_factor;
}

std::string how_much(double ratio) {
    return is_large(ratio) ? factor_text(ratio) + " times"
                           : fmt::format("{:.1f} %", (ratio - 1) * 100);
}

std::string bound_text(double share) {
    const double in_percent = share * 100;
    return in_percent < 10 ? fmt::format("{:.2g}", in_percent) : fmt::format("{:.0f}", in_percent);
}

std::string in_quotes(const std::string& name) {
    return "\"" + name + "\"";
}

}  // namespace postal::experiment
