// SPDX-License-Identifier: GPL-3.0-or-later
// What a simulated server does with mail: examines its content as bhm does it, answers for it, and
// delivers it. Where the run has agents each recipient's delivery is theirs, and its answer waits
// for them, as in lmtp-deliver; else an answer is there with the message.
//
// Flow: sender_comes(), recipient_taken(), begin(), take() and whole(), as the machine has it. Then
// without agents answers_due() when nothing holds the answers back any more; with them
// awaits_agents(), until answers_ready(), and give_answers().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents.hpp"
#include "record.hpp"
#include "serve/transaction_books.hpp"
#include "sink.hpp"
#include "stage_faults.hpp"
#include "voice.hpp"

namespace simulation {

struct server_house;

// What waits for an agent when the server stops hears this.
inline const delivery_reply stopping_reply{421, "4.3.2", "Shutting down"};

// A session's counter, and what it is told by.
struct counter_place {
    server_house& house;
    actor& session;
    const line_number& where;
    connection_record& truth;
    voice& said;
    postal::proto::smtp_server& machine;
    postal::serve::transaction_books& books;
};

class agent_desk final : delivery::owner {
  public:
    agent_desk(const counter_place& at, sink& into);

    // The message that came last goes to these; `why`: to none of them.
    void begin(const std::vector<std::string>& mailboxes);
    void refuse_all(std::size_t number, const delivery_reply& why);
    [[nodiscard]] bool awaited() const noexcept { return !deliveries_.empty(); }
    [[nodiscard]] bool answers_ready() const;
    void give_answers();
    void cancel_all(const delivery_reply& why);
    // Their client hears nothing any more.
    void client_left();
    [[nodiscard]] bool work_left() const;
    void drop();

  private:
    void arrived(const std::string& mailbox) override;
    void delivered(const delivery& which) override;
    void answer(const delivery_reply& what);
    void count(const delivery_reply& what);
    served_transaction& served() { return at_.truth.served[message_]; }

    const counter_place at_;
    sink& sink_;
    dispatcher::customer customer_;
    std::vector<delivery*> deliveries_;
    std::size_t answered_ = 0;
    std::size_t message_ = 0;  // its place in the record
};

class desk {
  public:
    desk(const counter_place& at, stage_faults& faults);

    void sender_comes() { recipients_.clear(); }
    void recipient_taken(std::string_view mailbox) { recipients_.emplace_back(mailbox); }
    void begin();
    void take(std::string_view content) { sink_.take(content); }
    void whole(bool stopping);
    void answers_due();
    // Nobody has been told of a message that is whole.
    [[nodiscard]] bool pending() const {
        return pending_.has_value() || (agents_ && agents_->awaited());
    }
    void drop();

    // Null without agents.
    [[nodiscard]] agent_desk* agents() noexcept { return agents_ ? &*agents_ : nullptr; }
    [[nodiscard]] bool awaits_agents() const { return agents_ && agents_->awaited(); }
    [[nodiscard]] bool work_left() const { return agents_ && agents_->work_left(); }

  private:
    // A message between its end and the moment when its reply is due.
    struct pending_message {
        std::uint32_t accepted = 0;
        std::uint32_t deferred = 0;
        std::uint32_t rejected = 0;
        std::vector<std::string> mailboxes{};
    };

    void answer_recipients(pending_message& found);

    const counter_place at_;
    stage_faults& faults_;
    sink sink_;
    std::vector<std::string> recipients_;
    std::optional<pending_message> pending_;
    std::optional<agent_desk> agents_;
};

}  // namespace simulation
