// SPDX-License-Identifier: GPL-3.0-or-later
// An experiment as its file says it: which load runs against which variants, on what storage, with
// which servers, and what the verdict is about.
//
// The file is TOML; conf/experiments/ holds samples and postal-compare(1) explains every key.
// parse_experiment() checks all that can be known without looking at the machine: keys, values,
// names, and that every ${variable} has a value in every variant. It fails with one line,
// "FILE:LINE: what, why, what would be right". What needs the machine (programs, root, devices) is
// check_machine()'s business, in check.hpp.
//
// Texts are templates until a run begins: ${name} stands for a variable's value, $${ for a ${ as
// such. A word of a command that is nothing but ${name} becomes as many words as the variable has.
#pragma once

#include "base/result.hpp"
#include "base/words.hpp"
#include "experiment/metrics.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::experiment {

// A text is a list of one word.
using variables = std::map<std::string, std::vector<std::string>, std::less<>>;

// What every run has besides the file's own: where it takes place.
//   experiment  the folder of the experiment's file
//   out         the folder of the results
//   run         the folder of this run's results
//   mount       where the storage is mounted; empty without one
//   device      the block device of the storage; empty without one
//   variant     the variant's name
//   block       the block's number, from 1
extern const std::vector<std::string> built_in_variables;

struct command {
    std::vector<std::string> words;  // templates; the first is the program
    std::uint32_t line = 0;
};

// A file that is written anew for each run.
struct written_file {
    std::string path;
    std::string text;
    std::uint32_t line = 0;
};

struct storage {
    bool wanted = false;
    std::string device{};  // empty: a loop device on a file of `size` in `directory`
    std::string size = "1G";
    std::string directory = "${out}";
    command make{};         // makes the file system on ${device}
    std::string type{};     // as mount(8) knows it
    std::string options{};  // of mount, separated by commas
    std::string mount = "${out}/mount";
    bool drop_caches = true;
    std::uint32_t line = 0;
};

struct server {
    std::vector<command> prepare{};        // each ends before the next begins
    std::vector<command> start{};          // stay in the foreground, unless there is a `stop`
    std::vector<command> stop{};           // before SIGTERM
    command version{};                     // prints what the record is to say of the server
    std::vector<std::string> ready{};      // endpoints that let connections in
    std::vector<std::string> pid_files{};  // of servers that went to the background
    std::chrono::nanoseconds start_limit = std::chrono::seconds{30};
    std::chrono::nanoseconds stop_limit = std::chrono::seconds{30};
    std::uint32_t line = 0;
};

inline constexpr std::size_t most_variants = 1000;
inline constexpr std::size_t most_runs = 100'000;  // that a record may have

struct variant {
    std::string name{};
    std::optional<std::size_t> same_as{};  // an A/A pair: the index of an earlier variant
    variables values{};                    // the experiment's, overridden by this variant's
    storage on{};
    server of{};
    std::vector<command> setup{};     // before the storage is made
    std::vector<command> teardown{};  // after it is gone; always, when setup had begun
    std::uint32_t line = 0;
};

// postal or rabid, with options. What an experiment decides is refused here: --duration, --warmup,
// --record, --seed, --interval.
struct load_program {
    std::string name{};
    command run{};
    command launcher{};  // starts several of it as one run, such as mpirun -n 4; empty: none
};

// [[capacity.beside]]: a program that has joined the search, and what its part is.
struct search_partner {
    std::size_t program = 0;  // an index into load.programs
    std::vector<std::string> goals{};
    std::string share = "100%";  // so many for each 100 messages of the program that searches
};

// [capacity]: what --find-rate is told. Empty values leave the program's own.
struct search_rules {
    std::size_t program = 0;  // the one that searches: an index into load.programs
    std::vector<std::string> goals{};
    std::string set{};              // of goals: "quick"
    std::optional<double> width{};  // of the bounds, as a share
    std::string most_rate{};
    std::vector<search_partner> beside{};
};

struct load {
    // The warm-up is in it; of a search, which has none, the most that it may take.
    std::chrono::nanoseconds duration = std::chrono::minutes{5};
    std::chrono::nanoseconds warmup = std::chrono::seconds{30};
    std::uint64_t blocks = 6;
    std::optional<std::uint64_t> seed{};
    std::vector<load_program> programs{};
    std::optional<search_rules> search{};  // in place of a run at one rate
    // All programs of a run share one, in which postal writes what was accepted, and rabid of what
    // it was told.
    bool ledger = false;
    // How much longer readers with --watch go on then than the others: so long at least each
    // message has until it counts as never announced.
    std::chrono::nanoseconds linger = std::chrono::seconds{10};
};

// rabid with --watch among its own words.
[[nodiscard]] bool is_watching(const load_program& one);

inline constexpr double least_confidence = 0.5;
inline constexpr double most_confidence = 0.9999;

// What a variable says as a number from 1 on, such as "10000"; nothing for other texts.
[[nodiscard]] std::optional<double> size_of_variable(std::string_view text) noexcept;

struct verdict_rules {
    metric about = metric::messages;
    std::size_t program = 0;  // whose messages: an index into load.programs
    double margin = 0.02;
    double confidence = 0.95;
    double max_errors = 0.01;  // a run with a larger share of errors voids its block
    std::string size{};        // a variable whose value, a number, variants differ in; empty: none
};

struct cost_sources {
    std::vector<std::string> devices{};  // beside the storage's own
    command remote{};                    // reads another machine's files, such as ssh HOST cat
    std::uint32_t line = 0;
};

// What a power cut would have lost: postal-audit's part.
//
// A run of `messages` is recorded on a disk that remembers every write. After each cut the file
// system is mounted again, `recover` runs, servers start, and what is found is read by `read`, out
// of `maildirs`, or by a server that takes what a relay still has, `drain`.
struct audit {
    bool wanted = false;
    std::uint64_t messages = 2000;
    std::uint64_t cuts = 100;
    std::uint64_t draws = 3;
    double torn = 0;  // share of the writes that survive in part
    std::string size = "1G";
    std::vector<command> recover{};       // each ends before the next begins
    std::vector<command> read{};          // rabid; each reads all mailboxes once
    std::vector<std::string> maildirs{};  // "${mount}/%u/Maildir": of the user that stands for %u
    command drain{};                      // bhm
    std::vector<command> after_start{};
    command drained{};  // ends with status 0 once nothing is left to come
    command check{};    // looks at the file system on ${device} when it is unmounted
    std::chrono::nanoseconds limit = std::chrono::minutes{2};  // of reading after one cut
    // How long the disk that is recorded may leave what it was asked for undone.
    std::chrono::nanoseconds stall_limit = std::chrono::seconds{30};
    std::uint32_t line = 0;
};

struct experiment {
    std::string file{};  // its path
    std::string text{};  // the whole of it
    std::string title{};
    std::string about{};
    load offered{};
    verdict_rules verdict{};
    cost_sources costs{};
    audit audited{};
    std::vector<written_file> files{};
    std::vector<variant> variants{};  // the first one is what the others are compared with
    std::chrono::nanoseconds command_limit = std::chrono::minutes{2};
};

// What the command line says instead of the file: --set NAME=VALUE.
using overrides = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] base::expected<experiment> parse_experiment(std::string_view text,
                                                          const std::string& name,
                                                          const overrides& set = {});
[[nodiscard]] base::expected<experiment> load_experiment(const std::string& path,
                                                         const overrides& set = {});

using base::name_of;

}  // namespace postal::experiment
