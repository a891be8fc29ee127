// SPDX-License-Identifier: GPL-3.0-or-later
// Output that is put off to the end of a batch of events: write_soon() and what comes after it.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <memory>
#include <vector>

#include "line_with_peer.hpp"

using namespace postal::net;
using namespace postal::net::test;

namespace {

constexpr std::size_t most_at_once = 16 * 1024;
constexpr std::size_t events_a_burst = 16;

// Octets that tell where they stand.
std::string numbered(std::size_t size, std::size_t first = 0) {
    std::string made(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        made[i] = static_cast<char>('!' + (first + i) % 89);
    }
    return made;
}

}  // namespace

TEST_CASE("deferred writing: nothing is put off while no batch is served") {
    asio::io_context context(1);
    line_with_peer line(context);
    CHECK_FALSE(line.put_off("hello"));
    CHECK(line.own->octets_queued() == 0);
    CHECK(line.write("hello"));
    CHECK(line.peer_hears() == "hello");
    CHECK(line.own->octets_out == 5);
}

TEST_CASE("deferred writing: what is put off leaves together, when the batch is through") {
    asio::io_context context(1);
    line_with_peer first(context);
    line_with_peer second(context);
    const auto answer = [&](line_with_peer& line) {
        CHECK(line.put_off("an answer"));
        CHECK(line.own->octets_out == 0);
        CHECK(line.own->octets_queued() == 9);
        CHECK(first.peer_hears().empty());
        CHECK(second.peer_hears().empty());
    };
    const std::function<void()> answer_first = [&] { answer(first); };
    first.on_next_octet(answer_first);
    first.peer_says('x');
    in_a_batch(context, second, [&] { answer(second); });
    for (line_with_peer* line : {&first, &second}) {
        CHECK(line->peer_hears() == "an answer");
        CHECK(line->own->octets_out == 9);
        CHECK(line->own->octets_queued() == 9);
    }
}

TEST_CASE("deferred writing: who wants to know is told when octets leave") {
    struct diary final : connection::departures {
        explicit diary(const connection& of) : line(of) {}
        void octets_left(connection::time when) noexcept override {
            octets.push_back(line.octets_out);
            times.push_back(when);
        }
        const connection& line;
        std::vector<std::uint64_t> octets;
        std::vector<connection::time> times;
    };
    asio::io_context context(1);
    line_with_peer line(context);
    diary kept(*line.own);
    line.own->tell(&kept);
    connection::time put_off{};
    in_a_batch(context, line, [&] {
        CHECK(line.put_off("later"));
        put_off = std::chrono::steady_clock::now();
        CHECK(kept.octets.empty());
    });
    REQUIRE(kept.octets == std::vector<std::uint64_t>{5});
    CHECK(kept.times[0] >= put_off);

    const connection::time before = std::chrono::steady_clock::now();
    CHECK(line.write("now"));
    CHECK(kept.octets == std::vector<std::uint64_t>{5, 8});
    CHECK(kept.times[1] >= before);

    line.shrink_buffer();
    CHECK_FALSE(line.write(numbered(1 << 20)));  // each piece that the socket takes
    CHECK(kept.octets.back() == line.own->octets_out);
    CHECK(kept.octets.back() > 8);
    line.own->tell(nullptr);
}

TEST_CASE("deferred writing: in a long batch what is put off leaves after every few events") {
    asio::io_context context(1);
    std::vector<std::unique_ptr<line_with_peer>> lines;
    std::size_t served = 0;
    const auto heard = [&] {
        return static_cast<std::size_t>(std::count_if(
            lines.begin(), lines.end(), [](auto& line) { return line->own->octets_out != 0; }));
    };
    std::vector<std::function<void()>> answers;
    for (std::size_t i = 0; i < 3 * events_a_burst; ++i) {
        lines.push_back(std::make_unique<line_with_peer>(context));
        answers.emplace_back([&, i] {
            CHECK(heard() == served / events_a_burst * events_a_burst);
            CHECK(lines[i]->put_off("answer"));
            ++served;
        });
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        lines[i]->on_next_octet(answers[i]);
        lines[i]->peer_says('x');
    }
    serve_events(context);
    CHECK(served == lines.size());
    CHECK(heard() == lines.size());
    for (const auto& line : lines) {
        CHECK(line->peer_hears() == "answer");
    }
}

TEST_CASE("deferred writing: what is written at once stands behind what was put off") {
    asio::io_context context(1);
    line_with_peer line(context);
    in_a_batch(context, line, [&] {
        CHECK(line.put_off("one "));
        CHECK(line.put_off("two "));
        CHECK(line.peer_hears().empty());
        CHECK(line.write("three"));
        CHECK(line.peer_hears() == "one two three");
        CHECK(line.own->octets_out == 13);
        CHECK(line.put_off(" four"));
        CHECK(line.own->octets_queued() == 18);
    });
    CHECK(line.peer_hears() == " four");
    CHECK(line.own->octets_out == 18);
}

TEST_CASE("deferred writing: several parts stay in order") {
    asio::io_context context(1);
    line_with_peer line(context);
    in_a_batch(context, line, [&] {
        gather parts;
        for (const char* part : {"a", "bc", "", "def"}) {
            parts.add(part);
        }
        parts.take_away(2);
        CHECK(line.own->write_soon(parts));
    });
    CHECK(line.peer_hears() == "cdef");
}

TEST_CASE("deferred writing: much at once is not put off, and keeps its place") {
    asio::io_context context(1);
    line_with_peer line(context);
    const std::string much = numbered(most_at_once + 1);
    std::string heard;
    in_a_batch(context, line, [&] {
        CHECK(line.put_off("first "));
        CHECK_FALSE(line.put_off(much));
        CHECK(line.write(much));
        heard = line.peer_hears();
        CHECK(line.put_off(much.substr(1)));
    });
    CHECK(heard == "first " + much);
    CHECK(line.peer_hears() == much.substr(1));
}

TEST_CASE("deferred writing: all connections together have room for 256 KiB") {
    constexpr std::size_t room = 256 * 1024;
    asio::io_context context(1);
    line_with_peer line(context);
    line_with_peer other(context);
    std::string heard;
    in_a_batch(context, line, [&] {
        for (std::size_t i = 0; i < room / most_at_once; ++i) {
            line_with_peer& one = i % 2 == 0 ? line : other;
            CHECK(one.put_off(numbered(most_at_once, i / 2 * most_at_once)));
        }
        CHECK_FALSE(line.put_off("x"));
        CHECK_FALSE(other.put_off("x"));
        line.own->settle();  // sends for all
        CHECK(other.own->octets_out == room / 2);
        CHECK(line.put_off("x"));
    });
    CHECK(line.peer_hears() == numbered(room / 2) + "x");
    CHECK(other.peer_hears() == numbered(room / 2));
}

TEST_CASE("deferred writing: settle, an end of the output, close and destruction send it first") {
    struct row {
        const char* reason;
        std::function<void(line_with_peer&)> act;
        bool open;
    };
    const std::vector<row> rows{
        {"settle", [](line_with_peer& line) { line.own->settle(); }, true},
        {"end of the output", [](line_with_peer& line) { line.own->shutdown_output(); }, true},
        {"close", [](line_with_peer& line) { line.own->close(); }, false},
        {"destruction", [](line_with_peer& line) { line.own.reset(); }, false}};
    for (const row& one : rows) {
        INFO(one.reason);
        asio::io_context context(1);
        line_with_peer line(context);
        line_with_peer other(context);
        in_a_batch(context, line, [&] {
            CHECK(other.put_off("from the other"));
            CHECK(line.put_off("last words"));
            one.act(line);
            CHECK(line.peer_hears() == "last words");
            CHECK((line.own && line.own->is_open()) == one.open);
            if (one.open) CHECK(line.own->octets_out == 10);
        });
        CHECK(line.peer_hears().empty());
        CHECK(other.peer_hears() == "from the other");
    }
}

TEST_CASE("deferred writing: a peer that has gone meanwhile is told by the next read") {
    for (const bool waits : {false, true}) {
        INFO((waits ? "a read waits" : "no read waits"));
        asio::io_context context(1);
        line_with_peer line(context);
        std::optional<read_result> told;
        std::array<char, 8> buffer{};
        in_a_batch(context, line, [&] {
            line.peer_leaves();
            CHECK(line.put_off("to nobody"));
            if (waits) line.own->when_readable([&] { told = line.own->read_ready(buffer); });
        });
        if (!waits) told = line.own->read_ready(buffer);
        REQUIRE(told);
        CHECK(told->size == 0);
        CHECK(told->why == fault::reset);
        CHECK(line.own->octets_out == 0);
        CHECK(line.own->octets_queued() == 0);
        CHECK(line.write("nor this"));  // over: there is nothing to wait for
        CHECK(line.own->last_fault() == fault::reset);
        CHECK(line.own->octets_out == 0);
    }
}

TEST_CASE("deferred writing: a failure to send wakes the read that waits, whatever the peer does") {
    asio::io_context context(1);
    line_with_peer line(context);
    std::optional<read_result> told;
    std::array<char, 8> buffer{};
    in_a_batch(context, line, [&] {
        CHECK(line.put_off("too late"));
        CHECK(::shutdown(line.own->native(), SHUT_WR) == 0);
        line.own->when_readable([&] { told = line.own->read_ready(buffer); });
    });
    REQUIRE(told);
    CHECK(told->why == fault::reset);
}

TEST_CASE("deferred writing: what finds no room is kept, and counted when it leaves") {
    constexpr std::size_t all = 6 * most_at_once;
    asio::io_context context(1);
    line_with_peer line(context);
    line.shrink_buffer();
    in_a_batch(context, line, [&] {
        for (std::size_t at = 0; at < all; at += most_at_once) {
            CHECK(line.put_off(numbered(most_at_once, at)));
        }
        CHECK(line.own->octets_out == 0);
        CHECK(line.own->octets_queued() == all);
    });
    CHECK(line.own->octets_out > 0);
    CHECK(line.own->octets_out < all);
    CHECK(line.own->octets_queued() == all);
    std::string heard;
    while (heard.size() < all) {
        heard += line.peer_hears();
        CHECK(line.own->octets_out == heard.size());
        CHECK(line.own->octets_queued() == all);
        const auto before = line.own->octets_out;
        serve_events(context);  // there is room again
        if (line.own->octets_out == before) break;
    }
    CHECK(heard == numbered(all));
}

TEST_CASE("deferred writing: while something is kept nothing is put off or written before it") {
    asio::io_context context(1);
    line_with_peer line(context);
    line.shrink_buffer();
    const std::string text = numbered(most_at_once);
    in_a_batch(context, line, [&] { CHECK(line.put_off(text)); });
    const auto left = line.own->octets_out;
    REQUIRE(left < text.size());
    in_a_batch(context, line, [&] { CHECK_FALSE(line.put_off("later")); });
    CHECK_FALSE(line.write("later"));
    CHECK(line.own->octets_out == left);
    CHECK(line.own->octets_queued() == text.size());

    SECTION("write_now sends it itself when there is room by then") {
        std::string heard;
        bool written = false;
        while (!written && heard.size() < text.size()) {
            heard += line.peer_hears();
            written = line.write("later");
        }
        CHECK(written);
        CHECK(heard + line.peer_hears() == text + "later");
        in_a_batch(context, line, [&] { CHECK(line.put_off(", and last")); });
        CHECK(line.peer_hears() == ", and last");
    }
    SECTION("write_rest waits for it") {
        std::optional<fault> ended;
        const auto write = [](connection& on, std::optional<fault>& why) -> asio::awaitable<void> {
            gather parts;
            parts.add("later");
            why = co_await on.write_rest(parts);
        };
        asio::co_spawn(context, write(*line.own, ended), asio::detached);
        std::string heard;
        do {
            serve_events(context);
            heard += line.peer_hears();
        } while (!ended && heard.size() < text.size());
        serve_events(context);
        CHECK(ended == fault::none);
        CHECK(heard + line.peer_hears() == text + "later");
        CHECK(line.own->octets_out == text.size() + 5);
    }
    SECTION("a peer that leaves instead is told by the next read") {
        line.peer_leaves();
        serve_events(context);
        std::array<char, 8> buffer{};
        CHECK(line.own->read_ready(buffer).why == fault::reset);
        CHECK(line.own->octets_queued() == left);
    }
    SECTION("a closed connection forgets it") {
        line.own->close();
        CHECK(line.own->octets_queued() == left);
        serve_events(context);
        CHECK(line.peer_hears() == text.substr(0, left));
    }
}
