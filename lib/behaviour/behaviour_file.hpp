// SPDX-License-Identifier: GPL-3.0-or-later
// A behaviour's file: TOML, as bhm(8) explains it and conf/behaviour.toml shows it.
//
//   [[rule]]
//   name = "the slow domain"
//   domain = ["slow.example", "*.slow.example"]
//   probability = "20%"
//   [rule.rcpt]
//   reply = "450 4.2.1 Too many messages"     or the name of a preset: reply = "gmail-rate"
//   delay = "1s"   or "1s..3s", "lognormal 1s 0.5"
//
// Fails with one line, "FILE:LINE: what, why, what would be right", about the first line that is
// wrong: an unknown key or stage, a code that the stage cannot have, a probability above 100 %, a
// pattern or range that is none, a rule that can never match.
#pragma once

#include "behaviour/rule.hpp"

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::behaviour {

// At most 4 MiB.
[[nodiscard]] base::expected<behaviour> load_behaviour(const std::string& path);
[[nodiscard]] base::expected<behaviour> parse_behaviour(std::string_view text,
                                                        const std::string& name);

// Replies as big providers say them, by name.
struct preset {
    std::string_view name;
    std::uint16_t code;
    std::string_view enhanced;
    std::string_view text;
};
[[nodiscard]] const std::vector<preset>& presets();

// "450 4.2.1 Too many messages", "450 Too many messages", or a preset's name. Any code of three
// digits: which ones a stage can have is the stage's business. An enhanced code is one of RFC 3463
// and of the code's class; the text is printable ASCII of at most 400 octets.
[[nodiscard]] base::expected<reply_text> parse_reply(std::string_view text);

// "200ms", "100ms..2s", "lognormal 200ms 0.8" (the median, and sigma of the logarithm). No part is
// longer than a day.
[[nodiscard]] base::expected<delay> parse_delay(std::string_view text);

// "10K", "10K..1M", "10K..", "..1M", "3../10" (3, 13, 23, ...).
[[nodiscard]] base::expected<number_range> parse_number_range(std::string_view text);
// "10s..40s", "10s..", "..40s"; nanoseconds.
[[nodiscard]] base::expected<time_range> parse_time_range(std::string_view text);

}  // namespace postal::behaviour
