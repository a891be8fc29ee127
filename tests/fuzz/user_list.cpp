// SPDX-License-Identifier: GPL-3.0-or-later
// mail/user_list.hpp: no address with a line end in it comes out of a list.
#include "mail/user_list.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto users = postal::mail::parse_users(text, "list");
    if (!users) return 0;
    for (const auto& user : *users) {
        if (user.address.find_first_of(std::string_view("\r\n\0<>", 5)) != std::string::npos) {
            std::abort();
        }
    }
    return 0;
}
