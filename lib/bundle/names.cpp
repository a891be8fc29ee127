// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/archive.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::bundle {
namespace {

bool is_plain(char c) {
    const char lower = base::ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || base::is_digit(c) ||
           std::string_view("._+=,@%-").find(c) != std::string_view::npos;
}

bool is_plain_part(std::string_view part) {
    return !part.empty() && part != "." && part != ".." &&
           std::all_of(part.begin(), part.end(), is_plain);
}

}  // namespace

bool is_plain_name(std::string_view name) noexcept {
    if (name.size() > longest_name) return false;
    while (true) {
        const std::size_t end = name.find('/');
        if (!is_plain_part(name.substr(0, end))) return false;
        if (end == std::string_view::npos) return true;
        name.remove_prefix(end + 1);
    }
}

bool looks_like_archive(std::string_view beginning) noexcept {
    return beginning.starts_with("\x1f\x8b");
}

}  // namespace postal::bundle
