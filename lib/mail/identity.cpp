// SPDX-License-Identifier: GPL-3.0-or-later
// See identity.hpp.
#include "mail/identity.hpp"

#include "base/text.hpp"
#include "mail/text_writer.hpp"

#include <array>
#include <bit>
#include <charconv>

namespace postal::mail {
namespace {

constexpr std::size_t most_id_octets = 1024;
constexpr std::size_t most_fields = 32;
constexpr std::string_view coverage_letters = "ftsdm";
constexpr std::string_view given_word = "given";
constexpr std::string_view given_subject = "; subject=given";

bool parse_decimal(std::string_view text, std::uint64_t& into) noexcept {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), into, 10);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

bool parse_run(std::string_view text, identity& into) noexcept {
    if (text.size() != 16) return false;
    const auto result = std::from_chars(text.data(), text.data() + 16, into.run, 16);
    return result.ec == std::errc() && result.ptr == text.data() + 16 && into.run != 0;
}

bool parse_kind(std::string_view text, identity& into) noexcept {
    const auto kind = kind_of(text);
    if (kind) into.kind = *kind;
    return kind.has_value();
}

bool parse_time(std::string_view text, identity& into) noexcept {
    constexpr std::uint64_t most_seconds = 1'000'000'000'000;
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos || text.size() - dot != 7) return false;
    std::uint64_t seconds = 0;
    std::uint64_t micros = 0;
    if (!parse_decimal(text.substr(0, dot), seconds) || seconds > most_seconds) return false;
    if (!parse_decimal(text.substr(dot + 1), micros)) return false;
    into.time_us = seconds * 1'000'000 + micros;
    return true;
}

bool parse_coverage(std::string_view text, identity& into) noexcept {
    into.covers = 0;
    for (const char letter : text) {
        const std::size_t bit = coverage_letters.find(letter);
        if (bit == std::string_view::npos) return false;
        into.covers |= static_cast<coverage>(1U << bit);
    }
    return true;
}

bool parse_subject_mark(std::string_view text, identity& into) noexcept {
    into.given_subject = text == given_word;
    return true;
}

bool parse_sum(std::string_view text, identity& into) noexcept {
    const auto value = parse_digest(text);
    if (value) into.digest = *value;
    return value.has_value();
}

template <std::uint64_t identity::*Member>
bool parse_number(std::string_view text, identity& into) noexcept {
    return parse_decimal(text, into.*Member);
}

struct field_row {
    std::string_view name;
    bool (*parse)(std::string_view, identity&) noexcept;
};
// The first of them are required.
constexpr std::array<field_row, 11> fields{{{"run", parse_run},
                                            {"s", parse_number<&identity::session>},
                                            {"n", parse_number<&identity::sequence>},
                                            {"seed", parse_number<&identity::seed>},
                                            {"kind", parse_kind},
                                            {"size", parse_number<&identity::size>},
                                            {"head", parse_number<&identity::head>},
                                            {"t", parse_time},
                                            {"d", parse_sum},
                                            {"h", parse_coverage},
                                            {"subject", parse_subject_mark}}};
constexpr unsigned required_fields = (1U << 9U) - 1;

// Parses one "name=value" and marks it in seen; false when it is damaged or given twice.
bool parse_field(std::string_view piece, unsigned& seen, identity& into) noexcept {
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = piece.substr(0, equals);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].name != name) continue;
        if ((seen & (1U << i)) != 0) return false;
        seen |= 1U << i;
        return fields[i].parse(piece.substr(equals + 1), into);
    }
    return true;
}

}  // namespace

identity_parse parse_identity(std::string_view value, identity& into) noexcept {
    into = {};
    if (value.size() > most_id_octets) return identity_parse::unreadable;
    unsigned seen = 0;
    for (std::size_t count = 0; !value.empty(); ++count) {
        if (count == most_fields) return identity_parse::unreadable;
        const std::size_t end = value.find(';');
        const std::string_view piece = base::trim(value.substr(0, end));
        value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
        if (count == 0) {
            if (!piece.starts_with("v=")) return identity_parse::unreadable;
            std::uint64_t version = 0;
            if (!parse_decimal(piece.substr(2), version)) return identity_parse::unreadable;
            if (version != 1) return identity_parse::other_version;
        } else if (!piece.empty() && !parse_field(piece, seen, into)) {
            return identity_parse::unreadable;
        }
    }
    const bool complete = (seen & required_fields) == required_fields;
    return complete && into.head <= into.size ? identity_parse::ok : identity_parse::unreadable;
}

bool correct_by_message_id(std::string_view value, identity& id) noexcept {
    constexpr auto message_id = 1U << static_cast<unsigned>(covered::message_id);
    if (id.kind == body_kind::corpus || (id.covers & message_id) == 0) return false;
    value = base::trim(value);
    const std::size_t first = value.find('.');
    const std::size_t second = value.find('.', first + 1);
    const std::size_t at = value.find('@');
    if (!value.starts_with('<') || first == std::string_view::npos || second >= at ||
        at == std::string_view::npos) {
        return false;
    }
    identity says = id;
    const bool ours = parse_run(value.substr(1, first - 1), says) &&
                      parse_decimal(value.substr(first + 1, second - first - 1), says.session) &&
                      parse_decimal(value.substr(second + 1, at - second - 1), says.sequence);
    if (!ours || says == id) return false;
    id = says;
    return true;
}

void write_identity(const identity& id, text_writer& out) noexcept {
    out.put("v=1; run=");
    out.hex(id.run);
    out.put("; s=");
    out.decimal(id.session);
    out.put("; n=");
    out.decimal(id.sequence);
    out.put("; seed=");
    out.decimal(id.seed);
    out.put("; kind=");
    out.put(name_of(id.kind));
    out.put("; size=");
    out.decimal(id.size);
    out.put("; head=");
    out.decimal(id.head);
    out.put(";\r\n t=");
    out.decimal(id.time_us / 1'000'000);
    out.put('.');
    out.padded(id.time_us % 1'000'000, 6);
    if (id.covers != all_covered) {
        out.put("; h=");
        for (std::size_t i = 0; i < covered_fields; ++i) {
            if ((id.covers & (1U << i)) != 0) out.put(coverage_letters[i]);
        }
    }
    if (id.given_subject) out.put(given_subject);
    out.put("; d=");
    out.put(name_of(id.digest.kind));
    out.put(':');
    for (std::size_t i = 0; i < octets_of(id.digest.kind); ++i)
        out.hex(id.digest.octets[i]);
}

std::size_t identity_octets(const identity& id) noexcept {
    constexpr std::size_t names_and_run =
        std::string_view("v=1; run=; s=; n=; seed=; kind=; size=; head=;\r\n t=.; d=:").size() +
        16 + 6;
    std::size_t octets = names_and_run + decimal_digits(id.session) + decimal_digits(id.sequence) +
                         decimal_digits(id.seed) + name_of(id.kind).size() +
                         decimal_digits(id.size) + decimal_digits(id.head) +
                         decimal_digits(id.time_us / 1'000'000) + name_of(id.digest.kind).size() +
                         2 * octets_of(id.digest.kind);
    if (id.covers != all_covered) {
        octets += 4 + static_cast<std::size_t>(std::popcount(id.covers));
    }
    if (id.given_subject) octets += given_subject.size();
    return octets;
}

std::string to_text(const identity& id) {
    std::string text(identity_octets(id), '\0');
    text_writer writer(text.data());
    write_identity(id, writer);
    return text;
}

void append_run(std::uint64_t run, std::string& out) {
    const std::size_t before = out.size();
    out.resize(before + 16);
    text_writer writer(out.data() + before);
    writer.hex(run);
}

}  // namespace postal::mail
