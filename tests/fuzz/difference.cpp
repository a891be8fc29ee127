// SPDX-License-Identifier: GPL-3.0-or-later
// mail/difference.hpp: a message differs exactly when it is not verified, and every difference has
// a text.
#include "mail/difference.hpp"

#include "mail/message_checker.hpp"
#include "mail/old_postal.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::mail;
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    static body_rebuilder rebuilder(std::uint64_t{16} << 10U);
    static message_checker checker;
    checker.reset();
    checker.feed(input);
    const auto result = checker.finish();
    if (to_text(diagnose(input, nullptr, rebuilder)).empty()) std::abort();
    if (check_old_postal(input).has_value() && !is_old_postal(input)) std::abort();
    if (result.id == nullptr) return 0;
    const difference found = diagnose(input, result.id, rebuilder);
    if ((found.kind == difference_kind::none) != (result.what == integrity::verified)) std::abort();
    if (to_text(found).empty() || name_of(found.kind).empty()) std::abort();
    return 0;
}
