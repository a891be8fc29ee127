// SPDX-License-Identifier: GPL-3.0-or-later
// See header_difference.hpp. Each field is a row: how to tell whether it is as made.
#include "mail/header_difference.hpp"

#include "mail/message_factory.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace postal::mail {
namespace {

constexpr std::string_view any_other = "From, To, Message-ID or X-Postal-Id";
constexpr std::string_view any_other_or_subject = "From, To, Subject, Message-ID or X-Postal-Id";

// "subject:value CRLF CRLF": what the digest makes of one field.
std::string canonical_field(const header_section& section, covered field) {
    std::string text;
    append_canonical(section, static_cast<coverage>(1U << static_cast<unsigned>(field)), text);
    return text;
}

std::string subject_text(const subject_words& subjects, std::uint64_t bits, body_kind kind) {
    const subject_words::chosen made = subjects.choose(bits, kind);
    return fmt::format("{}", fmt::join(made.words.begin(), made.words.begin() + made.count, " "));
}

// The Subject is drawn behind kind and size, and the receiver does not know how many draws a run's
// mix of kinds and spread of sizes took; so it is whole when it follows from any small number.
// One that the sender was given may be any.
bool is_our_subject(std::string_view canonical, const identity& id) {
    constexpr int most_draws = 512;
    if (id.given_subject) return true;
    const subject_words subjects(id.seed);
    base::random_source random(base::mix(id.seed, id.session, id.sequence));
    for (int draw = 0; draw < most_draws; ++draw) {
        const std::string made = subject_text(subjects, random.next(), id.kind);
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

}  // namespace

bool digest_matches(const header_section& fields, std::string_view body, const identity& id) {
    if (!is_available(id.digest.kind)) return false;
    std::string canonical;
    append_canonical(fields, id.covers, canonical);
    body_digester digester;
    digester.begin(id.digest.kind, canonical);
    digester.feed(body);
    return digester.finish() == id.digest;
}

std::string rewritten_fields(std::string_view section, std::string_view body, const identity& id) {
    const header_section found = scan_headers(section);
    if (digest_matches(found, body, id)) return {};
    std::vector<std::string_view> names;
    for (const field_rule& rule : field_rules) {
        const auto bit = 1U << static_cast<unsigned>(rule.field);
        if ((id.covers & bit) == 0) continue;
        const bool as_made =
            (found.present & bit) != 0 && rule.is_ours(canonical_field(found, rule.field), id);
        if (!as_made) names.push_back(rule.name);
    }
    if (!names.empty()) {
        const std::string_view last = names.back();
        names.pop_back();
        return names.empty() ? std::string(last)
                             : fmt::format("{} and {}", fmt::join(names, ", "), last);
    }
    for (const noted_rule& rule : noted_rules) {
        std::string_view noted = find_value(section, rule.noted_in);
        if (noted.starts_with('<') && noted.ends_with('>'))
            noted = noted.substr(1, noted.size() - 2);
        const std::string value = "<" + std::string(noted) + ">";
        header_section as_made = found;
        as_made.values[static_cast<std::size_t>(rule.field)] = value;
        if (!noted.empty() && digest_matches(as_made, body, id)) return std::string(rule.name);
    }
    return std::string(id.given_subject ? any_other_or_subject : any_other);
}

}  // namespace postal::mail
