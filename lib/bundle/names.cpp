// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/archive.hpp"

#include "base/text.hpp"
#include "bundle/gzip.hpp"
#include "bundle/manifest.hpp"

#include <fmt/format.h>

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

bool looks_like_bundle(std::string_view beginning) {
    constexpr std::size_t header = 512;  // of tar; a name ends with a NUL
    constexpr std::size_t schema_within = 100;
    const std::string first = gzip_beginning(beginning, header + schema_within);
    return first.size() > header && first.starts_with(manifest_name) &&
           first[manifest_name.size()] == '\0' &&
           first.find(fmt::format("\"schema\": \"{}\"", manifest_schema), header) !=
               std::string::npos;
}

}  // namespace postal::bundle
