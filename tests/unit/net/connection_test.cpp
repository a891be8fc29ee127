// SPDX-License-Identifier: GPL-3.0-or-later
// Connections against listeners of our own, over TCP and Unix sockets.
#include "net/connection.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "net/listener.hpp"

using namespace postal::net;
namespace asio = boost::asio;

namespace {

listener listen_on(asio::io_context& context, const std::string& text) {
    auto where = parse_endpoint(text, 0);
    REQUIRE(where.has_value());
    auto opened = listen(context, *where);
    REQUIRE(opened.has_value());
    return std::move(opened->front());
}

std::string socket_path() {
    return (std::filesystem::temp_directory_path() /
            ("postal-unit-" + std::to_string(getpid()) + ".sock"))
        .string();
}

// Sends back what it gets until the other side ends.
asio::awaitable<void> echo(listener& at, asio::io_context& context) {
    fault why = co_await wait_for_connection(at, asio::use_awaitable);
    connection line(context);
    why = line.adopt(accept_now(at, why));
    std::array<char, 7> buffer{};
    while (why == fault::none) {
        const read_result got = co_await line.read_some(buffer);
        why = got.why;
        gather parts;
        parts.add({buffer.data(), got.size});
        if (!line.write_now(parts)) why = co_await line.write_rest(parts);
    }
    CHECK(why == fault::closed);
}

asio::awaitable<void> talk(listener& at, asio::io_context& context, std::string& heard) {
    connection line(context);
    fault why = co_await line.open(at.where, std::nullopt);
    REQUIRE(why == fault::none);
    gather parts;
    parts.add("hello, ");
    parts.add("world");
    if (!line.write_now(parts)) why = co_await line.write_rest(parts);
    std::array<char, 100> buffer{};
    while (heard.size() < 12) {
        const read_result got = co_await line.read_some(buffer);
        REQUIRE(got.size > 0);
        heard.append(buffer.data(), got.size);
    }
    CHECK(line.octets_in == 12);
    CHECK(line.octets_out == 12);
}

}  // namespace

TEST_CASE("connection: carries octets both ways over TCP, IPv6 and Unix sockets") {
    for (const std::string& where :
         {std::string("127.0.0.1:0"), std::string("[::1]:0"), "unix:" + socket_path()}) {
        INFO(where);
        asio::io_context context(1);
        listener at = listen_on(context, where);
        std::string heard;
        asio::co_spawn(context, echo(at, context), asio::detached);
        asio::co_spawn(context, talk(at, context, heard), asio::detached);
        context.run();
        CHECK(heard == "hello, world");
        close(at);
    }
}

TEST_CASE("connection: a port that nobody listens on refuses") {
    asio::io_context context(1);
    listener at = listen_on(context, "127.0.0.1:0");
    const address nobody = at.where;
    close(at);
    fault why = fault::none;
    const auto open = [](asio::io_context& in, address to, fault& got) -> asio::awaitable<void> {
        connection line(in);
        got = co_await line.open(to, std::nullopt);
    };
    asio::co_spawn(context, open(context, nobody, why), asio::detached);
    context.run();
    CHECK(why == fault::refused);
}

TEST_CASE("connection: cancel() ends a read that waits, with the canceller's fault") {
    asio::io_context context(1);
    listener at = listen_on(context, "127.0.0.1:0");
    connection line(context);
    read_result got;
    const auto read = [](connection& on, address to, read_result& into) -> asio::awaitable<void> {
        const fault opened = co_await on.open(to, std::nullopt);
        REQUIRE(opened == fault::none);
        std::array<char, 10> buffer{};
        asio::post(co_await asio::this_coro::executor,
                   [&on] { on.cancel(cancelled_by::deadline); });
        into = co_await on.read_some(buffer);
        on.close();
    };
    asio::co_spawn(context, read(line, at.where, got), asio::detached);
    context.run();
    CHECK(got.size == 0);
    CHECK(got.why == fault::timeout);
}

TEST_CASE("listener: a living server's Unix socket is not taken over, a dead one's is") {
    asio::io_context context(1);
    const std::string path = socket_path();
    listener first = listen_on(context, "unix:" + path);
    auto where = parse_endpoint("unix:" + path, 0);
    CHECK_FALSE(listen(context, *where).has_value());
    boost::system::error_code ignored;
    first.socket.close(ignored);  // as if it had died: the file stays
    auto again = listen(context, *where);
    REQUIRE(again.has_value());
    close(again->front());
    CHECK_FALSE(std::filesystem::exists(path));
}
