// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/proxy_header.hpp"

#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace postal::net {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view signature = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::size_t longest_text = 107;
constexpr std::size_t fixed_binary = 16;
constexpr std::size_t longest_binary = 512;  // behind the fixed part
constexpr char version_and_proxy = '\x21';
constexpr char version_and_local = '\x20';
constexpr char tcp4 = '\x11';
constexpr char tcp6 = '\x21';

void append_u16(std::string& out, std::size_t number) {
    out += static_cast<char>(number >> 8U & 0xff);
    out += static_cast<char>(number & 0xff);
}

std::size_t u16_at(std::string_view text, std::size_t at) noexcept {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[at])) << 8U |
           static_cast<unsigned char>(text[at + 1]);
}

void append_octets(std::string& out, const ip_address& address, bool v4) {
    for (std::size_t i = v4 ? 12 : 0; i < address.octets.size(); ++i)
        out += static_cast<char>(address.octets[i]);
}

ip_address address_at(std::string_view text, std::size_t at, bool v4) noexcept {
    ip_address result;
    if (v4) result.octets[10] = result.octets[11] = 0xff;
    for (std::size_t i = v4 ? 12 : 0; i < result.octets.size(); ++i)
        result.octets[i] = static_cast<std::uint8_t>(text[at++]);
    return result;
}

std::optional<std::uint16_t> port_of(std::string_view text) noexcept {
    std::uint16_t port = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, port);
    const bool zeros = text.size() > 1 && text.front() == '0';
    if (read.ec != std::errc{} || read.ptr != end || zeros) return std::nullopt;
    return port;
}

}  // namespace

void append_proxy_header(std::string& out, proxy_version version, const ip_endpoint& client,
                         const ip_endpoint& server) {
    const bool v4 = client.address.is_v4() && server.address.is_v4();
    if (version == proxy_version::v1) {
        out += fmt::format("PROXY {} {} {} {} {}\r\n", v4 ? "TCP4" : "TCP6",
                           v4 ? client.address.text() : client.address.text6(),
                           v4 ? server.address.text() : server.address.text6(), client.port,
                           server.port);
        return;
    }
    out.append(signature);
    out += version_and_proxy;
    out += v4 ? tcp4 : tcp6;
    append_u16(out, v4 ? 12 : 36);
    append_octets(out, client.address, v4);
    append_octets(out, server.address, v4);
    append_u16(out, client.port);
    append_u16(out, server.port);
}

void proxy_header_reader::feed(std::string_view octets) {
    header_.append(octets.substr(0, wanted_));
    const std::string_view header = header_;
    if (signature.starts_with(header.substr(0, signature.size()))) {
        read_binary();
    } else if ("PROXY "sv.starts_with(header.substr(0, 6))) {
        read_text();
    } else {
        end(false);
    }
}

void proxy_header_reader::end(bool good) noexcept {
    wanted_ = 0;
    good_ = good;
}

void proxy_header_reader::read_text() {
    if (header_.size() < 15) {
        wanted_ = 15 - header_.size();
        return;
    }
    if (!header_.ends_with("\r\n")) {
        wanted_ = 1;
        if (header_.size() >= longest_text) end(false);
        return;
    }
    const std::string_view line = std::string_view(header_).substr(0, header_.size() - 2);
    const std::vector<std::string_view> words = base::split(line, ' ');
    if (words[1] == "UNKNOWN") return end(true);
    if (words.size() != 6) return end(false);
    const auto client = parse_ip(words[2]);
    const auto server = parse_ip(words[3]);
    const auto port = port_of(words[4]);
    if (!client || !server || !port || !port_of(words[5])) return end(false);
    const bool v4 = words[1] == "TCP4";
    const bool written_v4 = words[2].find(':') == std::string_view::npos;
    if ((!v4 && words[1] != "TCP6") || v4 != written_v4) return end(false);
    client_ = ip_endpoint{*client, *port};
    end(true);
}

void proxy_header_reader::read_binary() {
    if (header_.size() < fixed_binary) {
        wanted_ = fixed_binary - header_.size();
        return;
    }
    const std::size_t rest = u16_at(header_, 14);
    const bool known = header_[12] == version_and_proxy || header_[12] == version_and_local;
    if (!known || rest > longest_binary) return end(false);
    wanted_ = fixed_binary + rest - header_.size();
    if (wanted_ != 0) return;
    const bool v4 = header_[13] == tcp4;
    if (header_[12] == version_and_local) return end(true);
    if (!v4 && header_[13] != tcp6) return end(header_[13] == '\0');
    if (rest < (v4 ? 12U : 36U)) return end(false);
    const std::size_t ports = fixed_binary + (v4 ? 8 : 32);
    client_ = ip_endpoint{address_at(header_, fixed_binary, v4),
                          static_cast<std::uint16_t>(u16_at(header_, ports))};
    end(true);
}

}  // namespace postal::net
