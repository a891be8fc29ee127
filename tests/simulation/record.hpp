// SPDX-License-Identifier: GPL-3.0-or-later
// What truly happened on a connection, noted where it happened and not by what is under test: what
// the server said of each transaction and at which octet that ends, how far the client has read,
// and when. judge.hpp holds the programs' books against it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "network.hpp"
#include "scenario.hpp"

namespace simulation {

// A reply, and where in all that the server has said it ends.
struct said_reply {
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    unsigned code = 0;
    std::size_t end = never;

    [[nodiscard]] bool positive() const noexcept { return code / 100 == 2 || code == 354; }
    [[nodiscard]] bool negative() const noexcept { return code >= 400; }
};

// The replies to one MAIL and to what came behind it.
struct served_transaction {
    said_reply mail{};
    std::vector<said_reply> rcpt{};
    said_reply content{};            // to DATA, or to a chunk that was not wanted
    std::vector<said_reply> ends{};  // to the message
    bool whole = false;              // it came to its end here
    // Which message that was, and whether it is as it was sent.
    std::uint64_t sequence = 0;
    bool foreign = false;
    bool changed = false;
    std::vector<std::string> delivered{};  // mailboxes that have it
    std::uint32_t accepted = 0;            // recipients, as the server counts

    [[nodiscard]] bool refused() const noexcept {
        return mail.negative() || std::none_of(rcpt.begin(), rcpt.end(),
                                               [](const auto& one) { return one.positive(); });
    }
};

struct connection_record {
    struct hearing {
        std::size_t until = 0;  // octets of the server's
        steady_time when{};
    };

    explicit connection_record(const connection& of) : line(of) {}

    const connection& line;
    // Of the session: the first that was begun on this connection, and how many were.
    std::uint64_t first_sequence = 0;
    std::uint64_t begun = 0;
    // Of these, those that the server could not have been sent, by their place: nothing was said.
    std::vector<std::uint64_t> left_out{};
    bool takes_8bit = false;
    std::vector<served_transaction> served{};
    said_reply goodbye{};  // a 421 that answers nothing, or RSET
    // Behind a refusal of RSET the client listens no more.
    std::size_t deaf_from = said_reply::never;
    bool lies = false;
    std::vector<hearing> heard{};
    std::string nonsense{};  // what could not happen

    // The number of the message of the connection's nth MAIL.
    [[nodiscard]] std::uint64_t sequence_of(std::uint64_t nth) const noexcept {
        for (const std::uint64_t one : left_out)
            nth += one <= nth ? 1 : 0;
        return first_sequence + nth;
    }
    [[nodiscard]] bool was_heard(const said_reply& one) const noexcept {
        return !heard.empty() && one.end <= heard.back().until && one.end <= deaf_from;
    }
    [[nodiscard]] steady_time heard_at(const said_reply& one) const noexcept {
        const auto with = std::lower_bound(
            heard.begin(), heard.end(), one.end,
            [](const hearing& each, std::size_t place) { return each.until < place; });
        return with == heard.end() ? steady_time::max() : with->when;
    }
};

}  // namespace simulation
