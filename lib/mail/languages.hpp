// SPDX-License-Identifier: GPL-3.0-or-later
// Words of several languages and scripts, for mail that is to look like people's: text, subjects,
// and names of files.
//
// Every fourth word is invented from the letters of the language, so that what indexes mail meets
// new ones. Nothing fails. A change here changes what old identity headers mean: only add.
#pragma once

#include "base/random.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

struct language {
    std::string_view tag;          // RFC 5646
    std::string_view words;        // with blanks between
    std::string_view names;        // of files, likewise; at most 16 octets each
    std::string_view latin1_name;  // one in ISO 8859-1, percent-encoded; empty where it has none
    std::uint32_t first_letter = 0;
    std::uint32_t letters = 0;
    std::uint32_t longest_word = 0;  // of the invented ones, in letters
};

inline constexpr std::size_t language_count = 11;

// English is the first.
[[nodiscard]] const std::array<language, language_count>& languages() noexcept;

class word_source {
  public:
    explicit word_source(const language& of);

    // Appends one word or more, with blanks between, at most so many octets of UTF-8; there must be
    // a word that is not longer.
    void add_words(base::random_source& random, std::size_t most_octets, std::string& to) const;

  private:
    const language& language_;
    std::vector<std::string_view> words_;
};

void append_utf8(std::uint32_t code, std::string& to);

}  // namespace postal::mail
