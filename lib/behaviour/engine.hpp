// Says what a behaviour does to a client at a stage.
//
// Rules are asked in the order of the file. At each stage the first one counts that says something
// about this stage, whose conditions all hold, and whose gate (token bucket, greylist), if it has
// one, does not let it pass; later ones are not asked. Conditions that nothing is known about yet do
// not hold.
//
// Draws depend on the seed, the numbers of session, message and recipient, the stage and the rule
// alone: the same seed and the same mail meet the same behaviour.
//
// Flow: engine e(behaviour, seed); for each session: of_session s = e.begin(situation);
//       decision d = e.decide(stage, situation, s)...
// decide() is called by all workers. Rules about a domain, or about senders or recipients of one,
// are found by that domain, and rules about listeners, clients and session numbers are looked at
// once for each session, so that a thousand of them cost little. It allocates nothing but for the
// keys of gates.
#pragma once

#include "behaviour/gates.hpp"
#include "behaviour/rule.hpp"

#include "proto/address.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::behaviour {

// What is known at a stage. Views, and pointers that may be null: not known (yet), or none.
struct situation {
    std::string_view listener{};              // "127.0.0.1:2525", "unix:/run/bhm"
    const net::ip_address* client = nullptr;  // null over a Unix socket
    bool tls = false;
    std::optional<std::string_view> helo{};
    const proto::path* sender = nullptr;
    const proto::path* recipient = nullptr;
    std::optional<bool> known{};          // the recipient
    std::optional<std::uint64_t> size{};  // octets
    std::uint64_t session = 1;            // in the order in which they came
    std::uint64_t message = 0;            // of the session, from 1; 0 before the first MAIL
    std::uint64_t recipient_number = 0;   // of the message, from 1; 0 before the first RCPT
    nanoseconds now{};                    // since the start
};

// What happens: nothing, as long as `by` is null.
struct decision {
    const rule* by = nullptr;
    std::optional<proto::server_reply> reply{};  // views of the rule
    nanoseconds delay{};
    closing close = closing::no;
    std::uint64_t read_rate = 0;  // octets a second from here on; 0: as before
    std::uint64_t window = 0;     // octets; 0: as before
    std::optional<grey_verdict> grey{};
};

// The rules without a domain that this session may still meet, by number.
struct of_session {
    std::vector<std::uint32_t> candidates{};
};

class engine {
  public:
    // Keeps its own copy. `seed` is the run's.
    engine(behaviour what, std::uint64_t seed);

    [[nodiscard]] const behaviour& what() const noexcept { return what_; }
    // Whether any rule says something about this stage.
    [[nodiscard]] bool knows(stage at) const noexcept {
        return asked_[static_cast<std::size_t>(at)];
    }

    // At the connection: listener, client and session are known.
    [[nodiscard]] of_session begin(const situation& here) const;
    [[nodiscard]] decision decide(stage at, const situation& here, const of_session& of);

  private:
    struct gate {
        std::unique_ptr<token_buckets> buckets{};
        std::unique_ptr<greylists> grey{};
    };
    // Rules by a domain that they cannot do without; numbers in the order of the file.
    using by_domain = std::unordered_map<std::string, std::vector<std::uint32_t>>;

    behaviour what_;
    std::uint64_t seed_;
    std::array<bool, stage_count> asked_{};
    std::vector<std::uint32_t> general_;  // rules that no domain leads to
    by_domain by_recipient_domain_;
    by_domain by_sender_domain_;
    std::vector<std::array<gate, stage_count>> gates_;  // of each rule
};

// Which rules an envelope meets at each stage, in words, one line a stage that any rule is about.
// Gates are taken as new: buckets full, greylists empty.
[[nodiscard]] std::string explain(const behaviour& what, std::uint64_t seed, const situation& here);

}  // namespace postal::behaviour
