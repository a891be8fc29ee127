// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/auth.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "sasl/bearer.hpp"

namespace postal::client {
namespace {

using base::expected;

expected<std::string> load_token(const std::string& path) {
    const auto text = base::read_file(path);
    if (!text) return base::fail("--auth-token-file: {}", text.error().message);
    const std::string_view token = base::trim(*text);
    if (!sasl::is_token(token)) {
        return base::fail(
            "--auth-token-file: {}: wants one token, of letters, digits and -._~+/=, and nothing "
            "else",
            path);
    }
    return {boost::system::in_place_value, std::string(token)};
}

// A server may offer more once TLS has begun (RFC 4954 4), or what may be said then.
std::string why_none(const auth_situation& on) {
    const std::string offered = sasl::to_text(on.offered);
    std::string text = "the server offers none";
    if (!offered.empty()) text += " that fits: " + offered;
    return on.tls_offered && !on.secure ? text + "; more after TLS, perhaps" : text;
}

}  // namespace

expected<auth_plan> auth_plan::make(const auth_options& chosen) {
    auth_plan result;
    result.chosen = chosen;
    if (!chosen.wanted() && !chosen.token_file.empty()) {
        return base::fail("--auth-token-file: is of no use without --auth");
    }
    if (!chosen.wanted() && chosen.insecure) {
        return base::fail("--auth-insecure: is of no use without --auth");
    }
    if (!chosen.token_file.empty()) {
        if (chosen.way == auth_way::named && !sasl::wants_token(chosen.named)) {
            return base::fail("--auth-token-file: {} has no token", sasl::name_of(chosen.named));
        }
        auto token = load_token(chosen.token_file);
        if (!token) return token.error();
        result.token = std::move(*token);
    }
    return result;
}

bool auth_plan::needs_passwords() const noexcept {
    if (!chosen.wanted() || !token.empty()) return false;
    return chosen.way == auth_way::strongest
               ? !client_certificate
               : sasl::wants_password(chosen.named) || sasl::wants_token(chosen.named);
}

auth_choice choose_mechanism(const auth_plan& plan, const auth_situation& on) {
    const bool may_show = on.secure || plan.chosen.insecure;
    if (plan.chosen.way == auth_way::strongest) {
        const auto found =
            sasl::strongest(on.offered, {.password = on.password,
                                         .token = !plan.token.empty(),
                                         .client_certificate = plan.client_certificate,
                                         .channel_binding = on.channel_binding,
                                         .may_send_secret = may_show});
        if (found) return {found, {}, {}};
        return {{}, "no_mechanism", why_none(on)};
    }
    const sasl::mechanism named = plan.chosen.named;
    if (!on.offered.has(named)) {
        return {
            {}, "not_offered", with_name(named, "the server offers " + sasl::to_text(on.offered))};
    }
    if (sasl::sends_secret(named) && !may_show) {
        return {
            {}, "insecure", with_name(named, "not without TLS, unless --auth-insecure is given")};
    }
    if (sasl::binds_channel(named) && !on.channel_binding) {
        return {{}, "no_channel_binding", with_name(named, "needs TLS 1.3 to be bound to")};
    }
    return {named, {}, {}};
}

std::string with_name(sasl::mechanism which, std::string_view words) {
    return std::string(sasl::name_of(which)).append(": ").append(words);
}

}  // namespace postal::client
