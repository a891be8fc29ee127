// SPDX-License-Identifier: GPL-3.0-or-later
// Indexes of the rules, and the decision itself.
//
// A rule stands in one place only: under the domains of its recipients, else under those of its
// senders, else among the rules that begin() looks at, else among those that are always asked. What
// led to a rule is checked again with its other conditions, so that an index need only not miss
// any.
#include "behaviour/engine.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace postal::behaviour {
namespace {

using rule_numbers = std::span<const std::uint32_t>;

constexpr std::size_t index_of(stage at) noexcept {
    return static_cast<std::size_t>(at);
}

std::vector<pattern> patterns_of(const std::vector<std::string>& texts) {
    return std::vector<pattern>(texts.begin(), texts.end());
}

// The name of a domain's pattern in a domain_index; nothing where no such name says the same.
std::optional<std::string> indexed_name(std::string_view domain_pattern) {
    const bool below = domain_pattern.starts_with("*.");
    const std::string_view name = domain_pattern.substr(below ? 2 : 0);
    const bool plain = !name.empty() && name.front() != '.' && name.find('*') == name.npos;
    if (!plain) return std::nullopt;
    return (below ? "." : "") + std::string(name);
}

stage_set stages_of(const rule& one) {
    stage_set found;
    for (std::size_t i = 0; i < stage_count; ++i) {
        if (one.at[i]) found |= static_cast<stage>(i);
    }
    return found;
}

bool asks_sender(const rule& one) {
    return !one.when.sender.empty() ||
           std::any_of(one.at.begin(), one.at.end(), [](const std::optional<action>& what) {
               if (!what) return false;
               return what->grey || (what->beyond && what->beyond->per == key::sender);
           });
}

using name_reader = std::optional<std::string> (*)(std::string_view pattern);

struct numbered_rule {
    std::uint32_t number;
    stage_set at;
};

// Puts a rule under the name of each of its patterns; not at all when one has no name.
bool add_to(domain_index& index, numbered_rule own, const std::vector<std::string>& patterns,
            name_reader name) {
    std::vector<std::string> names;
    for (const std::string& one : patterns) {
        auto found = name(one);
        if (!found) return false;
        names.push_back(std::move(*found));
    }
    for (const std::string& one : names)
        index.add(one, own.number, own.at);
    return !names.empty();
}

bool any_contains(std::span<const net::address_range> ranges, const net::ip_address* one) {
    return one != nullptr && std::any_of(ranges.begin(), ranges.end(),
                                         [one](const auto& range) { return range.contains(*one); });
}

bool listener_and_session_hold(const conditions& when, const situation& here) {
    if (when.session && !contains(*when.session, here.session)) return false;
    return when.listener.empty() ||
           std::any_of(when.listener.begin(), when.listener.end(), [&](const std::string& one) {
               return one == here.listener || one == here.local;
           });
}

bool session_holds(const conditions& when, const situation& here) {
    return listener_and_session_hold(when, here) &&
           (when.client.empty() || any_contains(when.client, here.client));
}

bool message_holds(const conditions& when, const situation& here) {
    if (when.tls && *when.tls != here.tls) return false;
    if (when.time && !contains(*when.time, here.now)) return false;
    if (when.known && when.known != here.known) return false;
    if (when.size && !(here.size && contains(*when.size, *here.size))) return false;
    return !when.message || (here.message != 0 && contains(*when.message, here.message));
}

bool any_matches(const std::vector<pattern>& patterns, std::optional<std::string_view> text) {
    if (patterns.empty()) return true;
    return text && std::any_of(patterns.begin(), patterns.end(),
                               [text](const pattern& one) { return one.matches(*text); });
}

bool any_matches(const std::vector<pattern>& patterns, const proto::path* who) {
    if (patterns.empty()) return true;
    std::string room;
    return any_matches(patterns, address_text(who, room));
}

// Takes the rule's draw from its source: the first that is taken, so that a delay has the next.
bool takes(const conditions& when, base::random_source& random) {
    return when.probability >= 1 || random.uniform() < when.probability;
}

}  // namespace

// Lists in the order of the file, read as one; a rule that several have comes once.
class engine::merged_rules {
  public:
    void add(rule_numbers list) noexcept {
        if (!list.empty()) lists_[count_++] = list;
    }

    std::optional<std::uint32_t> next() noexcept {
        if (count_ == 0) return std::nullopt;
        std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
        for (std::size_t i = 0; i < count_; ++i)
            least = std::min(least, lists_[i].front());
        for (std::size_t i = count_; i-- > 0;) {
            if (lists_[i].front() == least) lists_[i] = lists_[i].subspan(1);
            if (lists_[i].empty()) lists_[i] = lists_[--count_];
        }
        return least;
    }

  private:
    std::array<rule_numbers, 4> lists_{};
    std::size_t count_ = 0;
};

engine::engine(behaviour what, std::uint64_t seed)
    : what_(std::move(what)), seed_(seed), gates_(what_.rules.size()) {
    for (std::uint32_t number = 0; number < what_.rules.size(); ++number)
        add(number);
    by_recipient_.complete();
    by_sender_.complete();
}

void engine::add(std::uint32_t number) {
    const rule& one = what_.rules[number];
    asked_.push_back({patterns_of(one.when.helo), patterns_of(one.when.sender),
                      patterns_of(one.when.recipient), patterns_of(one.when.domain)});
    const found_by way = index(number);
    asks_names_ = asks_names_ || !one.when.helo.empty();
    asks_senders_ = asks_senders_ || asks_sender(one);
    if (way == found_by::always) at_always_ |= stages_of(one);
    for (std::size_t i = 0; i < stage_count; ++i) {
        if (!one.at[i]) continue;
        at_[i].any = true;
        at_[i].by_recipient = at_[i].by_recipient || way == found_by::recipient_domain;
        at_[i].by_sender = at_[i].by_sender || way == found_by::sender_domain;
        if (way == found_by::always) at_[i].always.push_back(number);
        gate& own = gates_[number][i];
        if (one.at[i]->beyond) own.buckets = std::make_unique<token_buckets>(*one.at[i]->beyond);
        if (one.at[i]->grey) own.grey = std::make_unique<greylists>(*one.at[i]->grey);
    }
}

engine::found_by engine::index(std::uint32_t number) {
    const conditions& when = what_.rules[number].when;
    const numbered_rule own{number, stages_of(what_.rules[number])};
    if (add_to(by_recipient_, own, when.domain, indexed_name) ||
        add_to(by_recipient_, own, when.recipient, domain_of_pattern)) {
        return found_by::recipient_domain;
    }
    if (add_to(by_sender_, own, when.sender, domain_of_pattern)) return found_by::sender_domain;
    const bool of_any_session =
        when.listener.empty() && when.client.empty() && !when.session && when.helo.empty();
    if (of_any_session) return found_by::always;
    index_by_session(number);
    return found_by::session;
}

void engine::index_by_session(std::uint32_t number) {
    const std::vector<net::address_range>& client = what_.rules[number].when.client;
    by_session_.push_back({number, static_cast<std::uint32_t>(client_ranges_.size()),
                           static_cast<std::uint32_t>(client.size())});
    client_ranges_.insert(client_ranges_.end(), client.begin(), client.end());
}

of_session engine::begin(const situation& here) const {
    of_session of{.at = at_always_};
    const std::span ranges(client_ranges_);
    for (const session_rule& one : by_session_) {
        const auto own = ranges.subspan(one.first_range, one.ranges);
        if (!own.empty() && !any_contains(own, here.client)) continue;
        if (!listener_and_session_hold(what_.rules[one.number].when, here)) continue;
        if (!any_matches(asked_[one.number].helo, here.helo)) continue;
        of.candidates.push_back(one.number);
        of.at |= stages_of(what_.rules[one.number]);
    }
    return of;
}

engine::merged_rules engine::to_ask(stage at, const situation& here, const of_session& of) const {
    const rules_at& found = at_[index_of(at)];
    merged_rules rules;
    if (!found.any) return rules;
    rules.add(found.always);
    rules.add(of.candidates);
    if (found.by_recipient && here.recipient != nullptr) {
        rules.add(by_recipient_.find(here.recipient->domain).rules);
    }
    if (found.by_sender && here.sender != nullptr)
        rules.add(by_sender_.find(here.sender->domain).rules);
    return rules;
}

bool engine::holds(std::uint32_t number, stage at, const situation& here) const {
    const rule& one = what_.rules[number];
    if (!one.at[index_of(at)]) return false;
    if (!session_holds(one.when, here) || !message_holds(one.when, here)) return false;
    std::optional<std::string_view> domain;
    if (here.recipient != nullptr) domain = here.recipient->domain;
    const asked_rule& asked = asked_[number];
    return any_matches(asked.helo, here.helo) && any_matches(asked.domain, domain) &&
           any_matches(asked.sender, here.sender) && any_matches(asked.recipient, here.recipient);
}

base::random_source engine::source(std::uint32_t number, stage at, const situation& here) const {
    const std::uint64_t event = base::mix(here.session, here.message, here.recipient_number);
    const std::uint64_t what = std::uint64_t{number} * stage_count + index_of(at);
    return base::random_source(base::mix(seed_, event, what));
}

bool engine::drawn(std::uint32_t number, stage at, const situation& here) const {
    base::random_source random = source(number, at, here);
    return takes(what_.rules[number].when, random);
}

std::vector<std::uint32_t> engine::holding(stage at, const situation& here) const {
    const of_session of = begin(here);
    std::vector<std::uint32_t> all;
    merged_rules rules = to_ask(at, here, of);
    while (const auto number = rules.next()) {
        if (holds(*number, at, here)) all.push_back(*number);
    }
    return all;
}

decision engine::decide(stage at, const situation& here, const of_session& of) {
    decision made;
    merged_rules rules = to_ask(at, here, of);
    while (const auto number = rules.next()) {
        if (!holds(*number, at, here) || !drawn(*number, at, here)) continue;
        const std::size_t i = index_of(at);
        const action& what = *what_.rules[*number].at[i];
        if (lets_pass(gates_[*number][i], what, here, made)) continue;
        carry_out(*number, at, here, made);
        return made;
    }
    return made;
}

bool engine::lets_pass(const gate& asked, const action& what, const situation& here,
                       decision& made) {
    if (asked.buckets && asked.buckets->take(key_text(what.beyond->per, here), here.now)) {
        return true;
    }
    if (!asked.grey) return false;
    made.grey = asked.grey->judge(triplet_text(here), here.now);
    return *made.grey == grey_verdict::passes;
}

void engine::carry_out(std::uint32_t number, stage at, const situation& here,
                       decision& made) const {
    const rule& one = what_.rules[number];
    const action& what = *one.at[index_of(at)];
    base::random_source random = source(number, at, here);
    (void)takes(one.when, random);  // which decide() has asked; the delay's draw is the next
    made.by = &one;
    made.why = one.name;
    if (what.reply) made.reply = what.reply->view();
    made.delay = draw(what.before, here.size.value_or(0), random);
    made.close = what.close;
    made.window = what.window;
    // Counted from the other end, so that it meets no stage's draw.
    const std::uint64_t whole_session = base::mix(here.session, 0, 0);
    base::random_source speed(base::mix(seed_, whole_session, ~std::uint64_t{number}));
    made.read_rate = draw_rate(what.read_rate, speed);
}

}  // namespace postal::behaviour
