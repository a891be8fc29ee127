// SPDX-License-Identifier: GPL-3.0-or-later
// net/proxy_header.hpp: read whole and octet by octet is the same, nothing is taken that was not
// asked for, and what was understood can be written again.
#include "net/proxy_header.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace postal::net;

// How many octets were taken.
std::size_t read(proxy_header_reader& reader, std::string_view input, std::size_t piece) {
    std::size_t taken = 0;
    while (reader.wanted() != 0 && taken < input.size()) {
        const std::string_view some =
            input.substr(taken, piece < reader.wanted() ? piece : reader.wanted());
        taken += some.size();
        reader.feed(some);
    }
    return taken;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    proxy_header_reader whole;
    proxy_header_reader pieces;
    const std::size_t taken = read(whole, input, size + 1);
    if (taken > 16 + 512 || (whole.wanted() != 0 && taken != size)) std::abort();
    read(pieces, input, 1);
    if (whole.good() != pieces.good() || whole.client() != pieces.client()) std::abort();
    if (!whole.good() || !whole.client()) return 0;
    for (const proxy_version version : {proxy_version::v1, proxy_version::v2}) {
        std::string header;
        append_proxy_header(header, version, *whole.client(), *whole.client());
        proxy_header_reader again;
        if (read(again, header, header.size()) != header.size()) std::abort();
        if (!again.good() || again.client() != whole.client()) std::abort();
    }
    return 0;
}
