// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/client.hpp"

#include <utility>

#include <gsasl.h>

#include "sasl/bearer.hpp"

namespace postal::sasl {

client::client(context& with, mechanism which, const credentials& mine)
    : which_(which), mine_(mine) {
    if (wants_token(which)) return;
    if (is_scram(which)) {
        scram_.emplace(with, which, mine, make_nonce());
        return;
    }
    Gsasl_session* made = nullptr;
    const std::string name(name_of(which));
    const int problem = gsasl_client_start(with.handle(), name.c_str(), &made);
    if (problem != GSASL_OK) {
        fail("sasl", gsasl_strerror(problem));
        return;
    }
    session_.reset(made);
    bool fine = set(GSASL_AUTHZID, mine.authorization_identity);
    fine = fine && set(GSASL_SERVICE, mine.service) && set(GSASL_HOSTNAME, mine.host);
    if (wants_password(which)) {
        fine = fine && set(GSASL_AUTHID, mine.user) && set(GSASL_PASSWORD, mine.password);
    }
    if (which == mechanism::anonymous) fine = fine && set(GSASL_ANONYMOUS_TOKEN, mine.user);
    if (!fine) fail("sasl", gsasl_strerror(GSASL_MALLOC_ERROR));
}

// False without memory. What is empty is not given at all.
bool client::set(int property, std::string_view value) {
    if (value.empty()) return true;
    return gsasl_property_set_raw(session_.get(), static_cast<Gsasl_property>(property),
                                  value.data(), value.size()) == GSASL_OK;
}

progress client::fail(base::error_name problem, std::string words) {
    problem_ = problem;
    words_ = std::move(words);
    return progress::failed;
}

progress client::begin(std::string& response) {
    if (!problem_.empty()) return progress::failed;
    begun_ = true;
    if (scram_) return end_step(scram_->first(response));
    if (!wants_token(which_)) return ask_library({}, response);
    response = bearer_message(which_, mine_);
    done_ = true;
    return progress::done;
}

progress client::step(std::string_view challenge, std::string& response) {
    if (!problem_.empty()) return progress::failed;
    if (client_first(which_) && !begun_) {
        if (challenge.empty()) return begin(response);
        return fail("bad_challenge", "the server spoke although the client comes first");
    }
    begun_ = true;
    if (!done_ && scram_) return answer_scram(challenge, response);
    if (!done_) return ask_library(challenge, response);
    if (!wants_token(which_)) return fail("bad_challenge", "one more than the mechanism has");
    return answer_refusal(challenge, response);
}

progress client::answer_refusal(std::string_view challenge, std::string& response) {
    if (refused_) return fail("bad_challenge", "one more than the mechanism has");
    refused_ = true;
    server_words_ = challenge;
    response = bearer_farewell(which_);
    return progress::done;
}

progress client::answer_scram(std::string_view challenge, std::string& response) {
    if (!std::exchange(proved_, true)) return end_step(scram_->prove(challenge, response));
    response.clear();
    done_ = true;
    return end_step(scram_->verify(challenge));
}

progress client::end_step(std::optional<scram_refusal> refusal) {
    if (refusal) return fail(refusal->problem, std::move(refusal->words));
    return done_ ? progress::done : progress::go_on;
}

progress client::ask_library(std::string_view challenge, std::string& response) {
    char* octets = nullptr;
    std::size_t size = 0;
    const int how = gsasl_step(session_.get(), challenge.data(), challenge.size(), &octets, &size);
    const library_octets owned(octets);
    if (how != GSASL_OK && how != GSASL_NEEDS_MORE) {
        return fail("bad_challenge", gsasl_strerror(how));
    }
    response.assign(owned ? owned.get() : "", size);
    done_ = how == GSASL_OK;
    return done_ ? progress::done : progress::go_on;
}

bool client::believe() {
    if (!problem_.empty()) return false;
    if (done_ && !refused_) return true;
    if (refused_) {
        fail("contradiction", "the server agreed to a token that it had refused");
    } else if (scram_) {
        fail("no_signature", "the server agreed without proving that it knows the password");
    } else {
        fail("too_soon", "the server agreed before the exchange was over");
    }
    return false;
}

}  // namespace postal::sasl
