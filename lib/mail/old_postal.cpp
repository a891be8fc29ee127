// SPDX-License-Identifier: GPL-3.0-or-later
// See old_postal.hpp.
#include "mail/old_postal.hpp"

#include "mail/canonical.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace postal::mail {
namespace {

constexpr std::string_view old_digest_field = "X-PostalHash";
constexpr std::size_t old_digest_digits = 32;

// RFC 1321, with words of either length: shifts and sums do not wrap at 32 bits when they are 64.
template <class Word>
class old_md5 {
  public:
    static std::string of(std::string text) {
        const std::uint64_t bits = 8 * static_cast<std::uint64_t>(text.size());
        text += '\x80';
        text.append((block + 56 - text.size() % block) % block, '\0');
        for (unsigned shift = 0; shift < 64; shift += 8)
            text += static_cast<char>(bits >> shift);
        std::array<Word, 4> sum{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U};
        for (std::size_t at = 0; at < text.size(); at += block)
            add_block(std::string_view(text).substr(at, block), sum);
        std::string digits;
        for (const Word word : sum) {
            for (unsigned shift = 0; shift < 32; shift += 8)
                digits += fmt::format("{:02x}", static_cast<std::uint8_t>(word >> shift));
        }
        return digits;
    }

  private:
    static constexpr std::size_t block = 64;

    static const std::array<std::uint32_t, block>& sines() {
        static const auto made = [] {
            std::array<std::uint32_t, block> table{};
            for (std::size_t i = 0; i < block; ++i) {
                const double sine = std::abs(std::sin(static_cast<double>(i + 1)));
                table[i] = static_cast<std::uint32_t>(sine * 0x1p32);
            }
            return table;
        }();
        return made;
    }

    static void add_block(std::string_view octets_of_block, std::array<Word, 4>& sum) {
        constexpr unsigned turns[4][4]{
            {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
        std::array<Word, 16> words{};
        for (std::size_t i = 0; i < block; ++i) {
            words[i / 4] |= static_cast<Word>(static_cast<unsigned char>(octets_of_block[i]))
                            << 8 * (i % 4);
        }
        auto [a, b, c, d] = sum;
        for (std::size_t step = 0; step < block; ++step) {
            const std::array<Word, 4> mixed{(b & c) | (~b & d), (b & d) | (c & ~d), b ^ c ^ d,
                                            c ^ (b | ~d)};
            const std::array<std::size_t, 4> at{step, 5 * step + 1, 3 * step + 5, 7 * step};
            const std::size_t round = step / 16;
            const Word total = a + mixed[round] + words[at[round] % 16] + sines()[step];
            const unsigned turn = turns[round][step % 4];
            a = d;
            d = c;
            c = b;
            b += total << turn | total >> (32 - turn);
        }
        sum[0] += a;
        sum[1] += b;
        sum[2] += c;
        sum[3] += d;
    }
};

}  // namespace

bool is_old_postal(std::string_view section) noexcept {
    const std::string_view digest = find_value(section, old_digest_field);
    return digest.size() == old_digest_digits && !find_value(section, "X-Postal").empty() &&
           digest.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<bool> check_old_postal(std::string_view message) {
    constexpr std::array<std::string_view, covered_fields> names{
        "From:", "To:", "Subject:", "Date:", "Message-Id:"};
    const std::size_t end = header_end(message);
    const std::string_view section = message.substr(0, end);
    if (!is_old_postal(section)) return std::nullopt;
    const header_section found = scan_headers(section);
    std::string covered_text;
    for (std::size_t i = 0; i < covered_fields; ++i)
        covered_text.append(names[i]).append(found.values[i]);
    if (end != std::string_view::npos) covered_text += message.substr(end);
    const std::string_view digest = find_value(section, old_digest_field);
    return old_md5<std::uint64_t>::of(covered_text) == digest ||
           old_md5<std::uint32_t>::of(covered_text) == digest;
}

}  // namespace postal::mail
