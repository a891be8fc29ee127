// SPDX-License-Identifier: GPL-3.0-or-later
// mail/identity.hpp: what was read is written and read again as the same.
#include "mail/identity.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::mail;
    identity first, second;
    if (parse_identity({reinterpret_cast<const char*>(data), size}, first) != identity_parse::ok) {
        return 0;
    }
    const std::string text = to_text(first);
    if (parse_identity(text, second) != identity_parse::ok || !(first == second)) std::abort();
    return 0;
}
