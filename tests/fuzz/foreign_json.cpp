// SPDX-License-Identifier: GPL-3.0-or-later
// stats/foreign_json.hpp: any text. What is taken is what the library takes, and within the bounds.
#include "stats/foreign_json.hpp"

#include <nlohmann/json.hpp>

#include "support.hpp"

namespace {

constexpr postal::stats::json_bounds few{
    .octets = 4096, .depth = 8, .members = 16, .key = 32, .values = 64};

std::size_t depth_of(const postal::stats::json& one) {
    std::size_t deepest = 0;
    if (!one.is_structured()) return 0;
    fuzz::require(!one.is_object() || one.size() <= few.members);
    for (const auto& inner : one)
        deepest = std::max(deepest, depth_of(inner));
    return deepest + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const std::string_view text = fuzz::text_of(data, size);
    const auto read = stats::parse_foreign(text, few);
    if (!read) {
        fuzz::require(!read.error().message.empty());
        return 0;
    }
    fuzz::require(depth_of(*read) <= few.depth);
    fuzz::require(*read == stats::json::parse(text));
    fuzz::require(stats::is_same(*read, *read) || read->dump().find("null") != std::string::npos);
    const auto again = stats::parse_foreign(read->dump(), few);
    // Escapes may make it longer than it was.
    fuzz::require(!again || stats::is_same(*again, *read));
    return 0;
}
