// See message.hpp.
#include "mail/message.hpp"

namespace postal::mail {

bool is_ascii(std::string_view text) noexcept {
    unsigned char all = 0;
    for (const char c : text)
        all |= static_cast<unsigned char>(c);
    return all < 128;
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
