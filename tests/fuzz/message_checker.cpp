// SPDX-License-Identifier: GPL-3.0-or-later
// mail/message_checker.hpp: a message checked whole and octet by octet gets the same result.
#include "mail/message_checker.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    static postal::mail::message_checker whole, split;
    whole.feed(input);
    for (const char& octet : input)
        split.feed({&octet, 1});
    if (whole.finish().what != split.finish().what) std::abort();
    whole.reset();
    split.reset();
    return 0;
}
