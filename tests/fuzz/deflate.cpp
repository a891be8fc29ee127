// SPDX-License-Identifier: GPL-3.0-or-later
// net/deflate.hpp: what a peer sends expands alike, whole and octet by octet and into little room;
// what was compressed comes back; a bomb costs no more memory than what it is expanded into.
#include "net/deflate.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "support.hpp"

namespace {

using postal::net::deflate;

constexpr std::size_t most_expanded = 256 * 1024;

// What octets expand to, up to a bound, and a mark where they are none.
std::string expand_all(deflate& peer, std::string_view packed, std::size_t piece,
                       std::size_t room) {
    std::array<char, 4096> buffer;
    const std::span<char> into = std::span(buffer).first(std::min(room, buffer.size()));
    std::string all;
    while (true) {
        std::string_view some = packed.substr(0, piece);
        const std::size_t given = some.size();
        const deflate::expanded got = peer.expand(some, into);
        fuzz::require(got.size <= into.size() && some.size() <= given);
        all.append(into.data(), got.size);
        if (got.broken) return all.substr(0, most_expanded) + "!";
        if (all.size() >= most_expanded) return all.substr(0, most_expanded);
        packed.remove_prefix(given - some.size());
        if (packed.empty() && got.size < into.size()) return all;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view input = fuzz::text_of(data, size);
    const auto whole = deflate::create();
    const auto pieces = deflate::create();
    fuzz::require(expand_all(*whole, input, size + 1, 4096) == expand_all(*pieces, input, 1, 100));

    const auto us = deflate::create();
    const auto them = deflate::create();
    for (const std::string_view text : {input.substr(0, size / 2), input.substr(size / 2)}) {
        std::string packed;
        us->compress(text, packed);
        fuzz::require(expand_all(*them, packed, packed.size(), 4096) == text);
    }
    return 0;
}
