// SPDX-License-Identifier: GPL-3.0-or-later
// A message as the agents read it: a file without a name, complete before the first one starts.
//
// Flow: message_file file(rules); append() the pieces; finish(); open_copy() for each agent.
//
// Up to memory_limit octets it is a memfd(2) file, sealed by finish() so that no agent can change
// what the next one reads; what is longer moves to an unlinked file in `folder`. Whoever has either
// may open it again to read (/dev/stdin). A reader has an offset of its own and needs nothing of
// this process afterwards: an agent that outlives the server still reads the whole message.
// Failures (a full disk) are remembered, and finish() gives the first one. Writing to a disk blocks
// the calling thread as long as the kernel does.
//
// With line_ends::lf each CRLF is stored as LF, whatever pieces it comes in; a CR that no LF
// follows stays. size() is then that of what is stored, which is what an agent reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "mail/canonical.hpp"
#include "mail/crlf_to_lf.hpp"

namespace postal::lmtp_deliver {

struct storage_rules {
    std::uint64_t memory_limit = 1024 * 1024;
    std::string folder = "/var/tmp";  // must exist
    mail::line_ends ends = mail::line_ends::crlf;
    std::uint64_t least_free = 0;  // octets that are left free in the folder
};

class message_file {
  public:
    // The rules must outlive it.
    explicit message_file(const storage_rules& rules) noexcept : rules_(&rules) {}

    void append(std::string_view octets);
    // Nothing of it is wanted any more; what still comes is not kept.
    void give_up() noexcept;
    [[nodiscard]] base::expected<void> finish();

    // For one agent, at offset 0: the message, with `head` in front if there is one (which costs a
    // copy). After take(), which is for the only reader, nothing more can be opened.
    [[nodiscard]] base::file_descriptor take() noexcept { return std::move(file_); }
    [[nodiscard]] base::expected<base::file_descriptor> open_copy(std::string_view head = {}) const;

    // Whether such a copy would leave least_free on the disk, if it goes there.
    [[nodiscard]] bool may_copy(std::string_view head) const noexcept;
    // Whether the first failure is that least_free would not have been left.
    [[nodiscard]] bool no_room() const noexcept { return no_room_; }

    std::uint64_t size() const noexcept { return size_; }
    bool in_memory() const noexcept { return in_memory_; }

  private:
    void append_lf(std::string_view octets);
    void store(std::string_view octets);
    void write(std::string_view octets) noexcept;
    void move_to_disk();
    bool copy_goes_to_disk(std::size_t head) const noexcept {
        return !in_memory_ || head + size_ > rules_->memory_limit;
    }

    const storage_rules* rules_;
    base::file_descriptor file_;
    std::uint64_t size_ = 0;
    std::uint64_t look_again_at_ = 0;  // whether there is room on the disk for more
    int error_ = 0;                    // the first failure, an errno value
    bool no_room_ = false;
    bool in_memory_ = true;
    mail::crlf_to_lf lines_{};  // with line_ends::lf
};

// Whether so many octets more would leave least_free there; true where nobody can say.
[[nodiscard]] bool has_room(const storage_rules& rules, std::uint64_t octets) noexcept;

// An unlinked file in `folder`: the test, before anything is received, that one can be made there.
[[nodiscard]] base::expected<base::file_descriptor> open_unlinked(const std::string& folder);

}  // namespace postal::lmtp_deliver
