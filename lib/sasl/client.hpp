// SPDX-License-Identifier: GPL-3.0-or-later
// The client's side of one SASL exchange (RFC 4422), in octets: no base64, no protocol around it.
//
// Flow:
//   client us(worker's context, mechanism, credentials);
//   if (client_first(mechanism)) us.begin(response);     the initial response
//   for each challenge: us.step(challenge, response);
//   when the server says that we are in: us.believe() says whether that may be true
// begin() and step() give `failed` when the exchange cannot go on, with problem(), one word for the
// books, and words() for people; the client then cancels. `done` is the client's own
// view: it has nothing more to prove. Success without a right server signature (SCRAM), or before
// the client has said its part, is none.
//
// An OAUTHBEARER or XOAUTH2 server explains a refusal in a last challenge: it is answered as the
// mechanism wants it, and server_words() has it.
//
// SCRAM is in scram_client.cpp, the two with tokens are in bearer.cpp, the others are GNU SASL's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error_names.hpp"
#include "sasl/context.hpp"
#include "sasl/credentials.hpp"
#include "sasl/mechanism.hpp"
#include "sasl/scram_client.hpp"

namespace postal::sasl {

enum class progress : std::uint8_t { go_on, done, failed };

class client {
  public:
    client(context& with, mechanism which, const credentials& mine);

    progress begin(std::string& response);
    progress step(std::string_view challenge, std::string& response);
    bool believe();

    mechanism which() const noexcept { return which_; }
    std::string_view problem() const noexcept { return problem_; }
    std::string_view words() const noexcept { return words_; }
    std::string_view server_words() const noexcept { return server_words_; }

  private:
    progress ask_library(std::string_view challenge, std::string& response);
    progress answer_scram(std::string_view challenge, std::string& response);
    progress answer_refusal(std::string_view challenge, std::string& response);
    progress end_step(std::optional<scram_refusal> refusal);
    progress fail(base::error_name problem, std::string words);
    bool set(int property, std::string_view value);

    mechanism which_;
    credentials mine_;
    session_handle session_;  // of what the library does
    std::optional<scram_client> scram_;
    std::string server_words_;
    std::string_view problem_;
    std::string words_;
    bool begun_ = false;
    bool proved_ = false;  // our side of SCRAM
    bool done_ = false;
    bool refused_ = false;  // a token was, and the refusal was answered
};

}  // namespace postal::sasl
