// See difference.hpp. What a relay may do to lines is a table of rules; each is tried on the line
// that differs first, and on all lines from there on. A rule (or a cut, or what was added) that
// explains the whole rest wins; else the cause that explains most of what follows.
#include "mail/difference.hpp"

#include "base/text.hpp"
#include "mail/message_factory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace postal::mail {
namespace {

using octets = std::string_view;

constexpr std::size_t least_agreed = 8;  // octets behind a cause, to believe in it
constexpr std::string_view any_other = "From, To, Message-ID or X-Postal-Id";

struct both {
    octets made;
    octets received;
    std::size_t at = 0;  // where they part
};

std::size_t common_prefix(octets a, octets b) noexcept {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                    a.begin());
}

std::size_t line_start(octets text, std::size_t at) noexcept {
    const std::size_t before = at == 0 ? octets::npos : text.rfind('\n', at - 1);
    return before == octets::npos ? 0 : before + 1;
}

std::uint64_t line_number(octets text, std::size_t at) noexcept {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(line_start(text, at));
    return 1 + static_cast<std::uint64_t>(std::count(text.begin(), end, '\n'));
}

// A line of the body as made: its octets, and CRLF or, at the very end, nothing.
struct line_parts {
    octets text;
    octets ending;
};

using rewrite_line = void (*)(const line_parts& line, std::string& out);

void lose_dot(const line_parts& line, std::string& out) {
    out += line.text.substr(line.text.starts_with('.') ? 1 : 0);
    out += line.ending;
}

void add_dot(const line_parts& line, std::string& out) {
    if (line.text.starts_with('.')) out += '.';
    out += line.text;
    out += line.ending;
}

void cut_blanks(const line_parts& line, std::string& out) {
    out += line.text.substr(0, line.text.find_last_not_of(" \t") + 1);
    out += line.ending;
}

void strip_eighth_bit(const line_parts& line, std::string& out) {
    for (const char c : line.text)
        out += static_cast<char>(static_cast<unsigned char>(c) & 0x7fU);
    out += line.ending;
}

void end_in_lf(const line_parts& line, std::string& out) {
    out += line.text;
    out += line.ending.empty() ? "" : "\n";
}

void end_in_cr(const line_parts& line, std::string& out) {
    out += line.text;
    out += line.ending.empty() ? "" : "\r";
}

void end_in_cr_cr_lf(const line_parts& line, std::string& out) {
    out += line.text;
    out += line.ending.empty() ? "" : "\r\r\n";
}

struct line_rule {
    difference_kind kind;
    rewrite_line rewrite;
    std::string_view name;
};
constexpr std::array line_rules{
    line_rule{difference_kind::dot_lost, lose_dot, {}},
    line_rule{difference_kind::dot_added, add_dot, {}},
    line_rule{difference_kind::trailing_blanks_cut, cut_blanks, {}},
    line_rule{difference_kind::eight_bit_stripped, strip_eighth_bit, {}},
    line_rule{difference_kind::line_ends_changed, end_in_lf, "LF"},
    line_rule{difference_kind::line_ends_changed, end_in_cr, "CR"},
    line_rule{difference_kind::line_ends_changed, end_in_cr_cr_lf, "CRCRLF"},
};

enum class scope : std::uint8_t { this_line, from_here };

// How far a rule explains what was received.
struct explanation {
    bool complete = false;
    std::size_t reached = 0;  // in received
};

bool is_line_end(octets text) noexcept {
    return text == "\r\n" || text == "\n" || text == "\r";
}

explanation explain(const both& compared, const line_rule& rule, scope where) {
    const std::size_t begin = line_start(compared.made, compared.at);
    octets made = compared.made.substr(begin);
    octets received = compared.received.substr(begin);
    std::string line;
    bool first = true;
    while (!made.empty()) {
        const std::size_t end = std::min(made.find("\r\n"), made.size());
        const octets whole = made.substr(0, end + 2);
        made.remove_prefix(whole.size());
        line.clear();
        if (first || where == scope::from_here) {
            rule.rewrite({whole.substr(0, end), whole.substr(end)}, line);
        } else {
            line = whole;
        }
        if (first && line == whole) return {};
        first = false;
        const std::size_t same = common_prefix(line, received);
        received.remove_prefix(same);
        if (same < line.size()) {
            const bool no_newline =
                received.empty() && made.empty() && is_line_end(octets(line).substr(same));
            return {no_newline, compared.received.size() - received.size()};
        }
    }
    if (first) return {};
    return {received.empty() || is_line_end(received), compared.received.size() - received.size()};
}

difference by_rule(const both& compared, const line_rule& rule) {
    difference found;
    found.kind = rule.kind;
    found.octet = compared.at + 1;
    found.line = line_number(compared.made, compared.at);
    found.name = rule.name;
    if (rule.kind == difference_kind::eight_bit_stripped) {
        found.from = static_cast<std::uint8_t>(compared.made[compared.at]);
        found.to = static_cast<std::uint8_t>(compared.received[compared.at]);
    }
    return found;
}

// Cut off there, perhaps with the CRLF that a POP3 server supplies before its final dot.
std::optional<difference> by_cut(const both& compared) {
    std::size_t there = compared.received.size();
    if (!compared.made.starts_with(compared.received)) {
        if (!compared.received.ends_with("\r\n")) return std::nullopt;
        there -= 2;
        if (!compared.made.starts_with(compared.received.substr(0, there))) return std::nullopt;
    }
    if (there >= compared.made.size()) return std::nullopt;
    difference found;
    found.kind = difference_kind::truncated;
    found.octet = there + 1;
    return found;
}

std::optional<difference> by_addition(const both& compared) {
    octets made = compared.made;
    if (!compared.received.starts_with(made)) {
        if (!made.ends_with("\r\n")) return std::nullopt;
        made.remove_suffix(2);
        if (made.empty() || !compared.received.starts_with(made)) return std::nullopt;
    }
    difference found;
    found.kind = difference_kind::extra;
    found.octet = made.size() + 1;
    found.octets = compared.received.size() - made.size();
    return found;
}

difference by_change(const both& compared) {
    difference found;
    found.kind = difference_kind::changed;
    found.octet = compared.at + 1;
    found.from = static_cast<std::uint8_t>(compared.made[compared.at]);
    found.to = static_cast<std::uint8_t>(compared.received[compared.at]);
    const std::size_t most = std::min(compared.made.size(), compared.received.size());
    for (std::size_t i = compared.at; i < most; ++i)
        found.octets += compared.made[i] != compared.received[i] ? 1U : 0U;
    return found;
}

std::size_t size_without_newline(octets text) noexcept {
    return text.size() - (text.ends_with("\r\n") ? 2 : 0);
}

// Same size, and less than half of the rest differs: octets were changed in their places.
bool is_changed_in_place(const both& compared, const difference& change) noexcept {
    if (size_without_newline(compared.made) != size_without_newline(compared.received)) {
        return false;
    }
    return change.octets == 1 || 2 * change.octets < compared.made.size() - compared.at;
}

// No cause explains all: the one that explains most of what follows the place.
difference by_most_explained(const both& compared) {
    difference found;
    found.octet = compared.at + 1;
    std::size_t reached = compared.at + least_agreed;
    for (const line_rule& rule : line_rules) {
        for (const scope where : {scope::this_line, scope::from_here}) {
            const explanation each = explain(compared, rule, where);
            if (each.reached <= reached) continue;
            reached = each.reached;
            found = by_rule(compared, rule);
        }
    }
    const std::size_t behind = compared.at + 1;
    const std::size_t same =
        common_prefix(compared.made.substr(behind), compared.received.substr(behind));
    if (behind + same <= reached) return found;
    found = by_change(compared);
    found.octets = 1;
    return found;
}

difference compare_bodies(octets made, octets received) {
    const both compared{made, received, common_prefix(made, received)};
    for (const line_rule& rule : line_rules) {
        for (const scope where : {scope::this_line, scope::from_here}) {
            if (explain(compared, rule, where).complete) return by_rule(compared, rule);
        }
    }
    if (const auto cut = by_cut(compared)) return *cut;
    if (const auto addition = by_addition(compared)) return *addition;
    const difference change = by_change(compared);
    return is_changed_in_place(compared, change) ? change : by_most_explained(compared);
}

// The value of the first field of that name, without blanks around; empty when there is none.
octets find_field(octets section, octets name) noexcept {
    while (!section.empty()) {
        const octets line = section.substr(0, std::min(section.find('\n'), section.size() - 1) + 1);
        section.remove_prefix(line.size());
        const std::size_t colon = line.find(':');
        if (colon == octets::npos || !base::iequals(line.substr(0, colon), name)) continue;
        return base::trim(line.substr(colon + 1));
    }
    return {};
}

// "subject:value CRLF CRLF": what the digest makes of one field.
std::string canonical_field(const header_section& section, covered field) {
    std::string text;
    append_canonical(section, static_cast<coverage>(1U << static_cast<unsigned>(field)), text);
    return text;
}

// message_factory's words of a Subject: two to eight, the first bits say how many.
std::string subject_text(const message_plan::constants& prepared, std::uint64_t bits) {
    std::string text;
    const std::size_t words = 2 + (bits & 7U) * 6 / 7;
    bits >>= 3U;
    for (std::size_t i = 0; i < words; ++i, bits >>= 7U) {
        if (i > 0) text += ' ';
        const std::size_t word = (bits & 127U) + 128 * (i & 1U);
        const std::size_t begin = prepared.starts[word];
        text.append(prepared.words, begin, prepared.starts[word + 1] - begin);
    }
    return text;
}

// The Subject is drawn behind kind and size, and the receiver does not know how many draws a run's
// mix of kinds and spread of sizes took; so it is whole when it follows from any small number.
bool is_our_subject(std::string_view canonical, const identity& id) {
    constexpr int most_draws = 512;
    message_options options;
    options.seed = id.seed;
    const auto plan = message_plan::create(std::move(options));
    if (!plan.has_value()) return true;
    base::random_source random(base::mix(id.seed, id.session, id.sequence));
    for (int draw = 0; draw < most_draws; ++draw) {
        const std::string made = subject_text((*plan)->prepared(), random.next());
        if (canonical == "subject:" + made + "\r\n\r\n") return true;
    }
    return false;
}

bool is_our_date(std::string_view canonical, const identity& id) {
    using namespace std::chrono;
    constexpr std::uint64_t most_us = 9'000'000'000'000'000;  // what system_clock can hold
    if (id.time_us > most_us) return false;
    date_text date;
    const auto made = date.at(system_clock::time_point(microseconds(id.time_us)));
    return canonical == "date:" + std::string(made) + "\r\n\r\n";
}

bool is_our_message_id(std::string_view canonical, const identity& id) {
    std::string begin = "message-id:<";
    append_run(id.run, begin);
    begin += fmt::format(".{}.{}@", id.session, id.sequence);
    return canonical.starts_with(begin) && canonical.ends_with(">\r\n\r\n");
}

bool is_in_brackets(std::string_view canonical, const identity&) {
    return canonical.find(":<") == canonical.find(':') && canonical.ends_with(">\r\n\r\n");
}

bool is_our_to(std::string_view canonical, const identity& id) {
    return canonical.ends_with(":undisclosed-recipients:;\r\n\r\n") ||
           is_in_brackets(canonical, id);
}

struct field_rule {
    covered field;
    std::string_view name;
    bool (*is_ours)(std::string_view canonical, const identity& id);
};
constexpr std::array<field_rule, covered_fields> field_rules{
    {{covered::from, "From", is_in_brackets},
     {covered::to, "To", is_our_to},
     {covered::subject, "Subject", is_our_subject},
     {covered::date, "Date", is_our_date},
     {covered::message_id, "Message-ID", is_our_message_id}}};

// Where relays note what From and To were made of.
struct noted_rule {
    covered field;
    std::string_view name;
    std::string_view noted_in;
};
constexpr std::array noted_rules{noted_rule{covered::from, "From", "Return-Path"},
                                 noted_rule{covered::to, "To", "X-Original-To"},
                                 noted_rule{covered::to, "To", "Delivered-To"},
                                 noted_rule{covered::to, "To", "Envelope-To"}};

bool digest_matches(const header_section& fields, octets body, const identity& id) {
    if (!is_available(id.digest.kind)) return false;
    std::string canonical;
    append_canonical(fields, id.covers, canonical);
    body_digester digester;
    digester.begin(id.digest.kind, canonical);
    digester.feed(body);
    return digester.finish() == id.digest;
}

// The body is whole, the digest does not match: which field?
difference compare_headers(octets section, octets body, const identity& id) {
    const header_section found = scan_headers(section);
    difference result;
    result.kind = difference_kind::header_rewritten;
    for (const field_rule& rule : field_rules) {
        const auto bit = 1U << static_cast<unsigned>(rule.field);
        if ((id.covers & bit) == 0) continue;
        result.name = rule.name;
        if ((found.present & bit) == 0) return result;
        if (!rule.is_ours(canonical_field(found, rule.field), id)) return result;
    }
    for (const noted_rule& rule : noted_rules) {
        octets noted = find_field(section, rule.noted_in);
        if (noted.starts_with('<') && noted.ends_with('>'))
            noted = noted.substr(1, noted.size() - 2);
        const std::string value = "<" + std::string(noted) + ">";
        header_section as_made = found;
        as_made.values[static_cast<std::size_t>(rule.field)] = value;
        result.name = rule.name;
        if (!noted.empty() && digest_matches(as_made, body, id)) return result;
    }
    result.name = any_other;
    return result;
}

// Empty, or the Content-Transfer-Encoding that none of our messages has.
std::string_view recoded_as(octets section) noexcept {
    const octets encoding = find_field(section, "Content-Transfer-Encoding");
    for (const std::string_view each : {"quoted-printable", "base64"}) {
        if (base::iequals(encoding, each)) return each;
    }
    return {};
}

difference of_kind(difference_kind kind) noexcept {
    difference found;
    found.kind = kind;
    return found;
}

}  // namespace

difference diagnose(std::string_view received, const identity* id, body_rebuilder& rebuilder) {
    const std::size_t end = header_end(received);
    const bool has_body = end != octets::npos;
    if (id == nullptr) {
        return of_kind(has_body ? difference_kind::unreadable_identity
                                : difference_kind::truncated);
    }
    const octets section = received.substr(0, end);
    const octets body = has_body ? received.substr(end) : octets{};
    difference found = of_kind(difference_kind::other);
    if (digest_matches(scan_headers(section), body, *id)) {
        found.kind = difference_kind::none;
    } else if (const auto made = rebuilder.body(*id); !made.has_value()) {
        found.kind = difference_kind::other;
    } else if (!first_difference(*made, body)) {
        found = compare_headers(section, body, *id);
    } else if (const auto encoding = recoded_as(section); !encoding.empty()) {
        found.kind = difference_kind::recoded;
        found.name = encoding;
    } else if (!has_body) {
        found.kind = difference_kind::truncated;
    } else {
        found = compare_bodies(*made, body);
        if (found.octet > 0) found.octet += id->head;
    }
    found.size = id->size;
    return found;
}

std::string_view name_of(difference_kind kind) noexcept {
    constexpr std::array<std::string_view, 13> names{"none",
                                                     "truncated",
                                                     "changed",
                                                     "8bit-stripped",
                                                     "recoded",
                                                     "dot-added",
                                                     "dot-lost",
                                                     "line-ends-changed",
                                                     "trailing-blanks-cut",
                                                     "header-rewritten",
                                                     "extra",
                                                     "unreadable-identity",
                                                     "other"};
    return names[static_cast<std::size_t>(kind)];
}

std::string to_text(const difference& found) {
    switch (found.kind) {
        case difference_kind::none:
            return "not changed";
        case difference_kind::truncated:
            if (found.octet == 0) return "truncated within the headers";
            return fmt::format("truncated at byte {} of {}", found.octet, found.size);
        case difference_kind::changed: {
            auto text = fmt::format("byte {} changed from {:#04x} to {:#04x}", found.octet,
                                    found.from, found.to);
            if (found.octets > 1) text += fmt::format(", {} bytes in all", found.octets);
            return text;
        }
        case difference_kind::eight_bit_stripped:
            return fmt::format("8th bit stripped from byte {} on, {:#04x} became {:#04x}",
                               found.octet, found.from, found.to);
        case difference_kind::recoded:
            return fmt::format("body recoded as {}", found.name);
        case difference_kind::dot_added:
            return fmt::format("dot added at line {}", found.line);
        case difference_kind::dot_lost:
            return fmt::format("dot lost at line {}", found.line);
        case difference_kind::line_ends_changed:
            return fmt::format("line endings changed from CRLF to {} at line {}", found.name,
                               found.line);
        case difference_kind::trailing_blanks_cut:
            return fmt::format("trailing blanks cut at line {}", found.line);
        case difference_kind::header_rewritten:
            return fmt::format("header {} rewritten", found.name);
        case difference_kind::extra:
            return fmt::format("{} bytes too many from byte {} on", found.octets, found.octet);
        case difference_kind::unreadable_identity:
            return "identity header unreadable";
        case difference_kind::other:
            break;
    }
    if (found.octet == 0) return "differs, and cannot be remade to say how";
    return fmt::format("differs from byte {} on", found.octet);
}

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
    const octets digest = find_field(section, old_digest_field);
    return digest.size() == old_digest_digits && !find_field(section, "X-Postal").empty() &&
           digest.find_first_not_of("0123456789abcdef") == octets::npos;
}

std::optional<bool> check_old_postal(std::string_view message) {
    constexpr std::array<std::string_view, covered_fields> names{
        "From:", "To:", "Subject:", "Date:", "Message-Id:"};
    const std::size_t end = header_end(message);
    const octets section = message.substr(0, end);
    if (!is_old_postal(section)) return std::nullopt;
    const header_section fields = scan_headers(section);
    std::string covered_text;
    for (std::size_t i = 0; i < covered_fields; ++i)
        covered_text.append(names[i]).append(fields.values[i]);
    if (end != octets::npos) covered_text += message.substr(end);
    const octets digest = find_field(section, old_digest_field);
    return old_md5<std::uint64_t>::of(covered_text) == digest ||
           old_md5<std::uint32_t>::of(covered_text) == digest;
}

}  // namespace postal::mail
