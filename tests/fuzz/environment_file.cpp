// SPDX-License-Identifier: GPL-3.0-or-later
// lmtp-deliver/environment_file.hpp: any text gives settings that execve(2) takes, one for each
// name, or one line of refusal in which no value stands.
#include "lmtp-deliver/environment_file.hpp"

#include <set>

#include "support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const auto read = lmtp_deliver::parse_environment(fuzz::text_of(data, size), "fuzz");
    if (!read) {
        fuzz::require_harmless(read.error().message);
        return 0;
    }
    std::set<std::string_view> names;
    std::string again;
    for (const std::string& one : *read) {
        const std::string_view name = std::string_view(one).substr(0, one.find('='));
        fuzz::require(!name.empty() && name.size() < one.size() && names.insert(name).second);
        fuzz::require(one.find_first_of(std::string_view("\0\n", 2)) == one.npos);
        again += one + "\r\n";
    }
    const auto twice = lmtp_deliver::parse_environment(again, "fuzz");
    fuzz::require(twice && *twice == *read);
    return 0;
}
