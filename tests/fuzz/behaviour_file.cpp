// SPDX-License-Identifier: GPL-3.0-or-later
// behaviour/behaviour_file.hpp: any file gives one line of refusal, or rules whose replies cannot
// break the dialogue.
#include "behaviour/behaviour_file.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::behaviour;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static_cast<void>(parse_delay(text));
    const auto numbers = parse_number_range(text);
    if (numbers && (numbers->most < numbers->least || numbers->step == 0)) std::abort();
    const auto times = parse_time_range(text);
    if (times && times->most < times->least) std::abort();
    const auto reply = parse_reply(text);
    if (reply && reply->text.find_first_of("\r\n") != std::string::npos) std::abort();
    const auto parsed = parse_behaviour(text, "fuzz");
    if (!parsed) {
        if (parsed.error().message.empty()) std::abort();
        return 0;
    }
    if (parsed->empty()) std::abort();
    for (const rule& one : parsed->rules) {
        if (one.when.probability <= 0 || one.when.probability > 1) std::abort();
        for (const auto& does : one.at) {
            if (!does || !does->reply) continue;
            std::string line;
            postal::proto::append_reply(line, does->reply->view());
            if (line.size() > 512 || line.find('\r') != line.size() - 2) std::abort();
        }
    }
    return 0;
}
