// SPDX-License-Identifier: GPL-3.0-or-later
// lmtp-deliver/argv_template.hpp: any template gives one line of refusal or an argv whose size no
// value changes.
#include "lmtp-deliver/argv_template.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::lmtp_deliver;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto made = argv_template::parse(text);
    if (!made) {
        if (made.error().message.find_first_of("\r\n") != std::string::npos) std::abort();
        return 0;
    }
    const expansion nasty{.from = text, .to = text, .to_user = "-", .helo = "a b"};
    const auto argv = made->expand(nasty);
    if (argv.size() != made->size() || made->expand({}).size() != made->size()) std::abort();
    if (argv.front() != made->program() || made->program().empty()) std::abort();
    const auto dash = made->leading_dash(nasty, stage::rcpt);
    if (dash && argv.at(*dash).front() != '-') std::abort();
    return 0;
}
