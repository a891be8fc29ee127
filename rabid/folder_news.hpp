// SPDX-License-Identifier: GPL-3.0-or-later
// What a session that watches several mailboxes by NOTIFY was told of mail in them. Of the one that
// is selected EXISTS tells (announcements.hpp), of the others STATUS: a message is told of by the
// first STATUS whose UIDNEXT is behind it (RFC 5465 5.2).
//
// Flow: the first STATUS of each says what lay there before. take() each later one, with the time
// of the read that brought it; unread() is a mailbox that is not selected and has mail; select() it
// once the server has; of(uid) while a message is read; leave(uid) when all up to that one are.
// What the server says against what it said before is a static text, and what it said last counts.
// Of a mailbox that nobody asked for nothing is noted. Memory: 16 octets for each STATUS of which
// messages are not read yet, announcements::most_kept for a mailbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/imap/responses.hpp"
#include "rabid/announcements.hpp"

namespace postal::rabid {

class folder_news {
  public:
    // By their names on the server; the first of them is selected.
    explicit folder_news(std::vector<std::string> mailboxes);

    std::string_view take(std::string_view mailbox, const proto::imap_status& said,
                          std::uint64_t time_us);
    // Of mailboxes that have mail that was not read the one behind the selected.
    [[nodiscard]] std::optional<std::size_t> unread() const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] const std::string& name(std::size_t which) const { return all_[which].name; }
    [[nodiscard]] std::size_t selected() const noexcept { return selected_; }

    // SELECT of that one was answered, with such a UIDNEXT and UIDVALIDITY (0: it did not say).
    std::string_view select(std::size_t which, const proto::imap_status& said,
                            std::uint64_t time_us);
    // Of the selected one: messages from there on were not read.
    [[nodiscard]] std::uint32_t first_unread() const noexcept { return all_[selected_].read + 1; }
    // When the session was told of that message of it; `exists` is what EXISTS has told.
    [[nodiscard]] announcement of(std::uint32_t uid, const announcement& exists) const noexcept;
    // All up to that UID, and all that was told of before it was selected, was read.
    void leave(std::uint32_t uid) noexcept;

  private:
    struct told_of {
        std::uint64_t time_us = 0;
        std::uint32_t last = 0;  // UID
    };
    struct folder {
        std::string name;
        std::vector<told_of> kept{};
        std::uint32_t uid_validity = 0;
        std::uint32_t last = 0;  // UIDNEXT, less one, as it was told last
        std::uint32_t read = 0;  // up to there all are read, or lay there before
        bool known = false;
    };

    static std::string_view grow(folder& one, const proto::imap_status& said,
                                 std::uint64_t time_us);

    std::vector<folder> all_;
    std::size_t selected_ = 0;
    std::uint32_t told_before_ = 0;  // UID: what STATUS told of the selected one by SELECT
    std::uint64_t selected_us_ = 0;
};

}  // namespace postal::rabid
