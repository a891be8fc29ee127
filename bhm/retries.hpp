// SPDX-License-Identifier: GPL-3.0-or-later
// How the clients of bhm come again after a deferral.
//
// A recipient is what a greylist takes for one: the client's network, sender and recipient
// (behaviour::triplet_text). One that was refused for now waits from then on, until it is taken or
// refused for good; until then whoever names it at RCPT tries it again. So two messages of the same
// sender to the same recipient are one here. What is counted (stats::counts) adds up:
//     deferred_recipients ==
//         taken_after_retry + rejected_after_retry + still_deferred + not_retried
//
// Memory is bounded: beyond `most` waiting recipients those that were idle longest are forgotten.
// They stay counted as what they were, and are counted as forgotten; if they come again that is no
// retry. Time is passed in, since the start of the run; where it goes back, 0 has passed. No I/O;
// nothing here fails.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "behaviour/gates.hpp"
#include "behaviour/recent_keys.hpp"
#include "behaviour/rule.hpp"
#include "net/ip_address.hpp"
#include "proto/address.hpp"
#include "stats/tally.hpp"

namespace postal::bhm {

using behaviour::nanoseconds;

// What rules may refuse for now.
struct deferrals {
    bool any = false;     // recipients, at RCPT or with their message
    bool taken = false;   // also such as were taken at RCPT: at data, chunk or end
    bool beside = false;  // and those with others that are refused at RCPT
};
[[nodiscard]] deferrals deferrals_of(const behaviour::behaviour& rules);

// The recipients that wait; shared by all workers. Its lock is taken for recipients that are
// deferred, and for others only while any waits.
class waiting_recipients {
  public:
    explicit waiting_recipients(std::size_t most = behaviour::most_keys) : known_(most) {}

    [[nodiscard]] bool none() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

    struct retry {
        nanoseconds since_last{};  // deferral
        bool first = false;        // that this recipient has
        bool greylisted = false;   // it was a greylist that deferred it last
    };
    // It is named again; nothing when it does not wait.
    [[nodiscard]] std::optional<retry> try_again(std::string_view triplet, nanoseconds now);

    struct deferral {
        bool first = false;   // it did not wait
        bool forgot = false;  // another one for it
    };
    [[nodiscard]] deferral defer(std::string_view triplet, bool greylisted, nanoseconds now);

    struct settlement {
        nanoseconds since_first{};  // deferral
        bool retried = false;
    };
    // It waits no more; nothing when it did not.
    [[nodiscard]] std::optional<settlement> settle(std::string_view triplet, nanoseconds now);

  private:
    struct memory {
        nanoseconds first{};
        nanoseconds last{};
        bool retried = false;
        bool greylisted = false;
    };

    std::mutex mutex_;  // guards known_
    behaviour::recent_keys<memory> known_;
    std::atomic<std::size_t> size_{0};
};

// What was said to RCPT.
struct recipient_answer {
    unsigned code = 0;             // 0: nothing
    bool may_be_deferred = false;  // later, when it is taken now
    std::optional<behaviour::grey_verdict> grey{};
    nanoseconds came{};  // RCPT
    nanoseconds said{};  // the reply
};

// One session's side: the recipients of its transaction, and which of them have waited. Counts in
// the tally of the session's worker, with bhm's phases.
class attempts {
  public:
    struct origin {
        std::optional<net::ip_address> client;
        bool lmtp = false;
    };
    attempts(waiting_recipients& waiting, origin from, stats::tally& counts);

    // MAIL: a transaction begins.
    void begin(const proto::path& sender);
    // RCPT and its reply.
    void recipient(const proto::path& who, const recipient_answer& answer);
    // What is said of the transaction's taken recipient of this number, from 0; over SMTP of all.
    // Counted by let_go().
    void answered(std::size_t number, unsigned code);
    void let_go(nanoseconds now);
    // One reply refuses all taken recipients.
    void refused(unsigned code, nanoseconds said);
    // The transaction is over.
    void drop() noexcept;

    // What greylists know this transaction's recipient by.
    [[nodiscard]] std::string triplet(const proto::path& recipient) const;

  private:
    // One that was taken at RCPT.
    struct taken_recipient {
        std::string address;  // its triplet is only made when it is needed
        std::size_t number = 0;
        bool waits = false;
        unsigned code = 0;  // until it is let go
    };

    std::string triplet(std::string_view address) const;
    bool try_again(const std::string& named, const recipient_answer& answer);
    void count(behaviour::grey_verdict verdict) noexcept;
    void defer(const std::string& named, bool greylisted, nanoseconds said);
    void settle(const std::string& named, unsigned code, nanoseconds now);
    void end(taken_recipient& one, unsigned code, nanoseconds now);

    waiting_recipients& waiting_;
    const origin from_;
    stats::tally& counts_;
    std::string sender_;
    bool null_sender_ = false;
    std::size_t taken_ = 0;
    std::vector<taken_recipient> kept_;  // those that wait, or may have to, by number
};

}  // namespace postal::bhm
