// SPDX-License-Identifier: GPL-3.0-or-later
// lmtp-deliver/agent_log.hpp: what an agent prints, and whom mail is for, forges no line of the
// log.
#include "lmtp-deliver/agent_log.hpp"

#include "support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::lmtp_deliver;
    const std::string_view printed = fuzz::text_of(data, size);
    const std::string id = "0001";
    const std::string recipient(printed.substr(0, 64));
    static const exit_statuses usual;
    for (const int status : {0, 75, 1}) {
        const delivery_reply answer = usual.judge({agent_fate::exited, status}, printed);
        const std::string text = log_text({id, recipient, answer, printed});
        bool first = true;
        for (const std::string_view line : postal::base::split(text, '\n')) {
            fuzz::require(line.starts_with(first ? "0001: to=<" : "    "));
            fuzz::require(line.size() <= 2000);
            fuzz::require_harmless(line);
            first = false;
        }
    }
    return 0;
}
