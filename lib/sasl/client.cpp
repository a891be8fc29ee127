#include "sasl/client.hpp"

#include <charconv>
#include <string>

#include <gsasl.h>

#include "proto/base64.hpp"
#include "sasl/bearer.hpp"

namespace postal::sasl {
namespace {

// The value of `name=` in a SCRAM message (RFC 5802 5.1), or empty.
std::string_view attribute(std::string_view message, char name) noexcept {
    while (!message.empty()) {
        const std::size_t end = message.find(',');
        const std::string_view one = message.substr(0, end);
        if (one.size() >= 2 && one[0] == name && one[1] == '=') return one.substr(2);
        message.remove_prefix(end == std::string_view::npos ? message.size() : end + 1);
    }
    return {};
}

}  // namespace

client::client(context& with, mechanism which, const credentials& mine)
    : with_(with), which_(which), mine_(mine) {
    if (wants_token(which)) return;
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
    if (binds_channel(which)) {
        fine = fine && set(GSASL_CB_TLS_EXPORTER, proto::to_base64(mine.channel_binding));
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

progress client::fail(std::string_view problem, std::string_view words) {
    problem_ = problem;
    words_ = words;
    return progress::failed;
}

progress client::begin(std::string& response) {
    if (!problem_.empty()) return progress::failed;
    begun_ = true;
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

progress client::ask_library(std::string_view challenge, std::string& response) {
    const bool server_first = is_scram(which_) && challenge.find("r=") != std::string_view::npos;
    if (server_first && !recall_salted_password(challenge)) {
        return fail("too_many_iterations", "the server wants more hashing than is sensible");
    }
    char* octets = nullptr;
    std::size_t size = 0;
    const int how = gsasl_step(session_.get(), challenge.data(), challenge.size(), &octets, &size);
    const library_octets owned(octets);
    if (how != GSASL_OK && how != GSASL_NEEDS_MORE) {
        const bool final_message = is_scram(which_) && challenge.starts_with("v=");
        return fail(final_message ? "wrong_signature" : "bad_challenge", gsasl_strerror(how));
    }
    response.assign(owned ? owned.get() : "", size);
    if (server_first) keep_salted_password();
    done_ = how == GSASL_OK;
    return done_ ? progress::done : progress::go_on;
}

// RFC 5802 5.1: "r=nonce,s=salt,i=iterations". False when there are too many iterations.
bool client::recall_salted_password(std::string_view server_first) {
    const std::string_view count = attribute(server_first, 'i');
    const std::string_view salt = attribute(server_first, 's');
    std::uint64_t iterations = 0;
    const auto read = std::from_chars(count.data(), count.data() + count.size(), iterations);
    if (read.ec == std::errc::result_out_of_range || iterations > most_iterations) return false;
    if (read.ec != std::errc{} || salt.empty()) return true;  // the library will say what it is
    kept_under_ = uses_sha_1(which_) ? "1" : "256";
    for (const std::string_view part : {mine_.user, mine_.password, salt, count}) {
        kept_under_.append(1, '\0').append(part);
    }
    const std::string* known = with_.salted_password(kept_under_);
    if (known == nullptr) return true;
    kept_under_.clear();
    set(GSASL_SCRAM_SALTED_PASSWORD, *known);
    return true;
}

void client::keep_salted_password() {
    if (kept_under_.empty()) return;
    const char* made = gsasl_property_fast(session_.get(), GSASL_SCRAM_SALTED_PASSWORD);
    if (made != nullptr) with_.keep_salted_password(kept_under_, made);
}

bool client::believe() {
    if (!problem_.empty()) return false;
    if (done_ && !refused_) return true;
    if (refused_) {
        fail("contradiction", "the server agreed to a token that it had refused");
    } else if (is_scram(which_)) {
        fail("no_signature", "the server agreed without proving that it knows the password");
    } else {
        fail("too_soon", "the server agreed before the exchange was over");
    }
    return false;
}

}  // namespace postal::sasl
