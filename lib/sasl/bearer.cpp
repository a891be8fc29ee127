// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/bearer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "sasl/gs2.hpp"

namespace postal::sasl {
namespace {

constexpr char separator = '\x01';
constexpr std::string_view scheme = "Bearer ";

// The value of a field "auth=Bearer TOKEN" among those that end in ^A, the whole of which ends in
// one more.
std::optional<std::string> token_of(std::string_view fields) {
    std::optional<std::string> found;
    while (!fields.empty() && fields.front() != separator) {
        const std::size_t end = fields.find(separator);
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view field = fields.substr(0, end);
        fields.remove_prefix(end + 1);
        if (!field.starts_with("auth=")) continue;
        const std::string_view value = field.substr(5);
        if (found || !base::iequals(value.substr(0, scheme.size()), scheme)) return std::nullopt;
        found = std::string(value.substr(scheme.size()));
    }
    if (fields.size() != 1 || !found || !is_token(*found)) return std::nullopt;
    return found;
}

}  // namespace

std::string bearer_message(mechanism which, const credentials& mine) {
    std::string out;
    if (which == mechanism::xoauth2) {
        out.append("user=").append(mine.user);
    } else {
        const std::string_view who =
            mine.authorization_identity.empty() ? mine.user : mine.authorization_identity;
        out.append("n,");
        if (!who.empty()) out.append("a=").append(gs2_name(who));
        out.append(",").append(1, separator).append("host=").append(mine.host);
        out.append(1, separator).append("port=").append(std::to_string(mine.port));
    }
    out.append(1, separator).append("auth=").append(scheme).append(mine.token);
    return out.append(2, separator);
}

std::string_view bearer_farewell(mechanism which) noexcept {
    return which == mechanism::xoauth2 ? "" : "\x01";  // RFC 7628 3.2.3
}

std::string_view bearer_refusal() noexcept {
    return R"({"status":"invalid_token"})";
}

std::optional<bearer_claim> read_bearer_message(mechanism which, std::string_view message) {
    const std::size_t end = message.find(separator);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view head = message.substr(0, end);
    auto token = token_of(message.substr(end + 1));
    if (!token) return std::nullopt;
    if (which == mechanism::xoauth2) {
        if (!head.starts_with("user=")) return std::nullopt;
        return bearer_claim{std::string(head.substr(5)), std::move(*token)};
    }
    // "n,a=user," or "n,,"; no channel binding is offered, so "y" and "p" are the same refusal.
    if (!head.starts_with("n,") || !head.ends_with(',') || head.size() < 3) return std::nullopt;
    std::string_view name = head.substr(2, head.size() - 3);
    if (name.empty()) return bearer_claim{"", std::move(*token)};
    if (!name.starts_with("a=")) return std::nullopt;
    auto user = plain_name(name.substr(2));
    if (!user) return std::nullopt;
    return bearer_claim{std::move(*user), std::move(*token)};
}

bool is_token(std::string_view text) noexcept {
    const auto fits = [](char c) {
        const char low = base::ascii_lower(c);
        return (low >= 'a' && low <= 'z') || base::is_digit(c) ||
               std::string_view("-._~+/=").find(c) != std::string_view::npos;
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace postal::sasl
