// SPDX-License-Identifier: GPL-3.0-or-later
// See message.hpp.
#include "mail/message.hpp"

#include <cstdint>
#include <cstring>

namespace postal::mail {

bool is_ascii(std::string_view text) noexcept {
    std::uint64_t all = 0;
    for (std::uint64_t eight = 0; text.size() >= sizeof eight; text.remove_prefix(sizeof eight)) {
        std::memcpy(&eight, text.data(), sizeof eight);
        all |= eight;
    }
    for (const char c : text)
        all |= static_cast<unsigned char>(c);
    return (all & 0x8080808080808080U) == 0;
}

void message::count_octets() noexcept {
    total_octets_ = 0;
    stuffed_octets_ = 0;
    for (const std::string_view part : body_.raw)
        total_octets_ += part.size();
    for (const std::string_view part : body_.stuffed)
        stuffed_octets_ += part.size();
}

}  // namespace postal::mail
