// SPDX-License-Identifier: GPL-3.0-or-later
// One connection of postal's as a dialogue without a network: what it says, and what its books hold
// afterwards.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "postal/exchange.hpp"
#include "postal/ledger_entries.hpp"
#include "postal/message_maker.hpp"
#include "postal/message_outcomes.hpp"
#include "postal/phases.hpp"
#include "stats/tally.hpp"

namespace exchange_play {

using namespace postal;
using namespace postal::sender;

struct setting {
    bool lmtp = false;
    bool pipelining = false;
    bool overlap = false;
    bool chunking = false;
    unsigned in_flight = 1;
    unsigned recipients = 1;
    std::uint64_t messages = 1;  // on the connection
    // Each message is due so long after the one before it, in an open loop; 0: a closed one.
    std::chrono::nanoseconds due_every{};
    bool non_ascii = false;  // one of the three who receive mail has such an address
};

// accepted, rejected, deferred, failed, in doubt
using outcomes = std::vector<std::uint64_t>;

// The ledger's rows, as they would be written.
class kept_rows final : public sent_rows {
  public:
    void add(const ledger::sent_row& row) override { rows.push_back(row); }
    ledger::address_id address(std::string_view text) override {
        return known_.try_emplace(std::string(text), known_.size() + 1).first->second;
    }

    std::vector<ledger::sent_row> rows;

  private:
    std::map<std::string, ledger::address_id> known_;
};

class play {
  public:
    explicit play(const setting& wanted)
        : due_every_(wanted.due_every),
          plan_(options_of(wanted)),
          users_(plan_, wanted),
          entries_(plan_, rows_),
          maker_(plan_),
          outcomes_(counts_, &entries_, wanted.lmtp),
          exchange_(plan_, maker_, outcomes_, 0) {
        proto::capabilities offered;
        offered.pipelining = wanted.pipelining;
        offered.chunking = wanted.chunking;
        exchange_.begin(offered, wanted.messages);
        exchange_.take(next_ticket());
    }

    // Whatever was played: what ended is what the ledger's rows say.
    ~play() {
        CHECK(rows_of(ledger::outcome::accepted) == counts_.messages);
        CHECK(rows_of(ledger::outcome::rejected) == counts_.rejected);
        CHECK(rows_of(ledger::outcome::deferred) == counts_.deferred);
        CHECK(rows_of(ledger::outcome::failed) == counts_.failed);
        CHECK(rows_of(ledger::outcome::in_doubt) == counts_.in_doubt);
        const auto accepted = [](const ledger::sent_row& one) {
            return one.what == ledger::outcome::accepted;
        };
        CHECK(static_cast<std::uint64_t>(std::count_if(rows_.rows.begin(), rows_.rows.end(),
                                                       accepted)) == counts_.recipients);
    }
    play(const play&) = delete;
    play& operator=(const play&) = delete;

    // What it says now and what leaves so much later, message bodies as "<message>"; there is a
    // ticket whenever it wants one.
    std::string say(std::chrono::nanoseconds later = {}) {
        exchange_.compose(now_, written_);
        while (exchange_.wants_ticket()) {
            exchange_.take(next_ticket());
            exchange_.compose(now_, written_);
        }
        std::string said;
        for (const iovec& part : exchange_.gather_output().left()) {
            said.append(static_cast<const char*>(part.iov_base), part.iov_len);
        }
        written_ += said.size();
        exchange_.output_written();
        pass(later);
        exchange_.octets_left(written_, now_.steady);
        return without_bodies(said);
    }

    hearing hear(std::string_view replies) { return exchange_.hear(replies, now_).what; }
    // The connection breaks, `unsent` octets before the end of what was said.
    void lose(std::uint64_t unsent = 0) {
        exchange_.lost({"reset", "peer", written_ - unsent}, now_);
    }
    const stats::tally& books() const { return counts_; }
    exchange& line() { return exchange_; }

    sender::moment now() const { return now_; }
    void pass(std::chrono::nanoseconds time) {
        now_.steady += time;
        now_.since_epoch += time;
    }

    // That they are all that was started is checked, too.
    exchange_play::outcomes outcomes() const {
        const stats::tally& b = counts_;
        CHECK(b.started == b.messages + b.rejected + b.deferred + b.failed + b.in_doubt);
        return {b.messages, b.rejected, b.deferred, b.failed, b.in_doubt};
    }

  private:
    // As soon as the last of its messages is due, or now.
    load::ticket next_ticket() {
        load::ticket got{load::pass::go, now_.steady, true, exchange_.wanted(), {}};
        for (std::uint64_t i = 0; i < got.messages; ++i)
            got.each.add(now_.steady - due_every_ * (got.messages - 1 - i));
        return got;
    }

    static options options_of(const setting& wanted) {
        options chosen;
        chosen.lmtp = wanted.lmtp;
        chosen.open_loop = wanted.due_every.count() > 0;
        chosen.recipients = {wanted.recipients, wanted.recipients};
        chosen.chunking = wanted.chunking ? offer::automatic : offer::off;
        chosen.in_flight = wanted.in_flight;
        if (wanted.overlap) chosen.pipelining = pipelining::overlap;
        return chosen;
    }

    static std::string without_bodies(const std::string& said) {
        std::string result;
        std::size_t at = 0;
        for (;;) {
            const std::size_t body = said.find("From: ", at);
            if (body == std::string::npos) return result + said.substr(at);
            const std::size_t dot = said.find("\r\n.\r\n", body);
            const std::size_t next =
                std::min(said.find("MAIL FROM", body), said.find("RSET\r\n", body));
            std::size_t end = dot == std::string::npos ? next : dot + 2;
            result += said.substr(at, body - at) + "<message>";
            if (end == std::string::npos) return result;
            at = end;
        }
    }

    // Fills the plan before anything is made of it.
    struct users {
        users(plan& of, const setting& wanted) {
            const char* const third = wanted.non_ascii ? "\u00e7@example.com" : "c@example.com";
            for (const char* name : {"a@example.com", "b@example.com", third}) {
                of.recipients.push_back({name, "", "", 1});
            }
            of.draw_recipient = mail::account_draw(of.recipients.size(), {});
            of.draw_sender = mail::account_draw(1, {});
            of.senders = {{"s@example.com", "", "", 1}};
            // Its texts take long to make, and all plays may have the same.
            static const auto texts = *mail::message_plan::create(mail::message_options{});
            of.generated = texts;
        }
    };

    std::uint64_t rows_of(ledger::outcome what) const {
        return static_cast<std::uint64_t>(
            std::count_if(rows_.rows.begin(), rows_.rows.end(),
                          [what](const auto& one) { return one.counted && one.what == what; }));
    }

    std::chrono::nanoseconds due_every_;
    plan plan_;
    users users_;
    stats::tally counts_{phase_count};
    kept_rows rows_;
    ledger_entries entries_;
    message_maker maker_;
    message_outcomes outcomes_;
    exchange exchange_;
    sender::moment now_{std::chrono::steady_clock::time_point(std::chrono::hours(1)),
                        std::chrono::hours(24 * 365 * 50)};
    std::uint64_t written_ = 0;
};

}  // namespace exchange_play
