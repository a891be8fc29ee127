// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/data_decoder.hpp"
#include "proto/octet_masks.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

using namespace postal::proto;

namespace {

struct decoded {
    std::string content;
    bool end = false;
    bool bare = false;
    std::size_t consumed = 0;
    bool operator==(const decoded&) const = default;
};

std::ostream& operator<<(std::ostream& out, const decoded& value) {
    return out << '"' << value.content << "\" end=" << value.end << " bare=" << value.bare
               << " consumed=" << value.consumed;
}

// Feeds the pieces in turn, each to its end, until the end of data.
decoded feed(const std::vector<std::string>& pieces) {
    data_decoder decoder;
    decoded result;
    for (const std::string& piece : pieces) {
        std::string_view left = piece;
        while (!left.empty() && !result.end) {
            const data_step step = decoder.next(left);
            result.content += step.content;
            result.consumed += step.consumed;
            result.end = step.end;
            left.remove_prefix(step.consumed);
        }
    }
    result.bare = decoder.bare_newline();
    return result;
}

// The same rules, written as slowly and plainly as possible.
decoded by_hand(const std::string& input) {
    decoded result;
    bool line_start = true;
    std::size_t at = 0;
    while (at < input.size()) {
        if (line_start && input[at] == '.') {
            if (input.compare(at, 3, ".\r\n") == 0) {
                result.end = true;
                at += 3;
                break;
            }
            ++at;
            line_start = false;
            // A dot, or a dot and CR, at the very end say nothing yet.
            if (at == input.size() || (at + 1 == input.size() && input[at] == '\r')) {
                at = input.size();
                break;
            }
            continue;
        }
        line_start = false;
        if (input.compare(at, 2, "\r\n") == 0) {
            result.content += "\r\n";
            at += 2;
            line_start = true;
            continue;
        }
        const bool last = at + 1 == input.size();
        if (input[at] == '\n' || (input[at] == '\r' && !last)) result.bare = true;
        result.content += input[at++];
    }
    result.consumed = at;
    return result;
}

std::vector<std::string> octets(const std::string& text) {
    std::vector<std::string> pieces;
    for (const char c : text)
        pieces.emplace_back(1, c);
    return pieces;
}

void check_all_splits(const std::string& input) {
    const decoded wanted = by_hand(input);
    CAPTURE(input);
    CHECK(feed({input}) == wanted);
    CHECK(feed(octets(input)) == wanted);
    for (std::size_t at = 1; at < input.size(); ++at) {
        const decoded found = feed({input.substr(0, at), input.substr(at)});
        if (!(found == wanted)) {
            CAPTURE(at);
            CHECK(found == wanted);
        }
    }
}

}  // namespace

TEST_CASE("data_decoder: the end is CRLF.CRLF and nothing else") {
    struct row {
        std::string input, content;
        bool end, bare;
        std::string reason;
    };
    const row rows[] = {
        {".\r\n", "", true, false, "an empty message"},
        {"a\r\n.\r\n", "a\r\n", true, false, "one line"},
        {"\r\n.\r\n", "\r\n", true, false, "an empty line"},
        {"..\r\n.\r\n", ".\r\n", true, false, "a stuffed dot"},
        {".a\r\n.\r\n", "a\r\n", true, false, "a dot that nobody stuffed is taken, RFC 5321 4.5.2"},
        {"...\r\n.\r\n", "..\r\n", true, false, "two dots"},
        {"a.\r\n.\r\n", "a.\r\n", true, false, "a dot at the end of a line"},
        {"a\n.\n", "a\n.\n", false, true, "LF.LF"},
        {"a\n.\r\n", "a\n.\r\n", false, true, "LF.CRLF"},
        {"a\r\n.\n", "a\r\n\n", false, true, "CRLF.LF: a stuffed dot and a bare LF"},
        {"a\r.\r", "a\r.\r", false, true, "CR.CR"},
        {"a\r.\r\n", "a\r.\r\n", false, true, "CR.CRLF"},
        {"a\r\n.\r", "a\r\n", false, false, "CRLF.CR at the end of the input: held back"},
        {"a\r\n.\rb", "a\r\n\rb", false, true, "CRLF.CR is no end"},
        {"a\r\n.\r\r\n", "a\r\n\r\r\n", false, true, "CRLF.CR CRLF"},
        {"a\n\r\n.\r\n", "a\n\r\n", true, true, "a bare LF before a good end"},
        {"a\r\r\n.\r\n", "a\r\r\n", true, true, "a bare CR before a good end"},
        {"\n.\r\n", "\n.\r\n", false, true, "LF as the first octet"},
        {std::string("\0\r\n.\r\n", 6), std::string("\0\r\n", 3), true, false, "NUL is content"},
    };
    for (const row& wanted : rows) {
        CAPTURE(wanted.reason);
        const decoded found = feed({wanted.input});
        CHECK(found.content == wanted.content);
        CHECK(found.end == wanted.end);
        CHECK(found.bare == wanted.bare);
        CHECK(found.consumed == wanted.input.size());
        check_all_splits(wanted.input);
    }
}

TEST_CASE("data_decoder: what follows the end is left alone") {
    const decoded found = feed({"a\r\n.\r\nQUIT\r\n"});
    CHECK(found.end);
    CHECK(found.consumed == 6);
}

TEST_CASE("data_decoder: dots and line ends around every block border") {
    for (std::size_t before = 55; before < 75; ++before) {
        for (const char* tail : {"\r\n..b\r\n.\r\n", "\r\n.\r\n", "\n.\r\n\r\n.\r\n",
                                 "\r.\r\n.\r\n", "\r\n.x\r\r\n.\r\n"}) {
            check_all_splits(std::string(before, 'x') + tail);
            check_all_splits(std::string(before + 64, 'x') + tail);
        }
    }
}

TEST_CASE("data_decoder: agrees with the plain rules on random input, however it is split") {
    std::mt19937 random(7);
    const std::string alphabet = "\r\n.\r\n.a";
    for (int round = 0; round < 20000; ++round) {
        std::string input;
        const std::size_t length = random() % 200;
        for (std::size_t i = 0; i < length; ++i)
            input += alphabet[random() % alphabet.size()];
        const decoded wanted = by_hand(input);
        std::vector<std::string> pieces;
        for (std::size_t at = 0; at < input.size();) {
            const std::size_t taken = 1 + random() % 90;
            pieces.push_back(input.substr(at, taken));
            at += taken;
        }
        CAPTURE(input);
        const decoded found = feed(pieces);
        if (!(found == wanted)) FAIL("wanted " << wanted << "\nfound " << found);
    }
}

TEST_CASE("octet_masks: the fast finder finds what the plain one finds") {
    std::mt19937 random(3);
    std::string octets(20 * mask_block, 0);
    for (char& c : octets)
        c = static_cast<char>(
            "\r\n.\x8d\x8a\xae"
            "ab"[random() % 8]);
    std::vector<octet_masks> fast(20), plain(20);
    octet_mask_finder()(octets.data(), 20, fast.data());
    find_octet_masks_plainly(octets.data(), 20, plain.data());
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(fast[i].cr == plain[i].cr);
        CHECK(fast[i].lf == plain[i].lf);
        CHECK(fast[i].dot == plain[i].dot);
    }
}

TEST_CASE("octet_masks: the fast check of line ends says what the plain one says") {
    std::string octets(1 + 3 * mask_block, 'x');
    for (std::size_t at = 1; at + 1 < octets.size(); ++at) {
        for (const char* put : {"\r\n", "\n\r", "\r\r", "x\n", "\x8d\x8a"}) {
            std::string changed = octets;
            changed.replace(at, 2, put);
            CHECK(line_end_checker()(changed.data() + 1, 3) ==
                  check_line_ends_plainly(changed.data() + 1, 3));
        }
    }
}

TEST_CASE("data_decoder: a chunk's bare line ends are seen wherever they are and it is cut") {
    for (const std::size_t size : {1U, 2U, 16U, 17U, 31U, 32U, 33U, 34U, 64U, 65U, 97U, 200U}) {
        std::string lines;
        while (lines.size() < size)
            lines += "0123456789\r\n";
        lines.resize(size, 'x');
        if (lines.back() == '\r') lines.back() = 'x';
        for (std::size_t place = 0; place <= size; ++place) {
            for (const char put : {'\r', '\n', 'x'}) {
                std::string chunk = lines;
                if (place < size) chunk[place] = put;
                const bool wanted = by_hand(chunk).bare;
                for (std::size_t cut = 0; cut <= size; ++cut) {
                    data_decoder decoder;
                    decoder.look(std::string_view(chunk).substr(0, cut));
                    decoder.look(std::string_view(chunk).substr(cut));
                    if (decoder.bare_newline() == wanted &&
                        decoder.ends_in_cr() == (chunk.back() == '\r'))
                        continue;
                    CAPTURE(size, place, static_cast<int>(put), cut);
                    CHECK(decoder.bare_newline() == wanted);
                    CHECK(decoder.ends_in_cr() == (chunk.back() == '\r'));
                }
            }
        }
    }
}
