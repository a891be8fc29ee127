// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/scram_client.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <utility>

#include <gsasl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/text.hpp"
#include "proto/base64.hpp"
#include "sasl/gs2.hpp"

namespace postal::sasl {
namespace {

scram_refusal bad_challenge(std::string words) {
    return {"bad_challenge", std::move(words)};
}

// ---- reading (RFC 5802 7) ----

// Takes "name=value" off the front, with the comma behind it: the value. Nothing when another
// attribute, an empty one, or a comma without a further attribute stands there.
std::optional<std::string_view> take(std::string_view& message, char name) {
    const std::size_t end = message.find(',');
    const std::string_view one = message.substr(0, end);
    if (one.size() < 3 || one[0] != name || one[1] != '=') return std::nullopt;
    message.remove_prefix(one.size() + (end != std::string_view::npos));
    if (end != std::string_view::npos && message.empty()) return std::nullopt;
    return one.substr(2);
}

bool holds_extensions_only(std::string_view message) {
    while (!message.empty()) {
        const char name = base::ascii_lower(message.front());
        if (name < 'a' || name > 'z' || name == 'm') return false;
        if (!take(message, message.front())) return false;
    }
    return true;
}

struct server_first_message {
    std::string_view nonce;
    std::string_view salt;        // in base64
    std::string_view iterations;  // as a number without leading zeros
};

std::optional<server_first_message> read_server_first(std::string_view message) {
    const auto nonce = take(message, 'r');
    if (!nonce) return std::nullopt;
    const auto salt = take(message, 's');
    if (!salt) return std::nullopt;
    const auto count = take(message, 'i');
    if (!count || !holds_extensions_only(message)) return std::nullopt;
    const bool number =
        std::all_of(count->begin(), count->end(), base::is_digit) && count->front() != '0';
    if (!number) return std::nullopt;
    return server_first_message{*nonce, *salt, *count};
}

bool is_printable(std::string_view nonce) {
    return std::all_of(nonce.begin(), nonce.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// ---- hashing (RFC 5802 2.2) ----

const EVP_MD* hash_of(mechanism which) noexcept {
    return uses_sha_1(which) ? EVP_sha1() : EVP_sha256();
}

const unsigned char* octets_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string hmac(const EVP_MD* hash, std::string_view key, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
    unsigned size = 0;
    if (HMAC(hash, key.data(), static_cast<int>(key.size()), octets_of(text), text.size(),
             made.data(), &size) == nullptr) {
        throw std::bad_alloc();
    }
    return {made.begin(), made.begin() + size};
}

std::string digest(const EVP_MD* hash, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), made.data(), &size, hash, nullptr) != 1) {
        throw std::bad_alloc();
    }
    return {made.begin(), made.begin() + size};
}

std::string salted(const EVP_MD* hash, std::string_view password, std::string_view salt,
                   std::uint32_t iterations) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
    const int size = EVP_MD_get_size(hash);
    if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), octets_of(salt),
                          static_cast<int>(salt.size()), static_cast<int>(iterations), hash, size,
                          made.data()) != 1) {
        throw std::bad_alloc();
    }
    return {made.begin(), made.begin() + size};
}

std::string exclusive_or(std::string one, std::string_view other) {
    for (std::size_t i = 0; i < one.size(); ++i)
        one[i] = static_cast<char>(one[i] ^ other[i]);
    return one;
}

// SASLprep (RFC 4013), of a query, which may have unassigned code points (RFC 5802 5.1). Nothing
// when it is forbidden, or nothing is left of it.
std::optional<std::string> prepared(std::string_view text) {
    const std::string ended(text);
    if (ended.find('\0') != std::string::npos) return std::nullopt;
    char* made = nullptr;
    const int how = gsasl_saslprep(ended.c_str(), GSASL_ALLOW_UNASSIGNED, &made, nullptr);
    const library_octets owned(made);
    if (how == GSASL_MALLOC_ERROR) throw std::bad_alloc();
    if (how != GSASL_OK || *made == '\0') return std::nullopt;
    return std::string(made);
}

}  // namespace

scram_client::scram_client(context& with, mechanism which, const credentials& mine,
                           std::string nonce)
    : with_(with), which_(which), mine_(mine), nonce_(std::move(nonce)) {}

std::optional<scram_refusal> scram_client::first(std::string& response) {
    const auto user = prepared(mine_.user);
    if (!user) return scram_refusal{"unusable_name", "SASLprep (RFC 4013) forbids the user's name"};
    const bool could_bind = !mine_.channel_binding.empty();
    if (binds_channel(which_)) {
        if (!could_bind) return scram_refusal{"no_channel_binding", "nothing to be bound to"};
        header_ = "p=tls-exporter,";
    } else {
        header_ = could_bind && !has_plus_of(mine_.offered, which_) ? "y," : "n,";
    }
    if (!mine_.authorization_identity.empty()) {
        header_.append("a=").append(gs2_name(mine_.authorization_identity));
    }
    header_ += ',';
    first_bare_ = "n=" + gs2_name(*user) + ",r=" + nonce_;
    response = header_ + first_bare_;
    return {};
}

std::optional<scram_refusal> scram_client::prove(std::string_view server_first,
                                                 std::string& response) {
    if (server_first.starts_with("e=")) {
        return scram_refusal{"refused", std::string(server_first)};
    }
    const auto told = read_server_first(server_first);
    if (!told) return bad_challenge("not r=, s= and i= as RFC 5802 has them");
    if (told->nonce.size() <= nonce_.size() || !told->nonce.starts_with(nonce_) ||
        !is_printable(told->nonce)) {
        return bad_challenge("the server's nonce does not continue ours");
    }
    std::uint64_t iterations = 0;
    const auto& count = told->iterations;
    const auto read = std::from_chars(count.data(), count.data() + count.size(), iterations);
    if (read.ec != std::errc{} || iterations > most_iterations) {
        return scram_refusal{"too_many_iterations",
                             "the server wants more hashing than is sensible"};
    }
    const auto salt = proto::from_base64(told->salt);
    if (!salt) return bad_challenge("the salt is no base64");
    const std::string* password = salted_password(*salt, static_cast<std::uint32_t>(iterations));
    if (password == nullptr) {
        return scram_refusal{"unusable_password", "SASLprep (RFC 4013) forbids the password"};
    }
    const EVP_MD* hash = hash_of(which_);
    nonce_ = told->nonce;
    std::string bound = header_;
    if (binds_channel(which_)) bound += mine_.channel_binding;
    response = "c=" + proto::to_base64(bound) + ",r=" + nonce_;
    std::string messages = first_bare_;
    messages.append(",").append(server_first).append(",").append(response);
    const std::string client_key = hmac(hash, *password, "Client Key");
    const std::string stored_key = digest(hash, client_key);
    response +=
        ",p=" + proto::to_base64(exclusive_or(client_key, hmac(hash, stored_key, messages)));
    signature_ = hmac(hash, hmac(hash, *password, "Server Key"), messages);
    return {};
}

// Null for a password that cannot be prepared.
const std::string* scram_client::salted_password(const std::string& salt,
                                                 std::uint32_t iterations) {
    std::string under = uses_sha_1(which_) ? "1" : "256";
    under.append(1, '\0').append(std::to_string(iterations));
    for (const std::string_view part : {mine_.user, mine_.password, std::string_view(salt)})
        under.append(1, '\0').append(part);
    if (const std::string* known = with_.salted_password(under)) return known;
    const auto password = prepared(mine_.password);
    if (!password) return nullptr;
    return &with_.keep_salted_password(under, salted(hash_of(which_), *password, salt, iterations));
}

std::optional<scram_refusal> scram_client::verify(std::string_view server_final) const {
    if (server_final.starts_with("e=")) {
        return scram_refusal{"refused", std::string(server_final)};
    }
    const auto shown = take(server_final, 'v');
    const auto octets = shown ? proto::from_base64(*shown) : std::nullopt;
    if (!octets || !holds_extensions_only(server_final)) {
        return bad_challenge("not v= as RFC 5802 has it");
    }
    if (octets->size() != signature_.size() ||
        CRYPTO_memcmp(octets->data(), signature_.data(), signature_.size()) != 0) {
        return scram_refusal{"wrong_signature", "the server does not know the password"};
    }
    return {};
}

std::string make_nonce() {
    std::array<unsigned char, 18> octets{};
    if (RAND_bytes(octets.data(), static_cast<int>(octets.size())) != 1) throw std::bad_alloc();
    return proto::to_base64({reinterpret_cast<const char*>(octets.data()), octets.size()});
}

}  // namespace postal::sasl
