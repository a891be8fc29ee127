// SPDX-License-Identifier: GPL-3.0-or-later
// A client's exchange as the lines of SMTP, POP3 and IMAP carry it: base64, an initial response
// where it fits, bounds on what a server may say (RFC 4954, RFC 5034, RFC 3501 6.2.2, RFC 4959).
//
// Flow:
//   conversation talk(context, mechanism, credentials);
//   say AUTH, the mechanism's name, and talk.initial(room) if that is not empty
//   while the server answers with a challenge: say talk.answer(its text)
//   it says yes: talk.believe(), or no: talk.server_words() may say why
// answer() gives "*" when the exchange cannot go on: problem() and words() say why, as client has
// them, or "not_base64", "challenge_too_long", "too_many_rounds". Lines are without their ends.
// What is said here is secret: it belongs into no transcript.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error_names.hpp"
#include "sasl/client.hpp"

namespace postal::sasl {

class conversation {
  public:
    static constexpr unsigned max_rounds = 16;

    conversation(context& with, mechanism which, const credentials& mine);

    // In base64, "=" for one without octets. Empty when the server begins, or when it is longer
    // than `room`: then it answers the first challenge.
    std::string_view initial(std::size_t room);
    std::string_view answer(std::string_view challenge);
    bool believe();

    bool cancelled() const noexcept { return cancelled_; }
    // Each challenge that came in time and form.
    unsigned rounds() const noexcept { return rounds_; }
    mechanism which() const noexcept { return client_.which(); }
    std::string_view problem() const noexcept;
    std::string_view words() const noexcept;
    std::string_view server_words() const noexcept { return client_.server_words(); }

  private:
    std::string_view cancel(base::error_name problem, std::string_view words);

    client client_;
    std::string line_;
    std::string held_back_;  // an initial response that did not fit
    std::string_view problem_;
    std::string_view words_;
    unsigned rounds_ = 0;
    bool cancelled_ = false;
    bool holds_back_ = false;
};

}  // namespace postal::sasl
