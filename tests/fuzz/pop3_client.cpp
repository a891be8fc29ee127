// SPDX-License-Identifier: GPL-3.0-or-later
// proto/pop3/client.hpp: replies fed whole and octet by octet are the same. The first octet says
// which forms of reply are expected.
#include "proto/pop3/client.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace postal::proto;

std::string read_all(std::string_view input, std::size_t piece) {
    pop3_client client;
    for (unsigned i = 0; i < 4; ++i)
        client.expect(static_cast<pop3_form>(static_cast<unsigned char>(input[0]) >> 2 * i & 3U));
    input.remove_prefix(1);
    std::string seen;
    pop3_capabilities offered;
    while (!input.empty()) {
        std::string_view bytes = input.substr(0, piece);
        input.remove_prefix(bytes.size());
        for (auto event = client.feed(bytes); event != pop3_event::need_more;
             event = client.feed(bytes)) {
            if (event == pop3_event::broken) return seen + std::string(client.problem());
            if (event == pop3_event::content) seen += client.content();
            if (event == pop3_event::end) seen += '.';
            if (event != pop3_event::status && event != pop3_event::list_line) continue;
            seen += event == pop3_event::status ? '+' : '|';
            offered.add(client.text());
            seen += client.text();
            seen += apop_timestamp(client.text());
            if (const auto uid = parse_uidl_line(client.text())) seen += uid->uid;
            if (const auto numbers = parse_stat(client.text()))
                seen += std::to_string(numbers->octets);
        }
    }
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    if (size > 1 && read_all(input, size) != read_all(input, 1)) std::abort();
    return 0;
}
