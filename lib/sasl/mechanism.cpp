// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/mechanism.hpp"

#include <array>

#include "base/text.hpp"

namespace postal::sasl {
namespace {

enum trait : unsigned {
    a_password = 1,
    a_token = 2,
    a_certificate = 4,
    a_channel = 8,
    to_be_hidden = 16,
    to_be_named = 32,
    the_first_word = 64,
    salted_hashes = 128,
    sha_1 = 256
};

constexpr unsigned demands =
    a_password | a_token | a_certificate | a_channel | to_be_hidden | to_be_named;
constexpr unsigned scram = a_password | the_first_word | salted_hashes;

struct row {
    mechanism which;
    std::string_view name;
    unsigned traits;
};

// The strongest first.
constexpr std::array<row, mechanism_count> rows{{
    {mechanism::external, "EXTERNAL", a_certificate | the_first_word},
    {mechanism::oauthbearer, "OAUTHBEARER", a_token | to_be_hidden | the_first_word},
    {mechanism::xoauth2, "XOAUTH2", a_token | to_be_hidden | the_first_word},
    {mechanism::scram_sha_256_plus, "SCRAM-SHA-256-PLUS", scram | a_channel},
    {mechanism::scram_sha_1_plus, "SCRAM-SHA-1-PLUS", scram | a_channel | sha_1},
    {mechanism::scram_sha_256, "SCRAM-SHA-256", scram},
    {mechanism::scram_sha_1, "SCRAM-SHA-1", scram | sha_1},
    {mechanism::cram_md5, "CRAM-MD5", a_password},
    {mechanism::plain, "PLAIN", a_password | to_be_hidden | the_first_word},
    {mechanism::login, "LOGIN", a_password | to_be_hidden},
    {mechanism::anonymous, "ANONYMOUS", to_be_named | the_first_word},
}};

const row& row_of(mechanism which) noexcept {
    for (const row& one : rows) {
        if (one.which == which) return one;
    }
    return rows.back();
}

bool is(mechanism which, unsigned property) noexcept {
    return (row_of(which).traits & property) != 0;
}

}  // namespace

std::string_view name_of(mechanism which) noexcept {
    return row_of(which).name;
}

std::optional<mechanism> mechanism_of(std::string_view name) noexcept {
    for (const row& one : rows) {
        if (base::iequals(one.name, name)) return one.which;
    }
    return std::nullopt;
}

bool sends_secret(mechanism which) noexcept {
    return is(which, to_be_hidden);
}
bool wants_token(mechanism which) noexcept {
    return is(which, a_token);
}
bool wants_password(mechanism which) noexcept {
    return is(which, a_password);
}
bool binds_channel(mechanism which) noexcept {
    return is(which, a_channel);
}
bool is_scram(mechanism which) noexcept {
    return is(which, salted_hashes);
}
bool uses_sha_1(mechanism which) noexcept {
    return is(which, sha_1);
}
bool client_first(mechanism which) noexcept {
    return is(which, the_first_word);
}

bool has_plus_of(mechanism_set some, mechanism which) noexcept {
    return is_scram(which) && some.has(uses_sha_1(which) ? mechanism::scram_sha_1_plus
                                                         : mechanism::scram_sha_256_plus);
}

mechanism_set parse_mechanisms(std::string_view names) noexcept {
    constexpr std::string_view between = " \t,";
    mechanism_set found;
    while (!names.empty()) {
        const std::size_t end = names.find_first_of(between);
        if (const auto one = mechanism_of(names.substr(0, end))) found.add(*one);
        names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
    }
    return found;
}

std::string to_text(mechanism_set some) {
    std::string text;
    for (const row& one : rows) {
        if (!some.has(one.which)) continue;
        if (!text.empty()) text += ' ';
        text += one.name;
    }
    return text;
}

std::optional<mechanism> strongest(mechanism_set offered, const means& has) noexcept {
    unsigned met = 0;
    if (has.password) met |= a_password;
    if (has.token) met |= a_token;
    if (has.client_certificate) met |= a_certificate;
    if (has.channel_binding) met |= a_channel;
    if (has.may_send_secret) met |= to_be_hidden;
    for (const row& one : rows) {
        if (offered.has(one.which) && (one.traits & demands & ~met) == 0) return one.which;
    }
    return std::nullopt;
}

}  // namespace postal::sasl
