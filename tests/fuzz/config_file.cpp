// SPDX-License-Identifier: GPL-3.0-or-later
// cli/config_file.hpp: a file that --config names gives one line of refusal, or options in the
// order of their lines.
#include "cli/config_file.hpp"

#include "cli/content_look.hpp"
#include "support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    static fuzz::memory_file file;
    const std::string_view input = fuzz::text_of(data, size);
    fuzz::require(!cli::content_look(input).empty());
    file.hold(input);
    const auto read = cli::read_config(file.path());
    if (!read) {
        fuzz::require_harmless(read.error().message);
        return 0;
    }
    std::uint32_t line = 0;
    for (const cli::config_entry& one : *read) {
        fuzz::require(one.line >= line && (one.is_list || one.values.size() == 1));
        line = one.line;
        if (one.is_boolean) fuzz::require(one.values[0] == "true" || one.values[0] == "false");
    }
    return 0;
}
