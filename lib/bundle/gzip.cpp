// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/gzip.hpp"

#include "base/units.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace postal::bundle {
namespace {

constexpr int gzip_alone = 15 + 16;  // of the window, and no other format

class inflating {
  public:
    explicit inflating(std::string_view octets) : left_(octets) {
        ready_ = inflateInit2(&stream_, gzip_alone) == Z_OK;
    }
    inflating(const inflating&) = delete;
    inflating& operator=(const inflating&) = delete;
    ~inflating() { inflateEnd(&stream_); }

    // The next octets; none at its end, and where it cannot go on.
    std::string_view next() {
        stream_.next_out = some_.data();
        stream_.avail_out = static_cast<uInt>(some_.size());
        while (ready_ && stream_.avail_out > 0 && status_ == Z_OK) {
            if (stream_.avail_in == 0) feed();
            if (stream_.avail_in == 0) break;
            status_ = inflate(&stream_, Z_NO_FLUSH);
        }
        return {reinterpret_cast<const char*>(some_.data()), some_.size() - stream_.avail_out};
    }
    [[nodiscard]] bool ended() const { return status_ == Z_STREAM_END; }
    [[nodiscard]] bool used_all() const { return left_.empty() && stream_.avail_in == 0; }

  private:
    // zlib counts in 32 bits.
    void feed() {
        const std::string_view piece = left_.substr(0, std::size_t{1} << 30U);
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
        stream_.avail_in = static_cast<uInt>(piece.size());
        left_.remove_prefix(piece.size());
    }

    std::string_view left_;
    z_stream stream_{};
    bool ready_ = false;
    int status_ = Z_OK;
    std::array<Bytef, 65536> some_{};
};

}  // namespace

std::string gzip_beginning(std::string_view piece, std::size_t most) {
    inflating from(piece);
    return std::string(from.next().substr(0, most));
}

base::expected<void> check_one_gzip(std::string_view octets, std::uint64_t most) {
    inflating from(octets);
    std::uint64_t size = 0;
    while (true) {
        const std::size_t some = from.next().size();
        size += some;
        if (size > most) return base::fail("is larger than {}", base::format_size(most));
        if (some == 0 || from.ended()) break;
    }
    if (!from.ended()) return base::fail("cannot be read: its gzip is damaged or cut off");
    if (!from.used_all()) return base::fail("has more behind its gzip");
    return {};
}

}  // namespace postal::bundle
