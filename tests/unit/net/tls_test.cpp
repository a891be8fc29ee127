// SPDX-License-Identifier: GPL-3.0-or-later
// TLS engines against each other, in memory and over sockets: every pairing of libraries, versions
// and ways to cut the octets into pieces.
#include "net/tls.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <string>

#include "net/connection.hpp"
#include "net/listener.hpp"

using namespace postal::net;
namespace asio = boost::asio;
using namespace std::string_literals;

namespace {

std::shared_ptr<const tls_context> make(tls_settings settings) {
    auto made = make_tls_context(settings);
    INFO((made.has_value() ? std::string() : made.error().message));
    REQUIRE(made.has_value());
    return *made;
}

// Two engines and what is on its way between them, handed over in pieces of a given size.
struct pair {
    pair(tls_engine& a, tls_engine& b, std::size_t piece_size)
        : client(a), server(b), piece(piece_size) {}

    static std::string take(std::string& from, std::size_t most) {
        std::string some = from.substr(0, most);
        from.erase(0, some.size());
        return some;
    }

    // One step of one side; what it does not take stays.
    template <class Step>
    tls_status step(std::string& from, std::string& rest, std::string& out, Step act) {
        rest += take(from, piece);
        tls_wire wire{rest, out};
        const tls_status how = act(wire);
        rest = std::string(wire.input);
        return how;
    }

    bool shake() {
        tls_status a = tls_status::more;
        tls_status b = tls_status::more;
        for (int i = 0; i < 20000; ++i) {
            if (a == tls_status::more) {
                a = step(to_client, client_rest, to_server,
                         [&](tls_wire& w) { return client.handshake(w); });
            }
            if (b == tls_status::more) {
                b = step(to_server, server_rest, to_client,
                         [&](tls_wire& w) { return server.handshake(w); });
            }
            if (a == tls_status::failed || b == tls_status::failed) {
                const bool last = to_client.empty() && to_server.empty();
                if (last || (a != tls_status::more && b != tls_status::more)) return false;
            }
            if (a == tls_status::done && b == tls_status::done) return true;
        }
        return false;
    }

    std::string send(tls_engine& from, std::string& wire_octets, std::string& rest, tls_engine& to,
                     std::string& back, const std::string& text) {
        for (std::size_t at = 0; at < text.size(); at += tls_record) {
            tls_wire wire{{}, wire_octets};
            REQUIRE(from.write(wire, std::string_view(text).substr(at, tls_record)) ==
                    tls_status::done);
        }
        std::string heard;
        std::array<char, 1000> buffer{};
        while (heard.size() < text.size()) {
            rest += take(wire_octets, piece);
            tls_wire wire{rest, back};
            const tls_engine::plain got = to.read(wire, buffer);
            rest = std::string(wire.input);
            if (got.how == tls_status::more && wire_octets.empty()) break;
            if (got.how != tls_status::done && got.how != tls_status::more) break;
            heard.append(buffer.data(), got.size);
        }
        return heard;
    }

    tls_engine& client;
    tls_engine& server;
    std::size_t piece;
    std::string to_client{};
    std::string to_server{};
    std::string client_rest{};
    std::string server_rest{};
};

tls_settings client_settings(tls_backend backend) {
    tls_settings settings;
    settings.backend = backend;
    settings.keep_tickets = true;
    return settings;
}

tls_settings server_settings(tls_backend backend) {
    tls_settings settings;
    settings.backend = backend;
    settings.role = tls_role::server;
    return settings;
}

}  // namespace

TEST_CASE("every pairing of libraries, versions and pieces") {
    for (const tls_backend mine : tls_backends()) {
        for (const tls_backend theirs : tls_backends()) {
            for (const tls_version version : {tls_version::tls12, tls_version::tls13}) {
                tls_settings wanted = client_settings(mine);
                wanted.least = wanted.most = version;
                const auto clients = make(wanted);
                const auto servers = make(server_settings(theirs));
                for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, 100'000UL}) {
                    INFO(to_text(mine) << " to " << to_text(theirs) << " by " << piece);
                    const auto a = clients->begin({.name = "localhost"});
                    const auto b = servers->begin({});
                    pair both(*a, *b, piece);
                    REQUIRE(both.shake());
                    const bool newest = version == tls_version::tls13;
                    CHECK(a->facts().version == (newest ? "TLSv1.3" : "TLSv1.2"));
                    CHECK(a->facts().cipher == b->facts().cipher);
                    CHECK(a->facts().group == b->facts().group);
                    CHECK(a->facts().verification == "not checked");
                    CHECK(b->facts().verification.empty());
                    CHECK_FALSE(a->facts().resumed);
                    const std::string binding = a->channel_binding();
                    CHECK(binding == b->channel_binding());
                    CHECK(binding.size() == (newest ? 32U : 0U));
                    const std::string text(50'000, 'x');
                    CHECK(both.send(*a, both.to_server, both.server_rest, *b, both.to_client,
                                    text) == text);
                    CHECK(both.send(*b, both.to_client, both.client_rest, *a, both.to_server,
                                    "answer") == "answer");
                }
            }
        }
    }
}

TEST_CASE("sessions are resumed by their tickets, once each") {
    for (const tls_backend mine : tls_backends()) {
        for (const tls_backend theirs : tls_backends()) {
            for (const tls_version version : {tls_version::tls12, tls_version::tls13}) {
                INFO(to_text(mine) << " to " << to_text(theirs)
                                   << (version == tls_version::tls12 ? " 1.2" : " 1.3"));
                tls_settings wanted = client_settings(mine);
                wanted.most = version;
                const auto clients = make(wanted);
                const auto servers = make(server_settings(theirs));
                const auto a = clients->begin({.name = "localhost"});
                const auto b = servers->begin({});
                pair both(*a, *b, 100'000);
                REQUIRE(both.shake());
                both.send(*b, both.to_client, both.client_rest, *a, both.to_server, "220 hello");
                const auto ticket = a->ticket();
                REQUIRE(ticket);
                CHECK_FALSE(a->ticket());
                std::string ignored;
                tls_wire wire{{}, ignored};
                a->finish(wire);
                const auto c = clients->begin({.name = "localhost", .ticket = ticket.get()});
                const auto d = servers->begin({});
                pair again(*c, *d, 100'000);
                REQUIRE(again.shake());
                CHECK(c->facts().resumed);
                CHECK(d->facts().resumed);
                again.send(*d, again.to_client, again.client_rest, *c, again.to_server,
                           "220 hello");
                CHECK(c->ticket());  // for the next time
                CHECK_FALSE(c->ticket());
            }
        }
    }
}

TEST_CASE("ciphers and groups have the same names for both libraries") {
    for (const tls_backend backend : tls_backends()) {
        tls_settings wanted = client_settings(backend);
        wanted.ciphers = "CHACHA20-POLY1305";
        wanted.groups = "P-384";
        const auto clients = make(wanted);
        const auto a = clients->begin({});
        const auto servers = make(server_settings(backend));
        const auto b = servers->begin({});
        pair both(*a, *b, 100'000);
        REQUIRE(both.shake());
        CHECK(a->facts().cipher == "TLS_CHACHA20_POLY1305_SHA256");
        CHECK(a->facts().group == "secp384r1");
    }
}

TEST_CASE("settings that cannot be are refused with the option") {
    for (const tls_backend backend : tls_backends()) {
        tls_settings wanted = client_settings(backend);
        wanted.ciphers = "ROT-13";
        CHECK(make_tls_context(wanted).error().message.starts_with("--tls-ciphers: "));
        wanted = client_settings(backend);
        wanted.groups = "P-7";
        CHECK(make_tls_context(wanted).error().message.starts_with("--tls-groups: "));
        wanted = client_settings(backend);
        wanted.certificate = "/nonexistent/cert.pem";
        CHECK(make_tls_context(wanted).error().message.starts_with(
            "--tls-cert: /nonexistent/cert.pem: "));
        wanted = client_settings(backend);
        wanted.verify = true;
        wanted.authorities = "/nonexistent/ca.pem";
        CHECK(make_tls_context(wanted).error().message.starts_with(
            "--tls-ca: /nonexistent/ca.pem: "));
    }
}

TEST_CASE("what goes wrong in a handshake has a name and the library's words") {
    for (const tls_backend mine : tls_backends()) {
        for (const tls_backend theirs : tls_backends()) {
            INFO(to_text(mine) << " to " << to_text(theirs));
            tls_settings wanted = client_settings(mine);
            wanted.verify = true;
            wanted.authorities = "/etc/ssl/certs/ca-certificates.crt";
            const auto clients = make_tls_context(wanted);
            if (!clients.has_value()) continue;  // a system without authorities
            const auto a = (*clients)->begin({.name = "localhost"});
            const auto servers = make(server_settings(theirs));
            const auto b = servers->begin({});
            pair both(*a, *b, 100'000);
            REQUIRE_FALSE(both.shake());
            CHECK(a->problem().reason == "certificate_self_signed");
            CHECK_FALSE(a->problem().text.empty());
            INFO(b->problem().reason << ": " << b->problem().text);
            // OpenSSL sends this alert in plain; GnuTLS expects it encrypted.
            const bool misread = mine == tls_backend::openssl && theirs == tls_backend::gnutls;
            CHECK(b->problem().reason.starts_with(misread ? "bad_record" : "alert_"));
        }
    }
}

TEST_CASE("a server with two versions and a client with another one") {
    for (const tls_backend mine : tls_backends()) {
        for (const tls_backend theirs : tls_backends()) {
            INFO(to_text(mine) << " to " << to_text(theirs));
            tls_settings wanted = client_settings(mine);
            wanted.most = tls_version::tls12;
            tls_settings offered = server_settings(theirs);
            offered.least = tls_version::tls13;
            const auto clients = make(wanted);
            const auto servers = make(offered);
            const auto a = clients->begin({});
            const auto b = servers->begin({});
            pair both(*a, *b, 100'000);
            REQUIRE_FALSE(both.shake());
            // GnuTLS takes the suites of the one version for what is missing.
            const bool openssl = theirs == tls_backend::openssl;
            CHECK(a->problem().reason ==
                  (openssl ? "alert_protocol_version" : "alert_handshake_failure"));
            CHECK(b->problem().reason == (openssl ? "no_common_version" : "no_common_cipher"));
        }
    }
}

namespace {

// GCC 12 destroys temporaries within co_await twice.
std::unique_ptr<tls_engine> begin(const tls_context& how, const std::string& name) {
    return how.begin({.name = name});
}

listener listen_somewhere(asio::io_context& context) {
    auto opened = listen(context, *parse_endpoint("127.0.0.1", 0));
    REQUIRE(opened.has_value());
    return std::move(opened->front());
}

asio::awaitable<void> serve_echo(listener& at, asio::io_context& context, const tls_context& how) {
    fault why = co_await wait_for_connection(at, asio::use_awaitable);
    connection line(context);
    why = line.adopt(accept_now(at, why));
    REQUIRE(why == fault::none);
    auto engine = begin(how, "");
    why = co_await line.start_tls(std::move(engine));
    REQUIRE(why == fault::none);
    CHECK(line.secure());
    std::string all(100'000, '\0');
    while (why == fault::none) {
        const read_result got = co_await line.read_some(all);
        why = got.why;
        gather parts;
        parts.add(std::string_view(all).substr(0, got.size));
        if (!parts.empty() && !line.write_now(parts)) why = co_await line.write_rest(parts);
    }
    CHECK(why == fault::closed);
}

asio::awaitable<void> hear_all(connection& line, std::size_t size, std::string& heard) {
    std::array<char, 3000> buffer{};
    while (heard.size() < size) {
        const read_result got = co_await line.read_some(buffer);
        REQUIRE(got.size > 0);
        heard.append(buffer.data(), got.size);
    }
}

asio::awaitable<void> say_all(connection& line, const std::string& text) {
    gather parts;
    for (std::size_t at = 0; at < text.size(); at += 777) {
        parts.add(std::string_view(text).substr(at, 777));
    }
    fault why = fault::none;
    if (!line.write_now(parts)) why = co_await line.write_rest(parts);
    CHECK(why == fault::none);
}

asio::awaitable<void> talk_secured(listener& at, asio::io_context& context, const tls_context& how,
                                   const std::string& text, std::string& heard) {
    connection line(context);
    fault why = co_await line.open(at.where, std::nullopt);
    REQUIRE(why == fault::none);
    auto engine = begin(how, "localhost");
    why = co_await line.start_tls(std::move(engine));
    REQUIRE(why == fault::none);
    // Both directions at once: otherwise two full sockets wait for each other.
    bool said = false;
    asio::co_spawn(context, say_all(line, text),
                   [&said](const std::exception_ptr&) { said = true; });
    co_await hear_all(line, text.size(), heard);
    while (!said)
        co_await asio::post(context, asio::use_awaitable);
    CHECK(line.octets_out == text.size());
    CHECK(line.octets_in == text.size());
    std::array<char, 1> more{};
    const read_result rest = line.something_to_read() ? line.read_ready(more) : read_result{};
    CHECK((rest.size == 0 && rest.why == fault::none));
}

}  // namespace

TEST_CASE("a connection carries TLS, whatever the sockets take at once") {
    std::string text;
    for (int i = 0; text.size() < 3'000'000; ++i)
        text += std::to_string(i) + "\r\n";
    for (const tls_backend mine : tls_backends()) {
        for (const tls_backend theirs : tls_backends()) {
            INFO(to_text(mine) << " to " << to_text(theirs));
            asio::io_context context;
            listener server = listen_somewhere(context);
            const auto clients = make(client_settings(mine));
            const auto servers = make(server_settings(theirs));
            std::string heard;
            asio::co_spawn(context, serve_echo(server, context, *servers), asio::detached);
            asio::co_spawn(context, talk_secured(server, context, *clients, text, heard),
                           asio::detached);
            context.run();
            CHECK(heard == text);
        }
    }
}

namespace {

asio::awaitable<void> say_in_plain(listener& at, asio::io_context& context,
                                   const std::string& words) {
    fault why = co_await wait_for_connection(at, asio::use_awaitable);
    connection line(context);
    why = line.adopt(accept_now(at, why));
    REQUIRE(why == fault::none);
    gather parts;
    parts.add(words);
    line.write_now(parts);
    line.shutdown_output();
    std::array<char, 3000> buffer{};
    read_result got;
    do {
        got = co_await line.read_some(buffer);
    } while (got.why == fault::none);
}

asio::awaitable<void> fail_to_shake(listener& at, asio::io_context& context, const tls_context& how,
                                    fault& why, tls_problem& problem) {
    connection line(context);
    why = co_await line.open(at.where, std::nullopt);
    REQUIRE(why == fault::none);
    auto engine = begin(how, "");
    why = co_await line.start_tls(std::move(engine));
    problem = line.tls_problem();
    CHECK_FALSE(line.secure());
}

}  // namespace

TEST_CASE("a peer without TLS is told by what it says") {
    for (const tls_backend backend : tls_backends()) {
        for (const std::string& words :
             {"220 mx.example.com ESMTP\r\n"s, ""s, "\x16\x03\x01\x00\x02\x01\x02"s,
              "\x16\x03\x03\xff\xff"s, "\x15\x03\x03\x00\x02\x02\x28"s}) {
            asio::io_context context;
            listener server = listen_somewhere(context);
            const auto clients = make(client_settings(backend));
            fault why = fault::none;
            tls_problem problem;
            asio::co_spawn(context, say_in_plain(server, context, words), asio::detached);
            asio::co_spawn(context, fail_to_shake(server, context, *clients, why, problem),
                           asio::detached);
            context.run();
            INFO(to_text(backend) << " hears " << words.size() << ": " << problem.text);
            if (words.starts_with("220")) {
                CHECK(why == fault::tls);
                CHECK(problem.reason == "not_tls");
                CHECK(problem.text == "the peer speaks no TLS: \"220 mx.example.com ESMTP\"");
            } else if (words.starts_with("\x15")) {
                CHECK(why == fault::tls);
            } else {
                CHECK(why != fault::none);
            }
        }
    }
}

namespace {

// Takes TLS, hears nothing until `go`, and then all that has come.
asio::awaitable<void> hear_late(listener& at, asio::io_context& context, const tls_context& how,
                                bool& go, std::uint64_t& heard) {
    fault why = co_await wait_for_connection(at, asio::use_awaitable);
    connection line(context);
    why = line.adopt(accept_now(at, why));
    REQUIRE(why == fault::none);
    auto engine = begin(how, "");
    why = co_await line.start_tls(std::move(engine));
    REQUIRE(why == fault::none);
    while (!go)
        co_await asio::post(context, asio::use_awaitable);
    std::string buffer(100'000, '\0');
    for (;;) {
        const read_result got = co_await line.read_some(buffer);
        heard += got.size;
        if (got.why != fault::none) break;
    }
    go = false;
}

asio::awaitable<void> say_until_full(listener& at, asio::io_context& context,
                                     const tls_context& how, const std::string& text, bool& go,
                                     std::uint64_t& left) {
    connection line(context);
    fault why = co_await line.open(at.where, std::nullopt);
    REQUIRE(why == fault::none);
    auto engine = begin(how, "localhost");
    why = co_await line.start_tls(std::move(engine));
    REQUIRE(why == fault::none);
    gather parts;
    parts.add(text);
    REQUIRE_FALSE(line.write_now(parts));
    left = line.octets_out;
    go = true;
    line.shutdown_output();  // what waits in the connection is never sent
    while (go)               // closing with tickets unread would reset it
        co_await asio::post(context, asio::use_awaitable);
}

}  // namespace

// "In doubt" and "failed" hang on it: what a peer can have read is counted, and nothing else.
TEST_CASE("octets have left when the record that carries them has") {
    const std::string text(50'000'000, 'x');
    for (const tls_backend backend : tls_backends()) {
        INFO(to_text(backend));
        asio::io_context context;
        listener server = listen_somewhere(context);
        const auto clients = make(client_settings(backend));
        const auto servers = make(server_settings(backend));
        bool go = false;
        std::uint64_t left = 0;
        std::uint64_t heard = 0;
        asio::co_spawn(context, hear_late(server, context, *servers, go, heard), asio::detached);
        asio::co_spawn(context, say_until_full(server, context, *clients, text, go, left),
                       asio::detached);
        context.run();
        CHECK(left > 0);
        CHECK(left < text.size());
        CHECK(heard == left);
    }
}
