// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/capabilities.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace postal::proto {

namespace {

struct row {
    std::string_view keyword;
    bool capabilities::*offered;
};

constexpr std::array keyword_rows{
    row{"PIPELINING", &capabilities::pipelining},
    row{"CHUNKING", &capabilities::chunking},
    row{"8BITMIME", &capabilities::eight_bit_mime},
    row{"SMTPUTF8", &capabilities::smtputf8},
    row{"STARTTLS", &capabilities::starttls},
    row{"SIZE", &capabilities::size},
    row{"DSN", &capabilities::dsn},
};

}  // namespace

void capabilities::add(std::string_view line) noexcept {
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string_view keyword = line.substr(0, blank);
    const std::string_view parameters = base::trim(line.substr(blank));
    for (const row& one : keyword_rows) {
        if (base::iequals(keyword, one.keyword)) this->*one.offered = true;
    }
    if (base::iequals(keyword, "XCLIENT")) {
        for (const std::string_view attribute : base::split(parameters, ' ')) {
            xclient = xclient || base::iequals(attribute, "ADDR");
        }
    }
}

std::string_view auth_mechanisms(std::string_view line) noexcept {
    const bool named = line.size() > 5 && base::iequals(line.substr(0, 4), "AUTH");
    return named && (line[4] == ' ' || line[4] == '=') ? base::trim(line.substr(5))
                                                       : std::string_view{};
}

}  // namespace postal::proto
