// SPDX-License-Identifier: GPL-3.0-or-later
// The mailboxes behind simulated servers, and the truth about what is in them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "mail/message_factory.hpp"

namespace clients {

class line;

enum class content : std::uint8_t { ours, changed, foreign };

struct stored {
    std::uint32_t uid = 0;
    content what = content::ours;
    std::shared_ptr<const std::string> text;
    bool seen = false;
    bool deleted = false;
};

struct mailbox {
    std::string address;
    std::vector<stored> messages{};  // by UID
    std::uint32_t uid_validity = 1;
    std::uint32_t uid_next = 1;
    const line* pop3 = nullptr;  // who has it to himself (RFC 1939 8)
    std::uint64_t removed = 0;
    std::uint64_t appended = 0;

    void put(content what, std::string text);
    stored* find(std::uint32_t uid) noexcept;
    void remove(std::uint32_t uid);
};

// What messages are made with; once a process.
class press {
  public:
    press();
    // Of the next run: the same messages again.
    void begin_run() noexcept { made_before_ = 0; }
    std::string make(content what, std::string_view address, postal::base::random_source& random);

  private:
    std::vector<std::unique_ptr<postal::mail::message_factory>> factories_;
    postal::mail::message made_;
    std::uint64_t made_before_ = 0;
};

// By login name.
using mailboxes = std::map<std::string, mailbox, std::less<>>;

}  // namespace clients
