// SPDX-License-Identifier: GPL-3.0-or-later
// Bounces against a relay of a few lines, in the loop of one worker.
#include "bhm/bouncer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/use_awaitable.hpp>

#include "net/listener.hpp"

using namespace postal;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// The reply to a command, or to the end of the data ("."); empty: it closes the connection.
using answers = std::function<std::string(const std::string& line)>;

struct heard {
    std::vector<std::string> commands{};
    std::string data{};
};

std::string agree(const std::string& line) {
    if (line == "DATA") return "354 go on\r\n";
    return line == "QUIT" ? "221 bye\r\n" : "250 ok\r\n";
}

// The next line, without its end; nothing when the client has gone.
asio::awaitable<std::optional<std::string>> next_line(net::connection& from, std::string& input) {
    std::array<char, 4096> buffer{};
    std::size_t end = input.find("\r\n");
    while (end == std::string::npos) {
        const net::read_result got = co_await from.read_some(buffer);
        if (got.size == 0) co_return std::nullopt;
        input.append(buffer.data(), got.size);
        end = input.find("\r\n");
    }
    std::string line = input.substr(0, end);
    input.erase(0, end + 2);
    co_return line;
}

asio::awaitable<void> say(net::connection& to, const std::string& text) {
    net::gather parts;
    parts.add(text);
    if (!to.write_now(parts)) co_await to.write_rest(parts);
}

asio::awaitable<void> converse(net::connection& with, heard& into, const answers& reply) {
    std::string input;
    bool in_data = false;
    co_await say(with, "220 relay\r\n");
    for (;;) {
        const std::optional<std::string> line = co_await next_line(with, input);
        if (!line) co_return;
        if (in_data && *line != ".") {
            into.data += *line + "\n";
            continue;
        }
        in_data = false;
        into.commands.push_back(*line);
        const std::string answer = reply(*line);
        if (answer.empty()) co_return;
        co_await say(with, answer);
        in_data = answer.starts_with("354");
    }
}

asio::awaitable<void> serve(net::listener& at, load::worker& own, heard& into,
                            const answers& reply) {
    for (;;) {
        net::fault why = co_await net::wait_for_connection(at, asio::use_awaitable);
        if (why != net::fault::none) co_return;
        net::connection line(own.context());
        why = line.adopt(net::accept_now(at, why));
        if (why == net::fault::none) co_await converse(line, into, reply);
    }
}

// Until the bouncer has counted what became of all of them.
asio::awaitable<void> close_when_done(net::listener& at, load::worker& own, std::size_t bounces) {
    asio::steady_timer pause(own.context());
    while (own.tally().bounces_sent + own.tally().bounces_failed < bounces) {
        pause.expires_after(1ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
    net::close(at);
}

struct outcome {
    heard relay{};
    std::uint64_t sent = 0;
    std::uint64_t failed = 0;
    std::vector<stats::error_entry> errors{};
};

outcome send(const std::vector<bhm::bounce>& all, const answers& reply) {
    outcome result;
    load::worker one({.phases = 1}, [&](load::worker&, std::chrono::nanoseconds,
                                        const stats::tally& counted, bool) {
        result.sent += counted.bounces_sent;
        result.failed += counted.bounces_failed;
        for (const auto& entry : counted.errors.entries())
            result.errors.push_back(entry);
    });
    auto where = net::parse_endpoint("127.0.0.1:0", 0);
    REQUIRE(where.has_value());
    auto opened = net::listen(one.context(), *where);
    REQUIRE(opened.has_value());
    net::listener& at = opened->front();
    const bhm::bounce_route route{"the relay", {at.where}, "mx.example", 1};
    bhm::bouncer sender(route, one);
    const load::timetable times{
        .start = std::chrono::steady_clock::now(), .first_interval = 1h, .interval = 1h};
    one.run(times, [&](load::worker& own) {
        own.spawn(serve(at, own, result.relay, reply));
        own.spawn(close_when_done(at, own, all.size()));
        for (const bhm::bounce& each : all)
            sender.add(each);
    });
    return result;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("bouncer: several go over one connection, from nobody, with their dots stuffed") {
    const outcome got =
        send({{"a@example.org", "A: b\r\n\r\n.\r\n..x\r\n"}, {"b@example.org", "C: d\r\n"}}, agree);
    CHECK(got.relay.commands == list{"EHLO mx.example", "MAIL FROM:<>", "RCPT TO:<a@example.org>",
                                     "DATA", ".", "MAIL FROM:<>", "RCPT TO:<b@example.org>", "DATA",
                                     ".", "QUIT"});
    CHECK(got.relay.data == "A: b\n\n..\n...x\nC: d\n");
    CHECK(got.sent == 2);
    CHECK(got.failed == 0);
    CHECK(got.errors.empty());
}

TEST_CASE("bouncer: what is refused is counted, and the next one goes all the same") {
    for (const std::string refused : {"MAIL FROM:<>", "RCPT TO:<a@example.org>", "DATA", "."}) {
        CAPTURE(refused);
        bool first = true;
        const outcome got = send({{"a@example.org", "A: b\r\n"}, {"b@example.org", "C: d\r\n"}},
                                 [&](const std::string& line) {
                                     const bool no = line == refused && std::exchange(first, false);
                                     return no ? std::string("550 5.7.1 no\r\n") : agree(line);
                                 });
        CHECK(got.sent == 1);
        CHECK(got.failed == 1);
        REQUIRE(got.errors.size() == 1);
        CHECK(got.errors[0].stage == "bounce");
        CHECK(got.errors[0].code == 550);
        CHECK(got.errors[0].detail == "5.7.1");
        CHECK(std::count(got.relay.commands.begin(), got.relay.commands.end(), "RSET") == 1);
    }
}

TEST_CASE("bouncer: what is deferred, or lost, is tried again") {
    for (const std::string& reply : {std::string("451 4.3.0 later\r\n"), std::string()}) {
        CAPTURE(reply);
        bool first = true;
        const outcome got = send({{"a@example.org", "A: b\r\n"}}, [&](const std::string& line) {
            const bool now = line == "DATA" && std::exchange(first, false);
            return now ? reply : agree(line);
        });
        CHECK(got.sent == 1);
        CHECK(got.failed == 0);
        CHECK(got.relay.data == "A: b\n");
    }
}

TEST_CASE("bouncer: an address that is not ASCII needs SMTPUTF8") {
    const std::string to = "\xc3\xa4@example.org";
    const outcome without = send({{to, "A: b\r\n"}}, agree);
    CHECK(without.failed == 1);
    REQUIRE(without.errors.size() == 1);
    CHECK(without.errors[0].detail == "no_smtputf8");
    const outcome with = send({{to, "A: b\r\n"}}, [](const std::string& line) {
        return line.starts_with("EHLO")
                   ? std::string("250-relay\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n")
                   : agree(line);
    });
    CHECK(with.sent == 1);
    REQUIRE(with.relay.commands.size() > 1);
    CHECK(with.relay.commands[1] == "MAIL FROM:<> BODY=8BITMIME SMTPUTF8");
}

TEST_CASE("bouncer: a relay that does not know EHLO hears HELO") {
    const outcome got = send({{"a@example.org", "A: b\r\n"}}, [](const std::string& line) {
        return line.starts_with("EHLO") ? std::string("502 what\r\n") : agree(line);
    });
    CHECK(got.sent == 1);
    CHECK(got.relay.commands[1] == "HELO mx.example");
}

TEST_CASE("bouncer: no more wait than there is room for") {
    const std::vector<bhm::bounce> many(bhm::bouncer::most_waiting + 5,
                                        {"a@x.example", "A: b\r\n"});
    const outcome got = send(many, agree);
    CHECK(got.sent == bhm::bouncer::most_waiting);
    CHECK(got.failed == 5);
    REQUIRE(got.errors.size() == 1);
    CHECK(got.errors[0].detail == "full");
    CHECK(got.errors[0].count == 5);
}
