// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment has done to the machine and not undone yet.
//
// DIR/journal.jsonl, one JSON object a line, only ever appended to. What undoes a step is on the
// disk (fsync) before the step is begun, a process right behind its start, and struck out after it
// was undone; so whoever finds the journal of a program that was killed knows what may be left. The
// first line names the schema; a last line without its end was being written at that moment, and
// announces nothing that was begun: it is ignored, and cut off by who goes on.
//
//   {"journal":"postal-journal/1"}
//   {"undo":3,"kind":"mount","path":"/out/mount","device":"/dev/loop0","boot":"..."}     {"undone":3}
//   {"making":"/dev/sdb1"}     {"made":"1b4e28ba-2fa1-...","device":"/dev/sdb1"}
//
// Fails with "PATH:LINE: what is wrong" where somebody else has written.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "base/words.hpp"

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

enum class undo_kind : std::uint8_t {
    process,  // end it, with its group where it leads one
    stop,     // run the command; may fail when nothing of the server is left
    command,  // run the command
    mount,    // unmount `path`, where it is `device` that is mounted there
    loop,     // detach what is attached to the image `path`
    file,     // remove `path`: a file, or a folder that is empty
    setting,  // write the one of `words` to `path`, a file of the kernel's; well where it is gone
};
constexpr auto words_of(undo_kind) {
    return std::to_array<std::string_view>(
        {"process", "stop", "command", "mount", "loop", "file", "setting"});
}

// How one step is undone.
struct undo_entry {
    std::uint64_t number = 0;  // given by the journal
    undo_kind kind = undo_kind::file;
    std::string path{};
    std::string device{};              // of a mount
    std::vector<std::string> words{};  // of a command; the value of a setting
    std::string where{};               // "mail.toml:7"
    std::string log{};                 // of a command
    pid_t pid = 0;
    std::uint64_t started = 0;          // of the process, as os::process_stat::start has it
    std::chrono::milliseconds limit{};  // for a command or the end of a process
    std::string boot{};                 // when it was done, as os::boot_id() says
    bool operator==(const undo_entry&) const = default;
};

struct journal_content {
    std::vector<undo_entry> left;             // not undone; oldest first
    std::map<std::string, std::string> made;  // devices; the last file system's UUID
    std::set<std::string> making;             // devices on which one was begun, and not noted since
    std::uint64_t last_number = 0;
    std::size_t octets = 0;  // those of whole lines
};

// `text` may be cut anywhere.
[[nodiscard]] base::expected<journal_content> parse_journal(std::string_view text,
                                                            const std::string& path);

class journal {
  public:
    // Goes on with the journal of the folder, or begins one. Fails where another program has it
    // open, and where folder or file is a symbolic link or somebody else may have written it.
    [[nodiscard]] static base::expected<journal> open(const std::string& folder);

    // Before the step; gives the entry its number and this boot. What fails is to stop the
    // experiment.
    [[nodiscard]] base::expected<std::uint64_t> announce(undo_entry how);
    // One that was just started; it is ended within `limit`. 0 where it is gone already.
    [[nodiscard]] base::expected<std::uint64_t> announce_process(pid_t pid,
                                                                 const std::string& where,
                                                                 std::chrono::nanoseconds limit);
    // 0: nothing.
    [[nodiscard]] base::expected<void> strike_out(std::uint64_t number);

    // Announced, by this program or an earlier one, and not struck out; oldest first.
    [[nodiscard]] const std::vector<undo_entry>& left() const { return content_.left; }

    // The UUID of the file system that the experiment made on a device; empty: it has made none.
    [[nodiscard]] std::string made_on(const std::string& device) const;
    // Whatever is on the device was put there by the experiment: from here until note_made().
    [[nodiscard]] bool is_making(const std::string& device) const {
        return content_.making.contains(device);
    }
    [[nodiscard]] base::expected<void> note_making(const std::string& device);
    [[nodiscard]] base::expected<void> note_made(const std::string& device,
                                                 const std::string& uuid);

  private:
    [[nodiscard]] base::expected<void> append(std::string line);

    std::string path_;
    base::file_descriptor file_;
    journal_content content_;
    std::string boot_;
};

}  // namespace postal::experiment
