// SPDX-License-Identifier: GPL-3.0-or-later
// postal-list: patterns, passwords and conversions. The first line is a pattern, the second a
// template, the third a replacement. (Regular expressions are the C library's business.)
#include "postal-list/address_pattern.hpp"
#include "postal-list/conversions.hpp"
#include "postal-list/password_template.hpp"

#include "support.hpp"

namespace {

using namespace postal::list;

void check_pattern(const address_pattern& one) {
    const auto size = one.size();
    if (!size) return;
    if (*size == 0) return;
    const std::string first = one.at(0);
    const std::string last = one.at(*size - 1);
    fuzz::require(*size == 1 ? first == last : first != last);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    auto lines = postal::base::split(fuzz::text_of(data, size), '\n');
    lines.resize(3);
    const auto pattern = address_pattern::parse(lines[0]);
    if (pattern) check_pattern(*pattern);
    const auto password = password_template::parse(lines[1]);
    if (password) {
        const std::string made = password->expand("user@example.com", 12);
        fuzz::require(made.find_first_of(" \t") == made.npos &&
                      made == password->expand("user@example.com", 12));
    }
    const auto conversion = conversions::parse("^ " + std::string(lines[2]), "fuzz");
    if (!conversion) return 0;
    const auto made = conversion->expand("user@example.com");
    if (made && *made) check_pattern(**made);
    return 0;
}
