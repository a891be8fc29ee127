// SPDX-License-Identifier: GPL-3.0-or-later
// A server's session against a client in the same thread, over a socket pair: both sides of a
// transcript are spoken, and what was counted at their end is one line to compare.
#pragma once

#include "serve/session.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace postal::serve::test {

enum phase : std::size_t { data, message, phases };

// How a session answers a message: with its end, or when it is told to.
enum class answering { at_once, later };

// What happens at one stage.
struct judging {
    std::optional<proto::server_stage> at{};
    std::optional<proto::server_reply> reply{};
    stage_effect effect{};
    bool answered = false;  // before its close
};

// Takes every recipient but `nobody`, and accepts every message; memory runs out at "no memory".
class accepting_session final : public serve::session {
  public:
    accepting_session(worker_context& context, accepted_client&& who, answering how,
                      const judging& judged)
        : serve::session(context, std::move(who), "mail.example.com"),
          answering_(how),
          judging_(judged) {}

    void answer_now() {
        late_ = false;
        wake();
    }
    void begin_work() { working_ = true; }
    void end_work() {
        working_ = false;
        wake();
    }

    std::string greeting;
    std::string content;
    unsigned dropped = 0;
    unsigned left = 0;

  private:
    void client_left() override { ++left; }
    void greeted(std::string_view name) override { greeting = name; }
    std::optional<proto::server_reply> judge(const proto::server_step& asked) override {
        if (judging_.at == asked.stage) add_effect(judging_.effect, judging_.answered);
        if (judging_.at == asked.stage && judging_.reply) return judging_.reply;
        const bool unknown = asked.stage == proto::server_stage::rcpt &&
                             machine().current_path().local_part == "nobody";
        return unknown ? std::optional(proto::replies::no_such_user) : std::nullopt;
    }
    void begin_message() override { open_ = true; }
    void take_content(std::string_view text) override {
        if (text.starts_with("no memory")) throw std::bad_alloc();
        content += text;
    }
    void end_message() override {
        ended_ = units_begun();
        late_ = answering_ == answering::later;
        if (!late_) answer();
    }
    void answer() {
        while (machine().answers_due() != 0) {
            machine().answer_delivery(proto::replies::message_ok, output());
        }
        due_ = ended_;
    }
    bool answers_ready() const override { return !late_; }
    void give_answers() override {
        answer();
        answers_due_now();
    }
    void answers_due_now() override {
        if (due_ == 0) return;
        tally().messages += due_;
        units_ended(due_);
        answered(due_);
        due_ = ended_ = 0;
        open_ = false;
    }
    bool outcome_pending() const override { return ended_ != 0; }
    bool work_left() const override { return working_; }
    void drop_message() override {
        if (std::exchange(open_, false)) ++dropped;
        due_ = ended_ = 0;
        late_ = false;
    }
    void stop_now() override {
        if (late_) answer_now();
    }

    const answering answering_;
    const judging judging_;
    std::uint32_t ended_ = 0;  // units of a message without its answer
    std::uint32_t due_ = 0;    // of one whose answer is in the output
    bool open_ = false;        // a message has begun and has no outcome
    bool late_ = false;
    bool working_ = false;
};

// ---- transcripts ----

enum class act {
    says,
    hears,      // exactly this next
    closed,     // the server has closed, and has said nothing more
    leaves,     // closes the connection
    turns_off,  // says no more, but listens
    floods,     // with commands, without reading a reply, until the server takes no more
    stop_gently,
    stop_now,
    calls,  // the session, when it has done all that it can do by now
};

struct step {
    act what;
    std::string text{};
    std::function<void(accepting_session&)> call{};
};
using transcript = std::vector<step>;

inline step says(std::string_view lines) {
    return {act::says, std::string(lines)};
}
inline step hears(std::string_view lines) {
    return {act::hears, std::string(lines)};
}
inline step calls(std::function<void(accepting_session&)> what) {
    return {act::calls, {}, std::move(what)};
}
inline const step closed{act::closed};
inline const step leaves{act::leaves};
inline const step stop_gently{act::stop_gently};
inline const step stop_now{act::stop_now};
// The time in which something must be heard is over.
inline const step silence = calls([](accepting_session& session) { session.on_deadline(); });
inline const step answer = calls([](accepting_session& session) { session.answer_now(); });

inline transcript operator+(transcript first, const transcript& then) {
    first.insert(first.end(), then.begin(), then.end());
    return first;
}

inline constexpr std::string_view banner = "220 mail.example.com ESMTP ready\r\n";
inline constexpr std::string_view sender_ok = "250 2.1.0 Sender ok\r\n";
inline constexpr std::string_view recipient_ok = "250 2.1.5 Recipient ok\r\n";
inline constexpr std::string_view start_data = "354 End data with <CRLF>.<CRLF>\r\n";
inline constexpr std::string_view message_ok = "250 2.0.0 Message accepted\r\n";
inline constexpr std::string_view no_such_user = "550 5.1.1 No such user\r\n";
inline constexpr std::string_view bye = "221 2.0.0 Bye\r\n";
inline constexpr std::string_view silent = "421 4.4.2 Timeout, closing\r\n";
inline constexpr std::string_view stopping = "421 4.3.2 Shutting down\r\n";

// A client's way through a transaction, to be left at each of its places.
inline const transcript connected{hears(banner)};
inline const transcript greeted =
    connected + transcript{says("HELO client\r\n"), hears("250 mail.example.com\r\n")};
inline const transcript sender_given =
    greeted + transcript{says("MAIL FROM:<a@example.com>\r\n"), hears(sender_ok)};
inline const transcript recipient_given =
    sender_given + transcript{says("RCPT TO:<b@example.com>\r\n"), hears(recipient_ok)};
inline const transcript data_begun =
    recipient_given + transcript{says("DATA\r\n"), hears(start_data)};
inline const transcript in_content = data_begun + transcript{says("Subject: x\r\n")};
inline const transcript content_sent = in_content + transcript{says("\r\nbody\r\n.\r\n")};
inline const transcript accepted = content_sent + transcript{hears(message_ok)};
inline const transcript quits{says("QUIT\r\n"), hears(bye), closed};

// ---- one run ----

inline session_rules plain_rules() {
    session_rules rules;
    rules.data_phase = data;
    rules.message_phase = message;
    return rules;
}

struct settings {
    session_rules rules = plain_rules();
    judging judged{};
    answering how = answering::at_once;
    std::size_t octets_a_write = 0;  // 0: as they stand in the transcript
    bool tls = false;
    bool stopped_before = false;  // gently, before it first runs
    bool no_socket = false;
    bool neighbour = false;  // over a Unix socket
};

inline settings judged(judging how, settings made = {}) {
    made.rules.server.judges_stages = made.rules.server.judges_senders = true;
    made.judged = std::move(how);
    return made;
}

inline settings lmtp() {
    settings made;
    made.rules.server.speaks = proto::dialect::lmtp;
    return made;
}

// The counts that are not 0 and the errors, in one line.
inline std::string told(const stats::tally& counts) {
    std::string text;
    for (const auto& [name, value] :
         {std::pair("started", counts.started), std::pair("accepted", counts.messages),
          std::pair("rejected", counts.rejected), std::pair("deferred", counts.deferred),
          std::pair("failed", counts.failed), std::pair("in doubt", counts.in_doubt),
          std::pair("unheard", counts.unheard), std::pair("closed idle", counts.idle_closes)}) {
        if (value != 0) text += std::to_string(value) + " " + name + ", ";
    }
    for (const stats::error_entry& one : counts.errors.entries()) {
        text += std::to_string(one.count) + "x " + one.stage + " " + std::to_string(one.code) +
                " " + one.detail + ", ";
    }
    for (const stats::named_count& one : counts.limits.sorted())
        text += std::to_string(one.count) + "x --" + one.name + ", ";
    if (!text.empty()) text.resize(text.size() - 2);
    return text;
}

// A worker with one session and one client, until both have ended, or with one after the other.
class single_session {
  public:
    explicit single_session(settings wanted) : settings_(std::move(wanted)) {}

    // What was counted, in one line.
    std::string run(const transcript& spoken) { return run_all({spoken}); }

    // Of clients that come one after the other.
    std::string run_all(const std::vector<transcript>& clients) {
        std::optional<stats::tally> counted;
        std::optional<worker_context> context;  // outlives what is left of a session by a defect
        load::worker own({.phases = phases},
                         [&](load::worker&, std::chrono::nanoseconds, const stats::tally& counts,
                             bool) { counted = counts; });
        context.emplace(settings_.rules, own);
        load::timetable times;
        times.start = std::chrono::steady_clock::now();
        times.first_interval = times.interval = std::chrono::hours(1);
        // A defect shall fail the test instead of holding it up.
        bool gave_up = false;
        boost::asio::steady_timer alarm(own.context(), std::chrono::seconds(30));
        alarm.async_wait([&](const boost::system::error_code& error) {
            if (error) return;
            gave_up = true;
            own.context().stop();
        });
        own.run(times, [&](load::worker&) {
            if (settings_.stopped_before) own.stop(load::stop_kind::gently);
            own.spawn(one_by_one(clients, *context));
        });
        CHECK_FALSE(gave_up);
        CHECK_FALSE(own.failure());
        CHECK(own.open_connections() == 0);
        CHECK(slots_.take());  // given back
        REQUIRE(counted);
        CHECK(counted->connections == clients.size());
        CHECK(counted->started == counted->messages + counted->rejected + counted->deferred +
                                      counted->failed + counted->in_doubt);
        CHECK(counted->latency[message].count() <= counted->messages);
        transactions = counted->transactions;
        pipelined = counted->pipelined;
        return told(*counted);
    }

    std::string greeting;
    std::string content;
    unsigned dropped = 0;
    unsigned left = 0;
    std::uint64_t transactions = 0;
    std::uint64_t pipelined = 0;

  private:
    boost::asio::awaitable<void> one_by_one(std::vector<transcript> clients,
                                            worker_context& context) {
        for (const transcript& spoken : clients) {
            std::array<int, 2> ends{-1, -1};
            constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
            REQUIRE(socketpair(AF_UNIX, kind, 0, ends.data()) == 0);
            if (settings_.no_socket) ::close(std::exchange(ends[0], -1));
            // By its word over a network, whose clients are not trusted.
            net::accepted ours{base::file_descriptor(ends[0]),
                               settings_.neighbour ? AF_UNIX : AF_INET};
            net::accepted theirs{base::file_descriptor(ends[1]), AF_UNIX};
            ended_ = false;
            context.own.spawn(serve(context, {std::move(ours), *slots_.take(), settings_.tls}));
            co_await speak(spoken, context.own, std::move(theirs));
            while (!ended_) {
                co_await let_session_run(context.own);
            }
        }
    }

    boost::asio::awaitable<void> serve(worker_context& context, accepted_client who) {
        accepting_session session(context, std::move(who), settings_.how, settings_.judged);
        session_ = &session;
        co_await session.run();
        session_ = nullptr;
        ended_ = true;
        greeting = session.greeting;
        content = session.content;
        dropped = session.dropped;
        left = session.left;
    }

    boost::asio::awaitable<void> speak(transcript spoken, load::worker& own, net::accepted socket) {
        net::connection client(own.context());
        client.adopt(std::move(socket));
        for (const step& one : spoken) {
            switch (one.what) {
                case act::says:
                    co_await say(client, one.text);
                    break;
                case act::hears:
                    co_await hear(client, one.text);
                    break;
                case act::closed:
                    co_await hear_the_end(client);
                    break;
                case act::leaves:
                    client.close();
                    break;
                case act::turns_off:
                    client.shutdown_output();
                    break;
                case act::floods:
                    co_await flood(client, own);
                    break;
                case act::stop_gently:
                case act::stop_now:
                    co_await let_session_run(own);
                    own.stop(one.what == act::stop_now ? load::stop_kind::now
                                                       : load::stop_kind::gently);
                    co_await let_session_run(own);
                    break;
                case act::calls:
                    co_await let_session_run(own);
                    CHECK(session_ != nullptr);
                    CHECK_FALSE(slots_.take());
                    if (session_ != nullptr) one.call(*session_);
                    break;
            }
        }
    }

    static boost::asio::awaitable<void> flood(net::connection& client, load::worker& own) {
        constexpr std::uint64_t more_than_fits = 8 * 1024 * 1024;
        std::string lines;
        for (int i = 0; i < 1000; ++i) {
            lines += "NOOP\r\n";
        }
        net::gather parts;
        parts.add(lines);
        for (bool taken = true; taken && client.octets_out < more_than_fits;) {
            const std::uint64_t before = client.octets_out;
            if (client.write_now(parts)) parts.add(lines);
            co_await let_session_run(own);
            taken = client.octets_out != before;
        }
        CHECK(client.octets_out < more_than_fits);
    }

    // Until it has done all that it can do with what was said.
    static boost::asio::awaitable<void> let_session_run(load::worker& own) {
        for (int turn = 0; turn < 8; ++turn) {
            co_await boost::asio::post(own.context(), boost::asio::use_awaitable);
        }
    }

    boost::asio::awaitable<void> say(net::connection& client, std::string_view text) const {
        const std::size_t most = settings_.octets_a_write;
        while (!text.empty()) {
            const std::string_view piece = text.substr(0, most == 0 ? text.size() : most);
            text.remove_prefix(piece.size());
            net::gather parts;
            parts.add(piece);
            const net::fault why = co_await client.write_rest(parts);
            CHECK(why == net::fault::none);
            if (text.empty() || why != net::fault::none) co_return;
            co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                                       boost::asio::use_awaitable);
        }
    }

    boost::asio::awaitable<void> hear(net::connection& client, std::string_view text) {
        while (heard_.size() < text.size()) {
            std::array<char, 4096> buffer{};
            const net::read_result got = co_await client.read_some(buffer);
            if (got.size == 0) break;
            heard_.append(buffer.data(), got.size);
        }
        const std::string came = heard_.substr(0, text.size());
        heard_.erase(0, text.size());
        CHECK(came == text);
    }

    boost::asio::awaitable<void> hear_the_end(net::connection& client) {
        std::array<char, 4096> buffer{};
        const net::read_result got = co_await client.read_some(buffer);
        CHECK(heard_ + std::string(buffer.data(), got.size) == "");
        CHECK(got.why != net::fault::none);
    }

    const settings settings_;
    session_slots slots_{1, {}};
    accepting_session* session_ = nullptr;
    bool ended_ = false;
    std::string heard_;  // and not asked for yet
};

struct row {
    std::string reason;
    settings how;
    transcript spoken;
    std::string counted;
    bool in_pieces = true;  // the same when it is said octet by octet
};

inline void check(const std::vector<row>& rows) {
    for (const row& one : rows) {
        for (const std::size_t octets : {0, 1}) {
            if (octets != 0 && !one.in_pieces) continue;
            INFO(one.reason << (octets == 0 ? "" : ", octet by octet"));
            settings how = one.how;
            how.octets_a_write = octets;
            CHECK(single_session(how).run(one.spoken) == one.counted);
        }
    }
}

}  // namespace postal::serve::test
