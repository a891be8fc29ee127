// SPDX-License-Identifier: GPL-3.0-or-later
// Texts without the secrets that can be known as such by their names.
//
// The value of an option or key that is named as a password, passphrase, secret, token, credential
// or API key becomes "(left out)", and so does the password in a URL: in command lines, TOML, the
// settings of servers, and in what JSON has of these. It goes as a whole: with what is quoted in
// it, with every text and number of a list, an object or a table, to the end of a list's word that
// has its name, and to the end of the line that begins with its name and has no quotes. Names that
// end in "file", "path" or "command" say where a secret is, and stay. A secret that is named
// otherwise is not found: this helps against mistakes.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace postal::bundle {

struct cleaned {
    std::string text{};
    std::size_t removed = 0;  // values
};

[[nodiscard]] bool is_secret_name(std::string_view name) noexcept;

[[nodiscard]] cleaned without_secrets(std::string_view text);

// Of a JSON document: of each of its texts and lists of words, and the values of its keys. As it
// was where nothing is found; else written anew. Fails where it is no JSON.
[[nodiscard]] base::expected<cleaned> json_without_secrets(std::string_view document);

}  // namespace postal::bundle
