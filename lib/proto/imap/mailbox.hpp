// SPDX-License-Identifier: GPL-3.0-or-later
// What an IMAP client knows of its session and its selected mailbox, and where the server
// contradicts itself, as imaptest looks for it (RFC 3501 2.3, 5.2, 7; RFC 9051 7.5.1; RFC 7162).
//
// Flow:
//   imap_mailbox mailbox;
//   mailbox.sent(tag, verb) for each command; mailbox.select(name, tag, verb, before) for SELECT
//   for each step of imap_responses:
//       const std::string_view wrong = mailbox.apply(step);
//       if (!wrong.empty()) report(wrong, mailbox.answering());
// A step `tagged` takes its command away.
//
// A contradiction is a static text, and the knowledge goes on with what the server said last, so
// that one mistake is reported once. Nothing is reported that the server may do: changes by others,
// unsolicited FETCH and EXISTS, gaps in knowledge. Memory: four octets a message, only once
// something of it was fetched or is remembered, and only for the first max_messages; messages
// behind those are counted but not known. At most max_running commands without their tagged
// response.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/imap/commands.hpp"
#include "proto/imap/memory.hpp"
#include "proto/imap/responses.hpp"

namespace postal::proto {

class imap_mailbox {
  public:
    static constexpr std::size_t max_running = 8;

    explicit imap_mailbox(std::uint32_t max_messages = 100'000) noexcept
        : max_messages_(max_messages) {}

    // False when too many are running: read first.
    [[nodiscard]] bool sent(imap_tag tag, imap_verb verb) noexcept;
    // SELECT or EXAMINE of this mailbox, said with what an earlier session remembers (QRESYNC), or
    // nothing; what was known is forgotten, but not UIDVALIDITY. A mailbox that turns out to be the
    // remembered one goes on from there.
    [[nodiscard]] bool select(std::string_view name, imap_tag tag, imap_verb verb,
                              imap_memory remembered);
    // The server has said that it is on: VANISHED comes in place of EXPUNGE (RFC 7162 3.2.3).
    void qresync_enabled() noexcept { qresync_ = true; }
    // What the next session may ask with; of no use without QRESYNC. Its mod-sequence is that of
    // SELECT: what changed later is told again.
    imap_memory remember() const;
    // A text, or nothing when all is well.
    std::string_view apply(const imap_step& step);

    // The oldest command without its tagged response; none when there is no such.
    imap_verb answering() const noexcept;
    std::size_t running() const noexcept { return running_count_; }

    bool selected() const noexcept { return phase_ == phase::selected; }
    std::uint32_t exists() const noexcept { return exists_; }
    std::uint32_t uid_validity() const noexcept { return uid_validity_; }
    std::uint32_t uid_next() const noexcept { return uid_next_; }
    std::uint64_t highest_modseq() const noexcept { return highest_modseq_; }

    // Of message `number`, from 1; 0 when it is not known.
    std::uint32_t uid(std::uint32_t number) const noexcept;
    // The message that the last `fetch` step was about; 0 when it was beyond EXISTS.
    std::uint32_t fetched() const noexcept { return fetched_; }
    // The UID that the last `fetch` step's response has named, or that is known of its message,
    // also of one beyond EXISTS; 0 when it is not known.
    std::uint32_t fetched_uid() const noexcept {
        return fetched_uid_ != 0 ? fetched_uid_ : uid(fetched_);
    }
    // UIDs by number; 0 where not known. May be shorter than exists().
    const std::vector<std::uint32_t>& uids() const noexcept { return uids_; }

  private:
    enum class phase : std::uint8_t { none, selecting, selected };
    struct command {
        imap_tag tag = no_tag;
        imap_verb verb = imap_verb::none;
    };

    std::string_view on_tagged(const imap_step& step);
    std::string_view on_code(const imap_step& step);
    std::string_view on_exists(const imap_step& step);
    std::string_view on_expunge(const imap_step& step);
    std::string_view on_vanished(const imap_step& step);
    std::string_view take_vanished(const imap_step& step);
    std::string_view on_vanished_earlier(const imap_step& step);
    std::string_view on_modseq(const imap_step& step) const noexcept;
    std::string_view set_highest_modseq(std::uint64_t value) noexcept;
    std::string_view on_found(const imap_step& step) const noexcept;
    std::string_view on_fetch(const imap_step& step) noexcept;
    std::string_view on_fetch_uid(const imap_step& step);

    void begin_select();
    std::string_view end_select(bool selected);
    std::string_view end_resync();
    std::string_view set_uid_validity(std::uint64_t value) noexcept;
    std::string_view set_uid_next(std::uint64_t value) noexcept;
    std::string_view expunge_forbidden() const noexcept;
    std::string_view wrong_place_for(std::uint32_t uid) const noexcept;
    imap_verb running_search() const noexcept;
    bool all_uids_known() const noexcept { return known_ == exists_; }
    std::uint32_t uids_within(imap_range range) const noexcept;
    void forget_messages() noexcept;
    void shrink(std::uint32_t exists) noexcept;
    void erase(std::uint32_t first, std::uint32_t count) noexcept;

    std::vector<std::uint32_t> uids_{};  // ascending but for zeros: not known
    std::string name_{};
    std::string next_name_{};   // of the SELECT whose turn has not come
    imap_memory remembered_{};  // of this mailbox, less what has vanished
    imap_memory next_remembered_{};
    std::vector<imap_range> vanished_earlier_{};  // while selecting; the last of them
    std::array<command, max_running> commands_{};
    std::uint64_t highest_modseq_ = 0;
    std::uint64_t selected_modseq_ = 0;  // what SELECT said
    std::size_t running_count_ = 0;
    imap_tag last_tag_ = no_tag;
    std::uint32_t max_messages_;
    std::uint32_t exists_ = 0;
    std::uint32_t known_ = 0;  // UIDs
    std::uint32_t uid_validity_ = 0;
    std::uint32_t uid_next_ = 0;
    std::uint32_t fetched_ = 0;
    std::uint32_t fetched_uid_ = 0;  // as the response itself says
    std::uint32_t told_exists_ = 0;  // how often within this SELECT
    std::uint32_t selected_ = 0;     // messages there are since SELECT; 0: not known
    phase phase_ = phase::none;
    bool qresync_ = false;
    bool no_modseq_ = false;  // the mailbox has none
};

}  // namespace postal::proto
