// SPDX-License-Identifier: GPL-3.0-or-later
// The client's side of SCRAM (RFC 5802, RFC 7677), with and without -PLUS, in octets.
//
// Flow:
//   scram_client us(worker's context, mechanism, credentials, nonce);
//   us.first(response);                      client-first-message
//   us.prove(server_first, response);        client-final-message
//   us.verify(server_final);                 nothing: the server knows the password, too
// Each gives what is wrong, if something is; nothing may be asked of it after that.
//
// The flag before the names (RFC 5802 6) is "p=tls-exporter" for a -PLUS; "y" where the credentials
// have channel binding data and the server does not offer the -PLUS of this mechanism, so that a
// server which does offer it notices that somebody has taken it out of its list; and "n" otherwise.
//
// Messages are read strictly: attributes in the order of RFC 5802 7, none empty; a mandatory
// extension ("m=") is refused, and optional ones at the end are passed over. More iterations than
// most_iterations are refused: a server could keep the thread for hours (these take 0.1 s). Salted
// passwords are kept in the context. Hashing throws std::bad_alloc without memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error_names.hpp"
#include "sasl/context.hpp"
#include "sasl/credentials.hpp"
#include "sasl/mechanism.hpp"

namespace postal::sasl {

struct scram_refusal {
    base::error_name problem;  // one word, see client.hpp
    std::string words;
};

class scram_client {
  public:
    static constexpr std::uint64_t most_iterations = 200'000;

    // The nonce is printable, without commas, and no other exchange has it.
    scram_client(context& with, mechanism which, const credentials& mine, std::string nonce);

    std::optional<scram_refusal> first(std::string& response);
    std::optional<scram_refusal> prove(std::string_view server_first, std::string& response);
    std::optional<scram_refusal> verify(std::string_view server_final) const;

  private:
    const std::string* salted_password(const std::string& salt, std::uint32_t iterations);

    context& with_;
    mechanism which_;
    credentials mine_;
    std::string nonce_;       // ours; from prove() on both sides'
    std::string header_;      // gs2-header
    std::string first_bare_;  // client-first-message-bare
    std::string signature_;   // that the server must show
};

// 18 random octets in base64.
std::string make_nonce();

}  // namespace postal::sasl
