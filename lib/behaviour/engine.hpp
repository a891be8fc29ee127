// SPDX-License-Identifier: GPL-3.0-or-later
// Says what a behaviour does to a client at a stage.
//
// Rules are asked in the order of the file. At each stage the first one counts that says something
// about this stage, whose conditions all hold, and whose gates (token bucket, greylist), if it has
// any, do not let it pass; later ones are not asked. Conditions that nothing is known about yet do
// not hold.
//
// Draws depend on the seed, the numbers of session, message and recipient, the stage and the rule
// alone, that of a reading speed on seed, session and rule: the same seed and the same mail meet
// the same behaviour, whatever else happens meanwhile.
//
// Flow: engine e(behaviour, seed); for each session: of_session s = e.begin(situation);
//       decision d = e.decide(stage, situation, s)...
// decide() is called by all workers. Rules about a domain, or about senders or recipients of one,
// are found by that domain, and rules about listeners, clients, names in EHLO and session numbers
// are looked at once for each session, so that a thousand of them cost little; where no rule says
// anything about a stage, it costs nothing. It allocates nothing but for the keys of gates and for
// addresses that are quoted.
#pragma once

#include "behaviour/domain_index.hpp"
#include "behaviour/gates.hpp"
#include "behaviour/pattern.hpp"
#include "behaviour/rule.hpp"
#include "behaviour/situation.hpp"

#include "base/random.hpp"
#include "net/ip_address.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace postal::behaviour {

// What happens: nothing, as long as `by` is null. The texts are views of the rule.
struct decision : proto::stage_effect {
    const rule* by = nullptr;
    // Of the last greylist that was asked, also where it let pass and nothing happens.
    std::optional<grey_verdict> grey{};
};

// The rules about listeners, clients, their names and session numbers that this session may still
// meet.
struct of_session {
    std::vector<std::uint32_t> candidates{};
    stage_set at{};  // what these, and the rules that anybody may meet, are about
};

class engine {
  public:
    // Keeps its own copy. `seed` is the run's.
    engine(behaviour what, std::uint64_t seed);

    [[nodiscard]] const behaviour& what() const noexcept { return what_; }
    // Whether any rule says something about this stage.
    [[nodiscard]] bool knows(stage at) const noexcept {
        return at_[static_cast<std::size_t>(at)].any;
    }

    // Stages at which rules found by this recipient's, or sender's, domain may act. At one that is
    // neither among these nor in of_session::at, decide() need not be asked.
    [[nodiscard]] stage_set reached_by_recipient(const proto::path& recipient) const {
        return by_recipient_.find(recipient.domain).at;
    }
    [[nodiscard]] stage_set reached_by_sender(const proto::path& sender) const {
        return by_sender_.find(sender.domain).at;
    }
    // Whether any rule, or gate, looks at senders.
    [[nodiscard]] bool asks_senders() const noexcept { return asks_senders_; }
    // Whether any rule looks at what clients call themselves.
    [[nodiscard]] bool asks_names() const noexcept { return asks_names_; }

    // At the connection, when listener, client and session are known; again when the client has
    // given its name, or turns out to be another (PROXY, XCLIENT).
    [[nodiscard]] of_session begin(const situation& here) const;
    [[nodiscard]] decision decide(stage at, const situation& here, const of_session& of);

    // Numbers of the rules whose conditions hold, whatever their draws and gates say, in the order
    // of the file; and whether the draw takes one of them. What explain() asks.
    [[nodiscard]] std::vector<std::uint32_t> holding(stage at, const situation& here) const;
    [[nodiscard]] bool drawn(std::uint32_t number, stage at, const situation& here) const;

  private:
    // What leads to a rule; `always`: nothing needs to.
    enum class found_by : std::uint8_t { recipient_domain, sender_domain, session, always };
    // Where the rules of a stage are found.
    struct rules_at {
        bool any = false;
        bool by_recipient = false;
        bool by_sender = false;
        std::vector<std::uint32_t> always{};
    };
    // What of a rule is asked again and again.
    struct asked_rule {
        std::vector<pattern> helo{};
        std::vector<pattern> sender{};
        std::vector<pattern> recipient{};
        std::vector<pattern> domain{};
    };
    // A rule that begin() looks at, with its part of client_ranges_.
    struct session_rule {
        std::uint32_t number = 0;
        std::uint32_t first_range = 0;
        std::uint32_t ranges = 0;
    };
    struct gate {
        std::unique_ptr<token_buckets> buckets{};
        std::unique_ptr<greylists> grey{};
    };
    class merged_rules;

    void add(std::uint32_t number);
    found_by index(std::uint32_t number);
    void index_by_session(std::uint32_t number);

    merged_rules to_ask(stage at, const situation& here, const of_session& of) const;
    bool holds(std::uint32_t number, stage at, const situation& here) const;
    base::random_source source(std::uint32_t number, stage at, const situation& here) const;
    static bool lets_pass(const gate& asked, const action& what, const situation& here,
                          decision& made);
    void carry_out(std::uint32_t number, stage at, const situation& here, decision& made) const;

    behaviour what_;
    std::uint64_t seed_;
    bool asks_senders_ = false;
    bool asks_names_ = false;
    stage_set at_always_;
    std::array<rules_at, stage_count> at_{};
    std::vector<asked_rule> asked_;  // of each rule
    domain_index by_recipient_;
    domain_index by_sender_;
    std::vector<session_rule> by_session_;
    std::vector<net::address_range> client_ranges_;
    std::vector<std::array<gate, stage_count>> gates_;  // of each rule
};

// What may happen to an envelope at each stage that any rule is about, in words: a line for each
// rule that may act, and one for what is left where none acts for certain. Gates are taken as new:
// buckets full, greylists empty. What is not known yet at a stage is left out of `here` there.
[[nodiscard]] std::string explain(const behaviour& what, std::uint64_t seed, const situation& here);

}  // namespace postal::behaviour
