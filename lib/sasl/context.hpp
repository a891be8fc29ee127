// SPDX-License-Identifier: GPL-3.0-or-later
// GNU SASL, once for each worker.
//
// context.cpp, client.cpp, scram_client.cpp and server.cpp are the only files that include its
// header. A context is one thread's own, must outlive the clients and servers that are made with
// it, and costs a few allocations, so that it is made only where somebody authenticates. Making one
// throws std::runtime_error with the library's words when that fails, which is before the run.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sasl/mechanism.hpp"

struct Gsasl;
struct Gsasl_session;

namespace postal::sasl {

struct session_end {
    void operator()(Gsasl_session* one) const noexcept;
};
using session_handle = std::unique_ptr<Gsasl_session, session_end>;

struct octets_end {
    void operator()(char* octets) const noexcept;
};
using library_octets = std::unique_ptr<char, octets_end>;

class context {
  public:
    context();

    Gsasl* handle() const noexcept { return handle_.get(); }

    // What SCRAM clients have worked out, by user, password, salt and iterations; null when that is
    // not known. At most most_salted_passwords, then all are forgotten.
    static constexpr std::size_t most_salted_passwords = 100'000;
    const std::string* salted_password(const std::string& under) const;
    const std::string& keep_salted_password(const std::string& under, std::string made);

    // What a SCRAM server needs to know of a user (RFC 5802 3), in base64; empty when it is new.
    // Kept by where the password is, of which a user has one however a client spells the name: as
    // many as the server has users.
    struct scram_keys {
        std::string password;  // that they were made of
        std::string server_key;
        std::string stored_key;
    };
    scram_keys& scram_keys_of(mechanism which, const std::string* password) {
        return scram_keys_[uses_sha_1(which)][password];
    }

  private:
    struct end {
        void operator()(Gsasl* one) const noexcept;
    };
    std::unique_ptr<Gsasl, end> handle_;
    std::unordered_map<std::string, std::string> salted_;
    std::array<std::unordered_map<const std::string*, scram_keys>, 2> scram_keys_;  // by hash
};

}  // namespace postal::sasl
