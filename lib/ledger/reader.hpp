// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a ledger and says what became of every message in it: the queries behind postal-report.
//
// reconcile() goes once through both tables, sorted by message (by SQLite, in temporary files where
// memory does not do; nothing is added to the ledger), and lets ledger::reconciler judge each. Runs
// may write to the ledger meanwhile: what is read is its state at the beginning.
//
// Ten million messages sent and seen take some 45 s of CPU and 150 MiB. Fails with one line for
// what is no ledger, has another schema, is damaged or locked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "ledger/database.hpp"
#include "ledger/findings.hpp"
#include "ledger/reconciler.hpp"

namespace postal::ledger {

// Two programs' readings of the clock for the same moment may be so far apart: postal compares its
// clocks once a second.
inline constexpr std::int64_t clock_difference_us = 1'000'000;

// A run that wrote to the ledger; with an empty program one of which only messages were seen.
struct run_row {
    std::string run;
    std::string program;
    std::string started;
    role is = role::sender;
    std::string ended;       // empty: it runs still, or was killed
    std::string horizon;     // all that it did before is written
    bool tells = true;       // where it looked; only readers do not, of older versions
    std::uint64_t sent = 0;  // rows
    std::uint64_t seen = 0;
};

// A mailbox in which messages were not looked for.
struct unread_mailbox {
    std::string address;
    std::string reason;
    std::uint64_t messages = 0;
};

struct questions {
    std::function<void(std::int64_t us)> on_delivery;  // called for each message found
    std::optional<discrepancy> list;
    bool list_all = false;  // every recipient's message, with its first copy, in place of that
    std::function<void(const discrepancy_row&)> on_row;  // called for each message of the list
    // Of each kind so many messages, and where and when there were how many; 0: nothing of it.
    std::uint64_t examples = 0;
    // Called for each recipient's message that was acknowledged or found, with the place of the
    // recipient's domain in `domains`, or its size for another domain.
    std::function<void(const judgement&, std::size_t domain)> on_judged;
    std::vector<std::string> domains{};
    // Called for each acknowledged message that was looked for while readers waited for mail.
    std::function<void(const told_of&)> on_told{};
    // All servers show the same mailboxes.
    bool one_store = false;
};

struct answers {
    summary totals;
    std::vector<run_row> runs;  // in the order in which they were started
    // Where messages were not looked for: the first most_unread with most of them, and how many.
    std::vector<unread_mailbox> unread{};
    std::size_t unread_mailboxes = 0;
    // The servers that readers were given, when copies have the same ids on two of them.
    std::vector<std::string> servers{};

    // With examples.
    breakdown where{};

    static constexpr std::size_t most_unread = 20;
};

class reader {
  public:
    static base::expected<reader> open(const std::string& path);
    // Several as one; see joined.hpp.
    static base::expected<reader> open(const std::vector<std::string>& paths);

    base::expected<answers> reconcile(const questions& wanted);

    // The recipients' domains to which most messages were acknowledged, most first; "" stands for
    // recipients without one.
    base::expected<std::vector<std::string>> largest_domains(std::size_t most);

    // With numbers that callbacks had; empty for one that there is not.
    base::expected<std::vector<std::string>> addresses(const std::vector<std::int64_t>& numbers);

  private:
    struct numbered_run {
        std::int64_t id = 0;
        std::int64_t started_us = 0;
        std::int64_t horizon_us = 0;
        std::int64_t ended_us = 0;
        run_row row;
    };

    static base::expected<reader> over(base::expected<database> file);
    explicit reader(database file) : file_(std::move(file)) {}
    base::expected<void> judge_all(reconciler& judge, bool one_store,
                                   const std::vector<numbered_run>& runs);
    base::expected<void> judge_strangers(reconciler& judge);
    base::expected<void> name_unread(const reconciler& judge, answers& into);
    base::expected<void> name_servers(answers& into);

    base::expected<std::vector<numbered_run>> read_runs();
    static unfinished_runs open_ends(const std::vector<numbered_run>& runs);
    base::expected<observation> read_observation(const std::vector<numbered_run>& runs,
                                                 bool one_store);
    base::expected<void> read_visits(coverage& into, bool one_store);
    base::expected<void> read_waits(waits& into, bool one_store);

    database file_;
    std::unordered_map<std::int64_t, std::uint64_t> sent_by_run_;  // rows
    std::unordered_map<std::int64_t, std::uint64_t> seen_by_run_;
};

}  // namespace postal::ledger
