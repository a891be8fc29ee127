// SPDX-License-Identifier: GPL-3.0-or-later
// What a ledger's messages were found to be, kept in a temporary table until it is listed, counted
// by account, server and time, or shown by examples.
//
// Flow: findings found = make(file, of, kinds); found.note(...) for each; found.list() or
// found.breakdown(). Memory: what is returned, which is bounded whatever the ledger holds; texts
// are as they stand in it. Each call fails with one line about the file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ledger/database.hpp"
#include "ledger/reconciler.hpp"

namespace postal::ledger {

// One message of a list, in words; what does not apply is empty.
struct discrepancy_row {
    std::string run;
    std::string session;
    std::string sequence;
    std::string sender;
    std::string recipient;
    std::string outcome;
    std::string code;
    std::string enhanced;
    std::string ended;  // when the reply came
    std::string mailbox;
    std::string condition;
    std::string detail;
    std::string seen;  // when
    std::string way;
    std::string octets;  // of the message, as it was sent
};

// The first messages of a kind, in the order in which they were sent.
struct discrepancy_examples {
    discrepancy what = discrepancy::lost;
    std::uint64_t count = 0;
    std::vector<discrepancy_row> rows{};
};

struct counted_place {
    std::string name;  // an address; empty: no copy of them says which
    discrepancy_counts found{};
};

struct counted_time {
    std::string from;  // as times of lists; empty where no calendar has it
    std::uint64_t acknowledged = 0;
    discrepancy_counts found{};
};

// Where and when there was anything to find.
struct breakdown {
    std::vector<discrepancy_examples> examples{};  // of kinds that there are
    // Recipients, else whose mailbox it was: the first most_places with the gravest and then most,
    // and how many there are.
    std::vector<counted_place> accounts{};
    std::uint64_t all_accounts = 0;
    // From which copies were read.
    std::vector<counted_place> servers{};
    // By the time of the reply, else of being seen: stretches of one width, at most most_times.
    std::vector<counted_time> times{};
    std::int64_t width_us = 0;

    static constexpr std::size_t most_places = 20;
    static constexpr std::size_t most_times = 60;
};

class findings {
  public:
    // `only`: what else is noted is left out.
    static base::expected<findings> make(database& file, std::optional<discrepancy> only);

    // Numbers of rows; 0 where there is none. A failure is kept until result().
    void note(discrepancy what, std::int64_t sent, std::int64_t seen);
    // The same of a message, whatever became of it.
    void note_all(std::int64_t sent, std::int64_t seen) { put(all_messages, sent, seen); }
    [[nodiscard]] base::expected<void> result() const;

    // The first `most` of a kind; why a message was not looked for, `readers` knows.
    base::expected<void> list(discrepancy what, std::uint64_t most, const coverage& readers,
                              const std::function<void(const discrepancy_row&)>& on_row);
    base::expected<void> list_all(const coverage& readers,
                                  const std::function<void(const discrepancy_row&)>& on_row);
    base::expected<breakdown> break_down(std::uint64_t most_examples, const coverage& readers);

  private:
    findings(database& file, std::optional<discrepancy> only, statement note)
        : file_(&file), only_(only), note_(std::move(note)) {}
    static constexpr std::int64_t all_messages = -1;  // in place of a kind

    void put(std::int64_t kind, std::int64_t sent, std::int64_t seen);
    base::expected<void> list_noted(std::int64_t kind, std::uint64_t most, const coverage& readers,
                                    const std::function<void(const discrepancy_row&)>& on_row);
    base::expected<void> fill(discrepancy_row& row, statement& from, std::int64_t number,
                              std::span<std::string discrepancy_row::*const> columns);
    base::expected<void> count_places(std::string_view who, std::vector<counted_place>& into);
    base::expected<void> count_times(breakdown& into);

    database* file_;
    std::optional<discrepancy> only_;
    statement note_;
    discrepancy_counts counts_{};
    int noted_ = SQLITE_OK;
};

}  // namespace postal::ledger
