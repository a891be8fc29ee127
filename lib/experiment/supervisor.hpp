// SPDX-License-Identifier: GPL-3.0-or-later
// Starts the programs of an experiment and waits for them, in one thread.
//
// Flow: os::prepare_for_children() in main; create(); every_second(); then run() for a command
// that is to end, or start() and wait() for what stays. Both write into the journal, before the
// program's first instruction, that it is to be ended: for whoever finds it after a kill. While
// there is a supervisor, SIGINT, SIGTERM and SIGHUP do nothing but count: interruptions(). After
// the first one, waits that may be interrupted return at once; those of undoing go on, and are
// short after the second one.
//
// A program gets /dev/null as its input, this process's environment and folder, a process group of
// its own and no controlling terminal; what it writes is appended to a log. It gets SIGTERM when
// this process ends however, unless it outlives it.
//
// A failure is one line: "mail.toml:12: mkfs.ext4 ended with status 1: mkfs.ext4: no such device".
// Limit: one supervisor at a time.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "experiment/journal.hpp"
#include "os/child.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <csignal>

namespace postal::experiment {

using steady_time = std::chrono::steady_clock::time_point;

// The path of a program: a word with a slash is one; programs of the suite are looked for beside
// the running one first; then come PATH, /usr/sbin and /sbin.
[[nodiscard]] base::expected<std::string> find_program(const std::string& word);

// A command whose variables have their values.
struct job {
    std::vector<std::string> words{};
    std::string where{};  // "mail.toml:12"
    std::string log{};    // a file's path
    // Gets no signal when this process ends: whoever finds the journal ends it.
    bool outlives = false;
    // May open as many files as the hard limit allows. Others get the limit that this program was
    // started with: those that use select(2) break with a large one.
    bool many_files = false;
};

// One that was started. Its end does not end the program.
struct process {
    job of{};
    os::child started{};          // its pidfd is watched below
    base::file_descriptor ended;  // readable once it ended
    std::uint64_t log_begins = 0;
    std::uint64_t number = 0;  // its entry in the journal; 0: none
    std::optional<os::child_end> end{};
};

// Whether a wait is over when somebody interrupts this program.
enum class patience : std::uint8_t { until_interrupted, undoing };

enum class woken : std::uint8_t { by_end, by_time, by_interruption };

class supervisor {
  public:
    // Raises this process's soft limit of open files, for what looks at thousands of processes.
    [[nodiscard]] static base::expected<std::unique_ptr<supervisor>> create();

    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;
    ~supervisor();

    // Called each second of all waiting, and not within itself. Empty: nothing.
    void every_second(std::function<void()> act) { act_ = std::move(act); }

    // Called with what the first and the second signal do, in words for whoever sent them.
    void on_interruption(std::function<void(const std::string&)> say) { say_ = std::move(say); }

    // How many signals asked for the end so far.
    [[nodiscard]] unsigned interruptions();
    [[nodiscard]] bool is_interrupted() { return interruptions() > 0; }

    // Announced in the journal, to be ended within `end_limit` by who finds it there.
    [[nodiscard]] base::expected<process> start(job what, journal& into,
                                                std::chrono::nanoseconds end_limit);

    // Until one of these descriptors is readable, or `until`.
    woken wait(std::span<const int> descriptors, steady_time until, patience how);

    // To its end with status 0. After `limit`, or an interruption, its group is ended; should this
    // program be killed, by whoever finds the journal.
    [[nodiscard]] base::expected<void> run(job what, std::chrono::nanoseconds limit, patience how,
                                           journal& into);

    // Looks whether it has ended; takes note of how.
    [[nodiscard]] bool has_ended(process& one) const;

    // SIGTERM to its group, after `grace` SIGKILL. False when it took SIGKILL.
    bool end(process& one, std::chrono::nanoseconds grace);

    // The limit of a step of undoing: short after a second interruption.
    [[nodiscard]] std::chrono::nanoseconds undo_limit(std::chrono::nanoseconds wanted);

    // For what starts and awaits its own.
    [[nodiscard]] os::spawner& children() noexcept { return children_; }

  private:
    explicit supervisor(os::spawner children) : children_(std::move(children)) {}

    // `announce` is given the number of the process, and gives that of its entry.
    using announcing = std::function<base::expected<std::uint64_t>(pid_t)>;
    base::expected<process> start(job what, const announcing& announce);
    base::expected<void> await(process& started, std::chrono::nanoseconds limit, patience how);
    void act_when_due(steady_time now);

    os::spawner children_;
    base::file_descriptor signals_;
    base::file_descriptor no_input_;
    sigset_t mask_before_{};
    os::limit files_before_{};  // RLIMIT_NOFILE as this process found it
    unsigned interruptions_ = 0;
    std::function<void(const std::string&)> say_;
    std::function<void()> act_;
    bool acting_ = false;
    steady_time next_act_{};
};

// How it ended and the last thing that it said: "mkfs.ext4 ended with status 1: mkfs.ext4: ...".
// What begins with the program's name is taken before what only came later.
[[nodiscard]] std::string ending_of(const process& one);

}  // namespace postal::experiment
