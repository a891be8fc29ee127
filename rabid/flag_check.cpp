// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/flag_check.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace postal::rabid {
namespace {

// Takes the first word away.
std::string_view take_flag(std::string_view& words) noexcept {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    return word;
}

bool has_flag(std::string_view words, std::string_view flag) {
    while (!words.empty())
        if (base::iequals(take_flag(words), flag)) return true;
    return false;
}

}  // namespace

flag_check::flag_check(const mail::population_plan& of, std::optional<std::string_view> permanent)
    : of_(of) {
    std::string_view words = permanent.value_or("");
    if (words.starts_with('(')) words.remove_prefix(1);
    words = words.substr(0, words.find(')'));
    for (std::size_t i = 0; i < of_.flags.size(); ++i) {
        const std::string& flag = of_.flags[i].flag;
        const bool any = flag.front() != '\\' && has_flag(words, "\\*");
        if (!permanent || any || has_flag(words, flag))
            kept_ |= static_cast<std::uint16_t>(1U << i);
    }
}

bool flag_check::same(std::uint16_t planned, std::string_view there) const {
    unsigned found = 0;
    while (!there.empty()) {
        const std::string_view flag = take_flag(there);
        const auto known = std::find_if(of_.flags.begin(), of_.flags.end(), [&](const auto& one) {
            return base::iequals(one.flag, flag);
        });
        if (known != of_.flags.end())
            found |= 1U << static_cast<unsigned>(known - of_.flags.begin());
        else if (base::iequals(flag, "\\Deleted") || base::iequals(flag, "\\Draft"))
            return false;
    }
    return (found & kept_) == (planned & unsigned{kept_});
}

}  // namespace postal::rabid
