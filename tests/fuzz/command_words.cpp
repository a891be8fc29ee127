// SPDX-License-Identifier: GPL-3.0-or-later
// What people write in place of one value: commands, endpoints, ranges of addresses, moments,
// headers, queues. Each is one line of refusal, or is what it says.
#include "base/shell_words.hpp"
#include "net/allowed_targets.hpp"
#include "program/start_time.hpp"
#include "sampling/choice.hpp"

#include "support.hpp"

namespace {

using namespace postal;

void check_command(std::string_view text) {
    const auto words = base::split_command(text);
    if (!words) return;
    std::string quoted;
    for (const std::string& word : *words) {
        fuzz::require(word.find('\0') == word.npos);
        quoted += (quoted.empty() ? "'" : " '");
        for (const char c : word)
            quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
        quoted += '\'';
    }
    const auto again = base::split_command(quoted);
    fuzz::require(again && *again == *words);
}

void check_endpoint(std::string_view text) {
    const auto where = net::parse_endpoint(text, 25);
    if (where) {
        fuzz::require(where->is_unix() != !where->host.empty());
        const auto again = net::parse_endpoint(where->text, 25);
        fuzz::require(again && again->host == where->host && again->port == where->port);
        fuzz::require(again->unix_path == where->unix_path);
    }
    static_cast<void>(net::parse_endpoints(text, 25));
    net::allowed_targets allowed;
    fuzz::require(allowed.add(text).has_value() != allowed.is_empty());
}

void check_start(std::string_view text) {
    using namespace std::chrono;
    const program::wall_time now(seconds(1'790'000'000));
    const auto start = program::parse_start(text, now);
    if (!start) return;
    fuzz::require(*start > now && *start <= now + hours(49));
    if (*start > now + hours(24)) return;
    const auto again = program::parse_start(program::format_start(*start), now);
    fuzz::require(again && *again == *start);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    check_command(text);
    check_endpoint(text);
    check_start(text);
    return 0;
}
