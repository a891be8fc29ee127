// SPDX-License-Identifier: GPL-3.0-or-later
// text_tables: a TOML document that is nothing but tables of texts.
//
//   [table]
//   key = "value"
//
// What is allowed in it is its reader's business; here only the form. Fails with "NAME:LINE:
// reason" for a syntax error, a key outside a table, and a value that is no text. Entries come in
// the order of the document, and a table without keys as one entry without a key. Limits: one level
// of tables; only for files that the person who runs the program chose.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::lmtp_deliver {

struct text_entry {
    std::string table{};
    std::string key{};
    std::string value{};
    std::uint32_t line = 0;
};

// name: what errors call the document.
[[nodiscard]] base::expected<std::vector<text_entry>> parse_text_tables(std::string_view document,
                                                                        const std::string& name);

}  // namespace postal::lmtp_deliver
