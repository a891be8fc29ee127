// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/conversation.hpp"

#include <utility>

#include "proto/base64.hpp"

namespace postal::sasl {

conversation::conversation(context& with, mechanism which, const credentials& mine)
    : client_(with, which, mine) {}

std::string_view conversation::initial(std::size_t room) {
    line_.clear();
    if (!client_first(client_.which())) return {};
    std::string octets;
    if (client_.begin(octets) == progress::failed) return {};
    line_ = octets.empty() ? "=" : proto::to_base64(octets);
    if (line_.size() <= room) return line_;
    held_back_ = proto::to_base64(octets);
    holds_back_ = true;
    return {};
}

std::string_view conversation::answer(std::string_view challenge) {
    if (++rounds_ > max_rounds) return cancel("too_many_rounds", "the server asks without an end");
    if (challenge.size() > proto::max_auth_line) {
        return cancel("challenge_too_long", "more than RFC 4954 allows");
    }
    const auto octets = proto::from_base64(challenge);
    if (!octets) return cancel("not_base64", "the challenge is no base64");
    if (std::exchange(holds_back_, false)) {
        if (!octets->empty()) return cancel("bad_challenge", "the client comes first");
        line_ = std::exchange(held_back_, {});
        return line_;
    }
    std::string response;
    if (client_.step(*octets, response) == progress::failed) return cancel({}, {});
    line_ = proto::to_base64(response);
    return line_;
}

std::string_view conversation::cancel(base::error_name problem, std::string_view words) {
    problem_ = problem;
    words_ = words;
    cancelled_ = true;
    return "*";
}

bool conversation::believe() {
    if (cancelled_) return false;
    if (!holds_back_) return client_.believe();
    cancel("too_soon", "the server agreed before anything was said");
    return false;
}

std::string_view conversation::problem() const noexcept {
    return problem_.empty() ? client_.problem() : problem_;
}

std::string_view conversation::words() const noexcept {
    return problem_.empty() ? client_.words() : words_;
}

}  // namespace postal::sasl
