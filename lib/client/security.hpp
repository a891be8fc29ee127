// TLS as a client uses it: which connections of a run have it, and how.
//
// Made once from the options (program/tls_options.hpp) and then only read; handshaker.hpp is what
// one session does with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/tls.hpp"

namespace postal::client {

enum class tls_mode : std::uint8_t {
    starttls,  // STARTTLS, STLS: agreed on in the dialogue
    implicit   // from the first octet
};

struct security {
    std::shared_ptr<const net::tls_context> context;  // null: no connection has TLS
    tls_mode mode = tls_mode::starttls;
    unsigned percent = 0;         // of connections have it
    unsigned resume_percent = 0;  // of those try to resume a session
    std::string server_name;      // --tls-sni; empty: the endpoint's host
};

}  // namespace postal::client
