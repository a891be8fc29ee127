// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/gs2.hpp"

namespace postal::sasl {

std::string gs2_name(std::string_view name) {
    std::string out;
    for (const char& c : name)
        out += c == ',' ? "=2C" : c == '=' ? "=3D" : std::string_view(&c, 1);
    return out;
}

std::optional<std::string> plain_name(std::string_view gs2) {
    std::string out;
    while (!gs2.empty()) {
        const bool escaped = gs2.front() == '=';
        const std::string_view code = gs2.substr(0, 3);
        if (escaped && code != "=2C" && code != "=3D") return std::nullopt;
        out += !escaped ? gs2.front() : code == "=2C" ? ',' : '=';
        gs2.remove_prefix(escaped ? 3 : 1);
    }
    return out;
}

}  // namespace postal::sasl
