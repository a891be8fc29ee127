// SPDX-License-Identifier: GPL-3.0-or-later
// See subject_words.hpp.
#include "mail/subject_words.hpp"

#include "base/random.hpp"
#include "mail/languages.hpp"
#include "proto/base64.hpp"

#include <fmt/format.h>

namespace postal::mail {
namespace {

constexpr std::uint64_t words_salt =
    0x7375626a65637473;  // each use of the seed has its own numbers
constexpr std::uint64_t encoded_salt = 0x656e636f646564;
constexpr std::size_t longest_ascii_word = 9;
constexpr std::size_t longest_encoded_text = 17;  // encoded three octets each, it fits its line

// RFC 2047 4.2; only what may stand in a phrase is itself.
std::string q_encoded(std::string_view text) {
    std::string to;
    for (const char c : text) {
        const bool itself =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
        if (c == ' ') {
            to += '_';
        } else if (itself) {
            to += c;
        } else {
            to += fmt::format("={:02X}", static_cast<unsigned char>(c));
        }
    }
    return to;
}

// Two octets of UTF-8 for each that ISO 8859-1 has above 127; empty when it lacks one.
std::string to_latin1(std::string_view text) {
    std::string to;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto octet = static_cast<unsigned char>(text[i]);
        if (octet < 0x80) {
            to += text[i];
        } else if (octet == 0xc2 || octet == 0xc3) {
            const auto low = static_cast<unsigned char>(text[++i]);
            to += static_cast<char>((octet & 3U) << 6U | (low & 0x3fU));
        } else {
            return {};
        }
    }
    return to;
}

}  // namespace

subject_words::subject_words(std::uint64_t seed) {
    base::random_source random(base::mix(seed, words_salt, 1));
    for (std::size_t i = 0; i < word_count; ++i) {
        starts_[i] = static_cast<std::uint16_t>(words_.size());
        for (std::uint64_t letters = 2 + random.below(longest_ascii_word - 1); letters > 0;
             --letters) {
            words_ += static_cast<char>('a' + random.below(26));
        }
    }
    starts_[word_count] = static_cast<std::uint16_t>(words_.size());

    base::random_source encoded(base::mix(seed, encoded_salt, 1));
    for (std::size_t i = 1; i < language_count; ++i) {
        const word_source source(languages()[i]);
        for (std::size_t k = 0; k < 2 * encoded_count; ++k) {
            const bool is_next = k >= encoded_count;
            std::string text(is_next ? 1 : 0, ' ');
            source.add_words(encoded, longest_encoded_text - 1, text);
            const char encoding = k % 2 == 0 ? 'B' : 'Q';
            const std::string latin1 = k % 4 == 3 ? to_latin1(text) : std::string();
            (is_next ? next_ : first_)
                .push_back(latin1.empty() ? encoded_word("utf-8", encoding, text)
                                          : encoded_word("iso-8859-1", encoding, latin1));
        }
    }
}

std::string subject_words::encoded_word(std::string_view charset, char encoding,
                                        std::string_view text) {
    return fmt::format("=?{}?{}?{}?=", charset, encoding,
                       encoding == 'B' ? proto::to_base64(text) : q_encoded(text));
}

// The first bits say how many, each seven more are one word.
subject_words::chosen subject_words::choose(std::uint64_t bits, body_kind kind) const noexcept {
    constexpr std::uint64_t use_encoded = std::uint64_t{1} << 63U;
    if (kind == body_kind::multipart && (bits & use_encoded) != 0) return choose_encoded(bits);
    chosen made;
    made.count = 2 + (bits & 7U) * (most - 2) / 7;
    bits >>= 3U;
    for (std::size_t i = 0; i < made.count; ++i, bits >>= 7U) {
        const std::size_t word = (bits & 127U) + 128 * (i & 1U);
        made.words[i] =
            std::string_view(words_).substr(starts_[word], starts_[word + 1] - starts_[word]);
    }
    return made;
}

subject_words::chosen subject_words::choose_encoded(std::uint64_t bits) const noexcept {
    chosen made;
    made.count = 1 + (bits & 3U);
    bits >>= 2U;
    const std::size_t first = (bits & 0xffU) % (language_count - 1) * encoded_count;
    bits >>= 8U;
    for (std::size_t i = 0; i < made.count; ++i, bits >>= 3U)
        made.words[i] = (i == 0 ? first_ : next_)[first + (bits & (encoded_count - 1))];
    return made;
}

}  // namespace postal::mail
