// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/server.hpp"

#include <array>
#include <cstddef>

#include <gsasl.h>

#include "proto/base64.hpp"
#include "sasl/bearer.hpp"

namespace postal::sasl {
namespace {

constexpr unsigned iterations = 4096;  // RFC 7677 4: the least that is sensible
constexpr std::size_t salt_size = 16;

// One for the process, so that clients which keep what they worked out need not do it again.
const std::string& salt() {
    static const std::string made = [] {
        std::string octets(salt_size, '\0');
        gsasl_random(octets.data(), octets.size());
        return octets;
    }();
    return made;
}

std::string_view text_of(const char* text) noexcept {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace

server::server(context& with, mechanism which, const situation& here)
    : with_(with), which_(which), here_(here) {
    if (wants_token(which)) return;
    Gsasl_session* made = nullptr;
    const std::string name(name_of(which));
    if (gsasl_server_start(with.handle(), name.c_str(), &made) != GSASL_OK) {
        refuse("sasl");
        return;
    }
    session_.reset(made);
    gsasl_session_hook_set(made, this);
}

progress server::refuse(std::string_view problem) {
    problem_ = problem;
    return progress::failed;
}

progress server::begin(std::string& challenge) {
    challenge.clear();
    if (!problem_.empty()) return progress::failed;
    if (client_first(which_)) return progress::go_on;
    begun_ = true;
    return ask_library({}, challenge);
}

progress server::step(std::string_view response, std::string& challenge) {
    challenge.clear();
    if (!problem_.empty()) return progress::failed;
    if (++rounds_ > max_rounds) return refuse("bad_response");
    if (wants_token(which_)) return read_token(response, challenge);
    if (!client_first(which_) && !begun_) {
        if (begin(challenge) == progress::failed) return progress::failed;
    }
    if (proving_) return response.empty() ? progress::done : refuse("bad_response");
    return ask_library(response, challenge);
}

progress server::ask_library(std::string_view response, std::string& challenge) {
    char* octets = nullptr;
    std::size_t size = 0;
    const int how = gsasl_step(session_.get(), response.data(), response.size(), &octets, &size);
    const library_octets owned(octets);
    if (how == GSASL_MECHANISM_PARSE_ERROR) return refuse("bad_response");
    if (how != GSASL_OK && how != GSASL_NEEDS_MORE) return refuse("wrong");
    challenge.assign(owned ? owned.get() : "", size);
    if (how == GSASL_NEEDS_MORE) return progress::go_on;
    user_ = text_of(gsasl_property_fast(session_.get(), GSASL_AUTHID));
    if (which_ == mechanism::anonymous) user_ = "anonymous";
    if (which_ == mechanism::external) user_ = here_.certified;
    if (!may_act_as_asked()) return refuse("wrong");
    proving_ = !challenge.empty();
    return proving_ ? progress::go_on : progress::done;
}

// As itself, that is.
bool server::may_act_as_asked() const {
    const auto asked = text_of(gsasl_property_fast(session_.get(), GSASL_AUTHZID));
    return asked.empty() || asked == user_;
}

progress server::read_token(std::string_view response, std::string& challenge) {
    if (refusal_explained_) return refuse("wrong");
    const auto claim = read_bearer_message(which_, response);
    if (!claim) return refuse("bad_response");
    const std::string* known = password(claim->user);
    if (known != nullptr && *known == claim->token) {
        user_ = claim->user;
        return progress::done;
    }
    refusal_explained_ = true;
    challenge = bearer_refusal();
    return progress::go_on;
}

// ---- what the library asks ----

const std::string* server::password(std::string_view user) const {
    const std::string* known = here_.look_up(user);
    return known != nullptr && !known->empty() ? known : nullptr;
}

int server::answer(Gsasl_session* session, int property) {
    switch (property) {
        case GSASL_VALIDATE_SIMPLE:
            return matches(session) ? GSASL_OK : GSASL_AUTHENTICATION_ERROR;
        case GSASL_VALIDATE_ANONYMOUS:
            return GSASL_OK;
        case GSASL_VALIDATE_EXTERNAL: {
            const bool known =
                !here_.certified.empty() && here_.look_up(here_.certified) != nullptr;
            return known ? GSASL_OK : GSASL_AUTHENTICATION_ERROR;
        }
        case GSASL_PASSWORD:
            return is_scram(which_) ? GSASL_NO_CALLBACK : give_password(session);
        case GSASL_SCRAM_ITER:
            return gsasl_property_set(session, GSASL_SCRAM_ITER,
                                      std::to_string(iterations).c_str());
        case GSASL_SCRAM_SALT:
            return gsasl_property_set(session, GSASL_SCRAM_SALT, proto::to_base64(salt()).c_str());
        case GSASL_SCRAM_SERVERKEY:
        case GSASL_SCRAM_STOREDKEY:
            return give_scram_keys(session);
        case GSASL_SERVICE:
        case GSASL_HOSTNAME: {
            const std::string text(property == GSASL_SERVICE ? here_.service : here_.host);
            return gsasl_property_set(session, static_cast<Gsasl_property>(property), text.c_str());
        }
        case GSASL_CB_TLS_EXPORTER:
            if (here_.channel_binding.empty()) return GSASL_NO_CALLBACK;
            return gsasl_property_set(session, GSASL_CB_TLS_EXPORTER,
                                      proto::to_base64(here_.channel_binding).c_str());
        default:
            return GSASL_NO_CALLBACK;
    }
}

bool server::matches(Gsasl_session* session) {
    const std::string* known = password(text_of(gsasl_property_fast(session, GSASL_AUTHID)));
    return known != nullptr && *known == text_of(gsasl_property_fast(session, GSASL_PASSWORD));
}

int server::give_password(Gsasl_session* session) {
    const std::string* known = password(text_of(gsasl_property_fast(session, GSASL_AUTHID)));
    if (known == nullptr) return GSASL_NO_PASSWORD;
    return gsasl_property_set(session, GSASL_PASSWORD, known->c_str());
}

int server::give_scram_keys(Gsasl_session* session) {
    const std::string* known = password(text_of(gsasl_property_fast(session, GSASL_AUTHID)));
    if (known == nullptr) return GSASL_NO_PASSWORD;
    const Gsasl_hash hash = uses_sha_1(which_) ? GSASL_HASH_SHA1 : GSASL_HASH_SHA256;
    context::scram_keys& keys = with_.scram_keys_of(which_, known);
    if (keys.password != *known) {
        std::array<char, GSASL_HASH_MAX_SIZE> salted{}, of_client{}, of_server{}, stored{};
        const int how = gsasl_scram_secrets_from_password(
            hash, known->c_str(), iterations, salt().data(), salt().size(), salted.data(),
            of_client.data(), of_server.data(), stored.data());
        if (how != GSASL_OK) return how;
        const std::size_t size = gsasl_hash_length(hash);
        keys = {*known, proto::to_base64({of_server.data(), size}),
                proto::to_base64({stored.data(), size})};
    }
    const int how = gsasl_property_set(session, GSASL_SCRAM_SERVERKEY, keys.server_key.c_str());
    if (how != GSASL_OK) return how;
    return gsasl_property_set(session, GSASL_SCRAM_STOREDKEY, keys.stored_key.c_str());
}

}  // namespace postal::sasl
