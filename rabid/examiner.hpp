// Looks at one message after the other as it is read, counts what it is, and notes it in the
// ledger.
//
// Flow: begin(); feed() the pieces; finish(place)     for a message that is whole
//       begin(); feed() ...; drop()                   for one that broke off
// Each message is verified, foreign (none of ours, left alone), of the original postal, or corrupt;
// then what is wrong with it is said, by remaking what was sent. One that comes twice in a mailbox
// is a duplicate too. Messages are kept until they are found to be fine, so that a corrupt one can
// be compared; of those that ledger::evidence does not keep only the verdict is known.
//
// One for each session.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "ledger/evidence.hpp"
#include "ledger/rows.hpp"
#include "mail/message_checker.hpp"
#include "rabid/accounts.hpp"
#include "rabid/workshop.hpp"

namespace postal::rabid {

// What a message turned out to be.
enum class finding : std::uint8_t {
    verified,
    foreign,
    original,
    corrupt,
    doubtful  // corrupt, and nothing proves that it is ours: anybody may write such a header
};

// Where a message was found.
struct sighting {
    std::uint64_t uid = 0;    // which stored message: an IMAP UID, a hash of POP3's; 0: not known
    std::uint64_t place = 0;  // its order in the mailbox; 0: not known
};

class examiner {
  public:
    explicit examiner(workshop& shop) : shop_(shop), kept_(shop.evidence) {}

    // A mailbox is opened: whose, and through which protocol.
    void open(const account& whose, ledger::way through);
    void close();

    void begin();
    void feed(std::string_view piece);
    finding finish(const sighting& where);
    void drop();

    std::uint64_t octets() const noexcept { return kept_.octets(); }
    // A word for what finish() found: "truncated"; valid until begin().
    const std::string& detail() const noexcept { return detail_; }

  private:
    finding judge(const mail::check_result& checked, ledger::seen_row& row);
    bool is_fine_but_for_qmail(const mail::check_result& checked) const;
    finding judge_stranger(ledger::seen_row& row);
    void count_twice(const mail::identity& id);

    workshop& shop_;
    mail::message_checker checker_;
    ledger::evidence kept_;
    std::string detail_;
    std::unordered_set<std::uint64_t> seen_;  // identities of this mailbox, mixed
    ledger::address_id mailbox_ = 0;
    ledger::way through_ = ledger::way::pop3;
};

}  // namespace postal::rabid
