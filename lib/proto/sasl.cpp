#include "proto/sasl.hpp"

#include <cstddef>
#include <cstdint>

namespace postal::proto {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view octets) {
    std::string out;
    out.reserve((octets.size() + 2) / 3 * 4);
    for (; !octets.empty(); octets.remove_prefix(octets.size() < 3 ? octets.size() : 3)) {
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            three = three << 8 | (i < octets.size() ? static_cast<unsigned char>(octets[i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out += i <= octets.size() ? digits[three >> (18 - 6 * i) & 63] : '=';
        }
    }
    return out;
}

std::string sasl_plain(std::string_view user, std::string_view password) {
    std::string message;
    message.append(1, '\0').append(user).append(1, '\0').append(password);
    return to_base64(message);
}

}  // namespace postal::proto
