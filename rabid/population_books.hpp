// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages of a population are in an account's folders, and which are to be appended: what
// was found is held against what is wanted, by the messages' identities alone.
//
// Flow, of one account for as long as the run has to do with it, whatever connections it takes:
//   account_books books(whose, box, folders);
//   books.begin(folder); books.found(id, intact) for each message there; state = books.end();
//   books.settle(...) for what became of those that were appended; books.close(folder) when it was
//   read back, or the server does not have it: the run looks at it no more
// What was found is believed at end(); who does not come to it begins again.
// What is found twice is surplus, whichever of the two it is; what lies in a folder that it is not
// for, is misplaced, and neither counts as there. A message that was acknowledged and is not there
// is gone, and to be appended again. Dates, sizes and counts of others say nothing.
//
// Nothing fails; no I/O. Memory: beside the plan five octets a message, and a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mail/population.hpp"

namespace postal::rabid {

// What is known of a message in this run.
enum class placed : std::uint8_t {
    unknown,
    present,       // found, without our having heard OK
    acknowledged,  // OK to APPEND
    in_doubt,      // the connection broke before the answer
    refused,
    gone  // it was acknowledged, and was not there
};

// Whose message it is; run 0: none of ours.
struct found_identity {
    std::uint64_t run = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    bool operator==(const found_identity&) const = default;
};

// How a folder was found.
struct folder_state {
    std::vector<std::uint32_t> missing;  // ascending, as all of these; no refused ones
    std::vector<std::uint32_t> fresh;    // present and not heard of before in this run
    std::uint64_t there = 0;             // wanted ones, each once
    std::vector<std::uint32_t> changed;  // of these
    std::uint64_t surplus = 0;
    std::uint64_t misplaced = 0;
    std::vector<std::uint32_t> gone;  // acknowledged or found before, and missing; each once a run
    std::uint64_t others = 0;  // messages of others, of other populations, and unreadable ones
};

class account_books {
  public:
    struct owner {
        std::uint64_t run = 0;
        std::uint64_t session = 0;
    };
    // In so many folders.
    account_books(owner whose, mail::mailbox_plan box, std::size_t folders);

    [[nodiscard]] const owner& whose() const noexcept { return whose_; }
    [[nodiscard]] const mail::mailbox_plan& box() const noexcept { return box_; }
    [[nodiscard]] const std::vector<std::uint32_t>& wanted(std::size_t folder) const {
        return by_folder_[folder];
    }

    // A message of this population, in whatever folder.
    [[nodiscard]] bool ours(const found_identity& id) const noexcept {
        return id.run == whose_.run && id.session == whose_.session &&
               id.sequence < box_.messages.size();
    }

    void begin(std::size_t folder);
    void found(const found_identity& id, bool intact);
    [[nodiscard]] folder_state end();
    // Nothing is left to do with it in this run: it was read back, or cannot be had.
    void close(std::size_t folder) noexcept {
        closed_[folder] = true;
        ++progress_;
    }
    [[nodiscard]] bool closed(std::size_t folder) const noexcept { return closed_[folder]; }

    void settle(std::uint32_t sequence, placed how) noexcept {
        known_[sequence] = how;
        progress_ += how == placed::acknowledged ? 1 : 0;
    }
    // A visit is over. True when more messages are known to be there than before it.
    bool end_visit() noexcept;
    // Some visits in a row have brought nothing.
    [[nodiscard]] bool fruitless() const noexcept { return fruitless_visits_ >= 3; }
    [[nodiscard]] placed known(std::uint32_t sequence) const noexcept { return known_[sequence]; }

  private:
    owner whose_;
    mail::mailbox_plan box_;
    std::vector<std::vector<std::uint32_t>> by_folder_;
    std::vector<placed> known_;  // by sequence
    std::vector<bool> seen_;     // likewise, in the folder at hand
    std::vector<bool> closed_;   // by folder
    std::size_t folder_ = 0;
    std::uint64_t progress_ = 0;  // messages that are known to be there, and folders that are done
    std::uint64_t progress_of_visit_ = 0;  // up to the last one
    unsigned fruitless_visits_ = 0;
    folder_state state_;
};

}  // namespace postal::rabid
