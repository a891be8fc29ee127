// SPDX-License-Identifier: GPL-3.0-or-later
// proto/address.hpp: a path taken from the front of a line never reaches behind it.
#include "proto/address.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::proto;
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    for (const auto role : {path_role::reverse, path_role::forward}) {
        const auto result = parse_path(input, {role, bare_local_part::allowed});
        if (!result.ok()) continue;
        if (result.value.length > size || result.value.mailbox.size() > max_path) std::abort();
        if (result.value.mailbox.find_first_of("\r\n") != std::string_view::npos) std::abort();
    }
    parse_mailbox(input, bare_local_part::postmaster_only);
    return 0;
}
