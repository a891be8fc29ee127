// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/deflate.hpp"

#include <array>
#include <utility>

#include <zlib.h>

namespace postal::net {
namespace {

constexpr int raw_window = -15;  // the largest window, and no header (zlib.h)
constexpr int memory_level = 8;

Bytef* octets_of(const char* text) noexcept {
    return reinterpret_cast<Bytef*>(const_cast<char*>(text));
}

}  // namespace

struct deflate::streams {
    z_stream out{};
    z_stream in{};
    bool broken = false;
};

deflate::deflate(std::unique_ptr<streams> own) : own_(std::move(own)) {}

deflate::~deflate() {
    ::deflateEnd(&own_->out);
    ::inflateEnd(&own_->in);
}

std::unique_ptr<deflate> deflate::create() {
    auto made = std::make_unique<streams>();
    if (::deflateInit2(&made->out, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window, memory_level,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
        return nullptr;
    }
    if (::inflateInit2(&made->in, raw_window) != Z_OK) {
        ::deflateEnd(&made->out);
        return nullptr;
    }
    return std::unique_ptr<deflate>(new deflate(std::move(made)));
}

void deflate::compress(std::string_view text, std::string& out) {
    std::array<char, 4096> piece;
    z_stream& stream = own_->out;
    stream.next_in = octets_of(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    do {
        stream.next_out = octets_of(piece.data());
        stream.avail_out = piece.size();
        ::deflate(&stream, Z_SYNC_FLUSH);
        out.append(piece.data(), piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
}

deflate::expanded deflate::expand(std::string_view& packed, std::span<char> into) {
    if (own_->broken) return {0, true};
    z_stream& stream = own_->in;
    stream.next_in = octets_of(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = octets_of(into.data());
    stream.avail_out = static_cast<uInt>(into.size());
    const int how = ::inflate(&stream, Z_SYNC_FLUSH);
    packed.remove_prefix(packed.size() - stream.avail_in);
    // Z_BUF_ERROR: nothing to do at the moment. The stream has no end before the connection has.
    own_->broken = how != Z_OK && how != Z_BUF_ERROR;
    return {into.size() - stream.avail_out, own_->broken};
}

}  // namespace postal::net
