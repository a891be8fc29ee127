// SPDX-License-Identifier: GPL-3.0-or-later
// TLS behind one interface, so that two libraries can be compared: OpenSSL and GnuTLS.
//
// Flow, for a client:
//   auto context = make_tls_context(settings);          once a run; reads the files, shared by all
//   connection line; co_await line.open(...);           threads and only read afterwards
//   auto engine = (*context)->begin({.name = "mx.example.com"});
//   fault f = co_await line.start_tls(std::move(engine));
//   line.tls()->facts(), or line.tls()->problem() when f is fault::tls
//
// An engine is one connection's TLS and does no I/O: it is fed with octets from the peer, drained
// of octets for the peer, and says what it wants next. Only tls_openssl* and tls_gnutls* know a
// library. Versions: TLS 1.2 (RFC 5246) and 1.3 (RFC 8446), without early data, compression or
// renegotiation.
//
// Failures of make_tls_context() are one line that names the file or the setting. What goes wrong
// on a connection is a tls_problem: a short name for the books, the library's own words, the alert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace postal::net {

enum class tls_backend : std::uint8_t { openssl, gnutls };
enum class tls_role : std::uint8_t { client, server };
enum class tls_version : std::uint8_t { tls12, tls13 };

// Those that this build has, the default first; empty when it has none.
std::vector<tls_backend> tls_backends();
std::string_view to_text(tls_backend which) noexcept;  // "openssl", "gnutls"
// With the version of the library that is loaded: "OpenSSL 3.0.15".
std::string tls_library(tls_backend which);

struct tls_settings {
    tls_backend backend = tls_backend::openssl;
    tls_role role = tls_role::client;
    tls_version least = tls_version::tls12;
    tls_version most = tls_version::tls13;
    // Names that both libraries know, separated by colons: AES-128-GCM, AES-256-GCM,
    // CHACHA20-POLY1305; and X25519, X448, P-256, P-384, P-521. Other words are handed to the
    // library as they are: X25519MLKEM768, of OpenSSL 3.5. Empty: the library's defaults.
    std::string ciphers;
    std::string groups;
    std::string certificate;    // PEM files; a server without them makes a self-signed certificate
    std::string key;            // empty: in the file of the certificate
    std::string authorities;    // who is trusted; empty: those of the system. Servers: with whom
                                // clients' certificates are checked; empty: none is asked for
    std::string revoked;        // a PEM file with revocation lists; empty: none
    bool verify = false;        // clients: refuse servers whose chain or name is not right
    bool keep_tickets = false;  // clients: for resumption
};

// What was agreed on.
struct tls_facts {
    std::string_view version;  // "TLSv1.3"
    std::string cipher;        // IANA's name of the suite: "TLS_AES_256_GCM_SHA384"
    std::string group;         // of the key exchange: "x25519", "secp256r1"; empty: none
    bool resumed = false;
    std::string verification;  // "ok", "not checked", or what was wrong with the peer's
                               // certificate; "no certificate" of clients that gave none
};

struct tls_problem {
    std::string
        reason;        // for the books: certificate_expired, alert_handshake_failure, not_tls, ...
    std::string text;  // the library's own words
};

// What resumes a session on another connection to the same server (RFC 8446 2.2, RFC 5077).
class tls_ticket {
  public:
    virtual ~tls_ticket() = default;
};

// The octets between an engine and its connection.
struct tls_wire {
    std::string_view input;  // from the peer; what the engine takes is removed from the front
    std::string& output;     // for the peer; appended
};

enum class tls_status : std::uint8_t {
    done,    // handshake: finished; read: `size` octets are there; write: all of it was taken
    more,    // wants input, having taken all there was
    closed,  // the peer has said that it will send no more (close_notify)
    failed   // see problem(); what is in the output (an alert) may still be sent
};

class tls_engine {
  public:
    virtual ~tls_engine() = default;

    virtual tls_status handshake(tls_wire& wire) = 0;

    struct plain {
        std::size_t size = 0;
        tls_status how = tls_status::more;
    };
    // As much of one record as there is room for; `into` is not empty.
    virtual plain read(tls_wire& wire, std::span<char> into) = 0;
    // One record, of at most tls_record octets.
    virtual tls_status write(tls_wire& wire, std::string_view text) = 0;
    // Says that nothing more will be sent (close_notify).
    virtual void finish(tls_wire& wire) = 0;

    // After the handshake.
    virtual tls_facts facts() const = 0;
    // Binds SASL to this connection: tls-exporter (RFC 9266); empty where it does not exist.
    virtual std::string channel_binding() = 0;
    // Who the peer's certificate, which was verified, is for: its first e-mail address, or else its
    // common name; empty without one.
    virtual std::string peer_identity() const = 0;
    // The latest that the server gave, once; null without.
    virtual std::unique_ptr<tls_ticket> ticket() = 0;

    const tls_problem& problem() const noexcept { return problem_; }

  protected:
    tls_problem problem_;
};

inline constexpr std::size_t tls_record = 16 * 1024;

struct tls_peer {
    std::string name;  // for SNI and for checking its certificate; a name or an address
    const tls_ticket* ticket = nullptr;  // to resume with; taken back, not kept
};

class tls_context {
  public:
    virtual ~tls_context() = default;

    // For one connection, which this must outlive; null when memory is short. From any thread.
    virtual std::unique_ptr<tls_engine> begin(const tls_peer& peer) const = 0;

    // SHA-256 of the server's own certificate, in hexadecimal with colons; empty for clients.
    virtual const std::string& fingerprint() const noexcept = 0;
};

base::expected<std::shared_ptr<const tls_context>> make_tls_context(const tls_settings& settings);

}  // namespace postal::net
