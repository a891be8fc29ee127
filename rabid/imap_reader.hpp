// SPDX-License-Identifier: GPL-3.0-or-later
// Messages that are fetched whole, BODY[] (RFC 3501 7.4.2, RFC 9051 7.5.2): handed to the examiner,
// and remembered when they are ours or are to be deleted.
//
// Flow: begin_reading(there) for a set of messages; begin(); take() each step that the FETCH
// brings, and read_ended() behind those of one read. A message is whole when its FETCH response
// ends behind the body; one that broke off counts as failed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proto/imap/mailbox.hpp"
#include "rabid/announcements.hpp"
#include "rabid/examiner.hpp"
#include "rabid/folder_news.hpp"
#include "rabid/turn_clock.hpp"

namespace postal::rabid {

using proto::imap_event;
using proto::imap_step;

class imap_reader {
  public:
    static constexpr std::uint32_t most_messages = 1'000'000;  // that are known by number

    imap_reader(worker_context& context, examiner& messages, base::random_source& random)
        : context_(context), examiner_(messages), random_(random) {}

    // --watch: when the messages were announced.
    void watch(const announcements& told) noexcept { told_ = &told; }
    // The same of several mailboxes.
    void watch(const folder_news& folders) noexcept { folders_ = &folders; }
    // What is read from now on counts as not announced.
    void watch_ends() noexcept {
        told_ = nullptr;
        folders_ = nullptr;
    }
    // Told of each message that has come whole.
    using listener = std::function<void(const message_key&, examination_result)>;
    void tell(listener who) { listener_ = std::move(who); }
    // Messages are to be read of so many that are there.
    void begin_reading(std::uint32_t there);
    // How many of them have come since, each counted once.
    std::uint32_t came() const noexcept { return came_count_; }
    // Where in ours() the messages of this reading begin.
    std::size_t ours_before() const noexcept { return ours_before_; }
    // A FETCH is sent.
    void begin(load::steady_time now) noexcept { turns_.begin(now); }
    // True when a message has come whole. `mailbox` has applied the step and knows the UID.
    bool take(const imap_step& step, const proto::imap_mailbox& mailbox);
    // Behind all steps of one read, with the time of that read.
    void read_ended(load::steady_time now) noexcept;

    // Of one message.
    std::uint64_t most_octets() const noexcept { return context_.of_run.chosen.max_message; }
    // Of the message in hand, which the server says has so many octets.
    bool too_big(std::uint64_t announced) {
        return state_ == state::body && examiner_.too_big(announced);
    }
    bool without_end(load::steady_time now) { return examiner_.without_end(turns_.waited(now)); }

    // UIDs of messages found to be postal's, in the order in which they came; one that was read
    // twice may stand there twice.
    const std::vector<std::uint32_t>& ours() const noexcept { return ours_; }
    // The server is about to be told to delete or move these: for the ledger.
    void removing(std::span<const std::uint32_t> uids, std::uint32_t uid_validity);
    // They are gone: no verb names them any more.
    void removed(std::span<const std::uint32_t> uids);
    // UIDs (-d, --delete-foreign) of what was read since somebody cleared them.
    std::vector<std::uint32_t>& to_delete() noexcept { return to_delete_; }

  private:
    enum class state : std::uint8_t { between, body, behind_body };

    void finish_message(const proto::imap_mailbox& mailbox);
    announcement told_of(std::uint32_t number, std::uint32_t uid) const noexcept;

    worker_context& context_;
    examiner& examiner_;
    base::random_source& random_;
    std::vector<std::uint32_t> ours_;
    std::vector<std::uint32_t> to_delete_;
    std::unordered_map<std::uint32_t, message_key> keys_;  // by UID, with a ledger
    std::vector<bool> came_;                               // by number, of this reading
    std::uint32_t came_count_ = 0;
    std::size_t ours_before_ = 0;
    turn_clock turns_;
    const announcements* told_ = nullptr;
    const folder_news* folders_ = nullptr;
    std::uint64_t arrived_us_ = 0;  // of the message in hand
    listener listener_;
    state state_ = state::between;
};

}  // namespace postal::rabid
