// SPDX-License-Identifier: GPL-3.0-or-later
// What an IMAP session does after SELECT: a profile, as a file says it (TOML).
//
//   about   = "one line for people"
//   first   = ["flags", "headers"]     these, in this order, at the beginning of each session
//   actions = "2..6"                   then so many, drawn by weight
//   last    = ["noop"]                 and these at the end
//   think   = "500ms..3s"              between two of them
//   idle    = "10s"                    how long idle lasts
//   pause   = "0s"                     between a session and the next
//   resync  = true                     SELECT with QRESYNC, where the server has it (RFC 7162)
//   [weights]
//   read-one = 5
//
// Verbs: see enum verb; with "-" in place of "_". Everything may be left out. load_profile() fails
// with "FILE:LINE: reason": an unknown key or verb, a weight below 0, weights whose sum is 0,
// actions without weights. Profiles of the project are known by name (conf/profiles).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "stats/run_description.hpp"

namespace postal::rabid {

enum class verb : std::uint8_t {
    read,       // the messages that -c and -d choose, each checked; deletes as -d says
    read_new,   // those without \Seen, which they get
    read_one,   // one, at random
    headers,    // fields of the newest fifty
    envelope,   // the same as ENVELOPE
    structure,  // BODYSTRUCTURE of one
    flags,      // of all
    part,       // the first 2 KiB of one
    search,     // what is new, and what is large
    mark,       // sets \Flagged on one of ours, and takes it back
    append,     // one message of ours
    copy,       // one of ours, into another mailbox
    move,       // one of ours, into another mailbox
    list,
    status,
    create,  // makes a mailbox, and deletes it
    idle,
    noop,
    page,           // as envelope, of any fifty that follow each other
    structures,     // BODYSTRUCTURE of the newest fifty
    search_text,    // a word, in all text
    search_header,  // a word, in subjects
    search_date,    // what came since a day of the last year
    sort,           // all, the newest first (RFC 5256)
    thread          // all (RFC 5256)
};

struct length_range {
    std::chrono::nanoseconds least{0};
    std::chrono::nanoseconds most{0};
    std::chrono::nanoseconds pick(base::random_source& random) const;
};

struct profile {
    std::vector<verb> first;
    std::vector<verb> last;
    std::uint32_t least_actions = 0;
    std::uint32_t most_actions = 0;
    length_range think;
    length_range idle{std::chrono::seconds(10), std::chrono::seconds(10)};
    length_range pause;
    bool resync = false;
    std::vector<std::pair<verb, double>> weights;

    verb pick(base::random_source& random) const;
    // Whether a session may do that.
    bool may(verb one) const;
    // Whether it may make mailboxes beside INBOX.
    bool makes_mailboxes() const;
    // What one session does: first, so many that are drawn, last.
    std::vector<verb> script(base::random_source& random) const;
};

// What it wants of each verb, for the record; every verb is there, in the order of the enum.
stats::wanted_profile wanted_of(const profile& what, std::string name);

// By name ("original", "desktop") or file.
base::expected<profile> load_profile(const std::string& name_or_path);

// The same from text; `name` stands for the file in failures.
base::expected<profile> parse_profile(std::string_view text, const std::string& name);

// The profiles that are compiled in, by name.
struct named_text {
    std::string_view name;
    std::string_view text;
};
const std::vector<named_text>& built_in_profiles();

}  // namespace postal::rabid
