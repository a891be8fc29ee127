// SPDX-License-Identifier: GPL-3.0-or-later
// What a made-up Subject says, as the words that it is put together from.
//
// Two to eight words of ASCII; with body_kind::multipart in every second message one to four
// encoded words (RFC 2047) of one language instead, in either encoding, now and then in ISO 8859-1.
// Between words stands a blank, or a fold before an encoded word that would not fit its line.
// Nothing fails. What a seed gives is frozen: readers find out by it whether a Subject was changed.
#pragma once

#include "mail/body_kind.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

class subject_words {
  public:
    static constexpr std::size_t most = 8;
    struct chosen {
        std::array<std::string_view, most> words{};
        std::size_t count = 0;
    };

    explicit subject_words(std::uint64_t seed);

    // bits: 64 random ones. The words point into this.
    [[nodiscard]] chosen choose(std::uint64_t bits, body_kind kind) const noexcept;

    // "=?utf-8?Q?caf=C3=A9?=", so short that two names of fields fit before it.
    [[nodiscard]] static std::string encoded_word(std::string_view charset, char encoding,
                                                  std::string_view text);
    [[nodiscard]] static bool is_encoded(std::string_view word) noexcept {
        return word.starts_with("=?");
    }

  private:
    static constexpr std::size_t word_count = 256;
    static constexpr std::size_t encoded_count = 8;  // of a language, for each place

    [[nodiscard]] chosen choose_encoded(std::uint64_t bits) const noexcept;

    std::string words_;                                   // one after the other
    std::array<std::uint16_t, word_count + 1> starts_{};  // where word i starts
    std::vector<std::string> first_;  // encoded_count for each language but English
    std::vector<std::string> next_;   // the same, with a blank before the text
};

}  // namespace postal::mail
