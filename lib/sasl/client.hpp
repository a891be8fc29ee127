// The client's side of one SASL exchange (RFC 4422), in octets: no base64, no protocol around it.
//
// Flow:
//   client us(worker's context, mechanism, credentials);
//   if (client_first(mechanism)) us.begin(response);     the initial response
//   for each challenge: us.step(challenge, response);
//   when the server says that we are in: us.believe() says whether that may be true
// begin() and step() give `failed` when the exchange cannot go on, with problem(), one word for the
// books, and words(), those of the library; the client then cancels. `done` is the client's own
// view: it has nothing more to prove. Success without a right server signature (SCRAM), or before
// the client has said its part, is none.
//
// An OAUTHBEARER or XOAUTH2 server explains a refusal in a last challenge: it is answered as the
// mechanism wants it, and server_words() has it.
//
// PLAIN to ANONYMOUS are GNU SASL's; the two with tokens are in bearer.cpp. Salted passwords, which
// cost thousands of hashes, are kept in the context for the user's next login. Iterations of SCRAM
// are bounded by most_iterations: a server could keep the thread for hours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sasl/context.hpp"
#include "sasl/mechanism.hpp"

namespace postal::sasl {

// Must hold as long as the client does. What a mechanism does not need is ignored.
struct credentials {
    std::string_view user{};
    std::string_view password{};
    std::string_view token{};
    std::string_view authorization_identity{};  // empty: the user's own
    std::string_view channel_binding{};         // tls-exporter (RFC 9266), for -PLUS
    std::string_view host{};                    // of the server
    std::string_view service{};                 // "smtp", "pop", "imap"
    std::uint16_t port = 0;
};

enum class progress : std::uint8_t { go_on, done, failed };

class client {
  public:
    static constexpr std::uint64_t most_iterations = 200'000;

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
    progress answer_refusal(std::string_view challenge, std::string& response);
    progress fail(std::string_view problem, std::string_view words);
    bool recall_salted_password(std::string_view server_first);
    void keep_salted_password();
    bool set(int property, std::string_view value);

    context& with_;
    mechanism which_;
    credentials mine_;
    session_handle session_;  // null for tokens
    std::string kept_under_;  // where the context has, or shall have, the salted password
    std::string server_words_;
    std::string_view problem_;
    std::string_view words_;
    bool begun_ = false;
    bool done_ = false;
    bool refused_ = false;  // a token was, and the refusal was answered
};

}  // namespace postal::sasl
