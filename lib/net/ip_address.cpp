// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/ip_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/text.hpp"

namespace postal::net {

namespace {

constexpr std::size_t mapped_octets = 12;  // in front of an IPv4 address

ip_address mapped(const void* four) noexcept {
    ip_address result;
    result.octets[10] = result.octets[11] = 0xff;
    std::memcpy(result.octets.data() + mapped_octets, four, 4);
    return result;
}

using end_reader = int (*)(int, sockaddr*, socklen_t*);

std::optional<ip_endpoint> end_of(int socket, end_reader which) {
    sockaddr_storage raw{};
    socklen_t size = sizeof raw;
    if (which(socket, reinterpret_cast<sockaddr*>(&raw), &size) != 0) return std::nullopt;
    return ip_endpoint_of(reinterpret_cast<const sockaddr&>(raw));
}

// Of one octet: the bits that a range fixes.
std::uint8_t mask_at(std::size_t octet, unsigned fixed_bits) noexcept {
    const auto bits = static_cast<unsigned>(octet * 8);
    if (fixed_bits >= bits + 8) return 0xff;
    if (fixed_bits <= bits) return 0;
    return static_cast<std::uint8_t>(0xff00U >> (fixed_bits - bits));
}

}  // namespace

bool ip_address::is_v4() const noexcept {
    return octets[10] == 0xff && octets[11] == 0xff &&
           std::all_of(octets.begin(), octets.begin() + 10, [](auto one) { return one == 0; });
}

bool ip_address::is_loopback() const noexcept {
    constexpr ip_address one{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    return is_v4() ? octets[mapped_octets] == 127 : *this == one;
}

ip_address ip_address::origin() const noexcept {
    constexpr std::size_t network_octets = 8;
    ip_address of = *this;
    if (!is_v4()) std::fill(of.octets.begin() + network_octets, of.octets.end(), 0);
    return of;
}

std::string ip_address::text() const {
    if (!is_v4()) return text6();
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, octets.data() + mapped_octets, text.data(), text.size());
    return text.data();
}

std::string ip_address::text6() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(AF_INET6, octets.data(), text.data(), text.size());
    return text.data();
}

std::optional<ip_address> parse_ip(std::string_view text) {
    const std::string whole(text);
    ip_address result;
    in_addr four{};
    if (inet_pton(AF_INET, whole.c_str(), &four) == 1) return mapped(&four);
    if (inet_pton(AF_INET6, whole.c_str(), result.octets.data()) == 1) return result;
    return std::nullopt;
}

std::optional<ip_endpoint> ip_endpoint_of(const sockaddr& raw) noexcept {
    if (raw.sa_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(raw);
        return ip_endpoint{mapped(&v4.sin_addr), ntohs(v4.sin_port)};
    }
    if (raw.sa_family != AF_INET6) return std::nullopt;
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(raw);
    ip_endpoint end{{}, ntohs(v6.sin6_port)};
    std::memcpy(end.address.octets.data(), &v6.sin6_addr, end.address.octets.size());
    return end;
}

std::optional<ip_endpoint> peer_of(int socket) {
    return end_of(socket, ::getpeername);
}

std::optional<ip_endpoint> own_end_of(int socket) {
    return end_of(socket, ::getsockname);
}

bool address_range::contains(const ip_address& one) const noexcept {
    const std::size_t whole = fixed_bits_ / 8;
    if (std::memcmp(one.octets.data(), first_.octets.data(), whole) != 0) return false;
    if (whole == one.octets.size()) return true;
    return ((one.octets[whole] ^ first_.octets[whole]) & mask_at(whole, fixed_bits_)) == 0;
}

ip_address address_range::draw(base::random_source& random) const noexcept {
    ip_address one = first_;
    std::uint64_t bits = random.next();
    for (std::size_t i = 0; i < one.octets.size(); ++i) {
        if (i == 8) bits = random.next();
        const auto free = static_cast<std::uint8_t>(~mask_at(i, fixed_bits_));
        one.octets[i] = static_cast<std::uint8_t>(one.octets[i] | (bits & free));
        bits >>= 8U;
    }
    return one;
}

base::expected<address_range> parse_address_range(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto first = parse_ip(text.substr(0, slash));
    if (!first) {
        return base::fail("\"{}\" is no range of addresses; give one such as 198.18.0.0/15", text);
    }
    const unsigned before = first->is_v4() ? 96 : 0;
    address_range range;
    range.first_ = *first;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        unsigned bits = 0;
        const char* end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, bits);
        if (read.ec != std::errc{} || read.ptr != end || bits > 128 - before) {
            return base::fail("\"{}\": the length behind the slash goes from 0 to {}", text,
                              128 - before);
        }
        range.fixed_bits_ = before + bits;
    }
    for (std::size_t i = 0; i < range.first_.octets.size(); ++i) {
        if ((range.first_.octets[i] & ~mask_at(i, range.fixed_bits_)) == 0) continue;
        return base::fail("\"{}\" has bits behind its length; give the first address of the range",
                          text);
    }
    return range;
}

base::expected<std::vector<address_range>> parse_address_ranges(std::string_view text) {
    std::vector<address_range> all;
    for (const std::string_view one : base::split(text, ',')) {
        auto range = parse_address_range(one);
        if (!range) return range.error();
        all.push_back(*range);
    }
    return all;
}

}  // namespace postal::net
