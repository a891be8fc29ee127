// SPDX-License-Identifier: GPL-3.0-or-later
// Archives that no honest program makes, octet by octet.
#pragma once

#include <zlib.h>

#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

struct member {
    std::string name;
    char type = '0';
    std::string content = {};
    std::string link = {};
    std::optional<std::uint64_t> says = {};  // of its size
};

inline void put(std::string& header, std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
}

inline std::string tar(const std::vector<member>& all) {
    std::string to;
    for (const member& one : all) {
        std::string header(512, '\0');
        put(header, 0, one.name);
        put(header, 100, "0000644");
        put(header, 108, "0000000");
        put(header, 116, "0000000");
        put(header, 124, fmt::format("{:011o}", one.says.value_or(one.content.size())));
        put(header, 136, "00000000000");
        put(header, 148, "        ");
        header[156] = one.type;
        put(header, 157, one.link);
        put(header, 257, std::string("ustar\00000", 8));
        const unsigned sum = std::accumulate(
            header.begin(), header.end(), 0U,
            [](unsigned so_far, char c) { return so_far + static_cast<unsigned char>(c); });
        put(header, 148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
        to += header + one.content;
        to.resize((to.size() + 511) / 512 * 512);
    }
    return to + std::string(1024, '\0');
}

inline std::string gzip(const std::string& text) {
    z_stream stream{};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    std::string to(deflateBound(&stream, text.size()) + 100, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(to.data());
    stream.avail_out = static_cast<uInt>(to.size());
    deflate(&stream, Z_FINISH);
    to.resize(stream.total_out);
    deflateEnd(&stream);
    return to;
}

}  // namespace test
