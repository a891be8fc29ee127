// SPDX-License-Identifier: GPL-3.0-or-later
// proto/smtp/reply_parser.hpp and capabilities.hpp: replies fed whole and octet by octet are the
// same.
#include "proto/smtp/reply_parser.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "proto/smtp/capabilities.hpp"

namespace {

using namespace postal::proto;

std::string read_all(std::string_view input, std::size_t piece) {
    reply_parser parser;
    capabilities offered;
    std::string seen;
    while (!input.empty()) {
        std::string_view bytes = input.substr(0, piece);
        input.remove_prefix(bytes.size());
        while (true) {
            const auto event = parser.feed(bytes);
            if (event == reply_event::need_more) break;
            if (event == reply_event::malformed) return seen + std::string(parser.problem());
            offered.add(parser.text());
            seen += std::to_string(parser.code()) + std::string(parser.enhanced());
            seen += std::string(parser.text()) + '\n';
        }
    }
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    if (size > 0 && read_all(input, size) != read_all(input, 1)) std::abort();
    return 0;
}
