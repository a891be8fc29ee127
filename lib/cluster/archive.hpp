// SPDX-License-Identifier: GPL-3.0-or-later
// Words as octets, and back: the same list of fields is written by one archive and read by the
// other (words.cpp).
//
// Numbers are LEB128 (seven bits an octet, the lowest first), signed ones folded so that small ones
// stay short, real ones eight octets; a text, or a list, stands behind its length. The reader takes
// any octets: after the first that cannot be right it gives zeros, and ok() says so. No length is
// believed that the octets which are left cannot hold.
#pragma once

#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace postal::cluster {

class octet_writer {
  public:
    static constexpr bool writes = true;
    template <class T>
    using field = const T;

    void operator()(std::uint64_t number) {
        for (; number >= 0x80; number >>= 7U)
            octets_ += static_cast<char>(number | 0x80U);
        octets_ += static_cast<char>(number);
    }
    void operator()(unsigned number) { (*this)(std::uint64_t{number}); }
    void operator()(bool flag) { (*this)(std::uint64_t{flag}); }
    void operator()(int number) { (*this)(std::chrono::nanoseconds(number)); }
    void operator()(std::chrono::nanoseconds time) {
        const auto count = static_cast<std::uint64_t>(time.count());
        (*this)((count << 1U) ^ (time.count() < 0 ? ~std::uint64_t{0} : 0));
    }
    void operator()(double real) {
        const auto bits = std::bit_cast<std::uint64_t>(real);
        for (unsigned shift = 0; shift < 64; shift += 8)
            octets_ += static_cast<char>(bits >> shift);
    }
    void operator()(std::string_view text) {
        (*this)(std::uint64_t{text.size()});
        octets_ += text;
    }
    void operator()(const std::string& text) { (*this)(std::string_view(text)); }
    template <class T>
    void operator()(const std::optional<T>& value) {
        (*this)(value.has_value());
        if (value) (*this)(*value);
    }

    std::string take() { return std::move(octets_); }

  private:
    std::string octets_;
};

class octet_reader {
  public:
    static constexpr bool writes = false;
    template <class T>
    using field = T;

    explicit octet_reader(std::string_view octets) : left_(octets) {}

    void operator()(std::uint64_t& number) {
        number = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint64_t octet = next();
            if (shift == 63 && octet > 1) break;  // more than 64 bits
            number |= (octet & 0x7fU) << shift;
            if (octet < 0x80) return;
        }
        fail();
    }
    void operator()(unsigned& number) { number = narrow<unsigned>(); }
    void operator()(bool& flag) { flag = narrow<std::uint8_t>() != 0; }
    void operator()(int& number) {
        std::chrono::nanoseconds wide{};
        (*this)(wide);
        number = static_cast<int>(wide.count());
        if (number != wide.count()) fail();
    }
    void operator()(std::chrono::nanoseconds& time) {
        std::uint64_t folded = 0;
        (*this)(folded);
        const std::uint64_t sign = (folded & 1U) != 0 ? ~std::uint64_t{0} : 0;
        time = std::chrono::nanoseconds(static_cast<std::int64_t>((folded >> 1U) ^ sign));
    }
    void operator()(double& real) {
        std::uint64_t bits = 0;
        for (unsigned shift = 0; shift < 64; shift += 8)
            bits |= std::uint64_t{next()} << shift;
        real = std::bit_cast<double>(bits);
        if (!std::isfinite(real)) {
            real = 0;
            fail();
        }
    }
    void operator()(std::string& text) {
        const std::size_t size = length();
        text.assign(left_.substr(0, size));
        left_.remove_prefix(size);
    }
    template <class T>
    void operator()(std::optional<T>& value) {
        bool there = false;
        (*this)(there);
        value.reset();
        if (there) (*this)(value.emplace());
    }
    // How many things follow, each of an octet or more; fails for more than `most`.
    std::size_t length(std::size_t most = std::numeric_limits<std::size_t>::max()) {
        std::uint64_t size = 0;
        (*this)(size);
        if (size <= left_.size() && size <= most) return static_cast<std::size_t>(size);
        fail();
        return 0;
    }

    void fail() noexcept {
        bad_ = true;
        left_ = {};
    }
    bool ok() const noexcept { return !bad_; }
    bool done() const noexcept { return ok() && left_.empty(); }

  private:
    std::uint8_t next() noexcept {
        if (left_.empty()) {
            bad_ = true;
            return 0;
        }
        const auto octet = static_cast<std::uint8_t>(left_.front());
        left_.remove_prefix(1);
        return octet;
    }
    template <class Small>
    Small narrow() {
        std::uint64_t wide = 0;
        (*this)(wide);
        if (wide > static_cast<Small>(~Small{0})) fail();
        return static_cast<Small>(wide);
    }

    std::string_view left_;
    bool bad_ = false;
};

}  // namespace postal::cluster
