// SPDX-License-Identifier: GPL-3.0-or-later
// Which replies and gates a stage can have is a matter of tables: `replies` and `knowledge`.
#include "behaviour/stage_table.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "behaviour/behaviour_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace postal::behaviour {
namespace {

using cli::section;
using namespace std::chrono_literals;

constexpr stage_set with_recipient{stage::rcpt, stage::data, stage::chunk, stage::end};
constexpr stage_set in_envelope = with_recipient | stage_set{stage::mail};
constexpr stage_set before_mail{stage::ehlo, stage::tls, stage::auth};
constexpr stage_set behind_mail{stage::rset, stage::quit};

struct knowledge_row {
    std::string_view what;
    stage_set at;
};

constexpr std::array<knowledge_row, 7> knowledge{{
    {"helo", before_mail | in_envelope | behind_mail},
    {"sender", in_envelope},
    {"recipient", with_recipient},
    {"domain", with_recipient},
    {"known", with_recipient},
    {"size", stage_set{stage::mail, stage::end}},
    {"message", in_envelope | behind_mail},
}};

// Codes that a stage can have (RFC 5321 4.3.2). What would change the state of the dialogue, such
// as 354 or 235, is no rule's business.
struct reply_row {
    stage_set at;
    std::uint16_t first;
    std::uint16_t last;
};

constexpr stage_set refusable = in_envelope | before_mail;

constexpr std::array<reply_row, 9> replies{{
    {stage_set{stage::quit}, 221, 221},
    {stage_set{stage::mail, stage::rcpt, stage::end, stage::rset}, 250, 250},
    {stage_set{stage::rcpt}, 251, 251},
    {refusable, 400, 599},
    {stage_set{stage::banner}, 421, 421},
    {stage_set{stage::banner}, 554, 554},
    {stage_set{stage::rset}, 421, 421},
    {stage_set{stage::quit}, 421, 421},
    {behind_mail, 500, 599},
}};

bool may_answer(stage at, std::uint16_t code) {
    return std::any_of(replies.begin(), replies.end(), [&](const reply_row& row) {
        return row.at.contains(at) && code >= row.first && code <= row.last;
    });
}

// "250, 421, 500-599"
std::string codes_of(stage at) {
    std::vector<std::string> all;
    for (const reply_row& row : replies) {
        if (!row.at.contains(at)) continue;
        all.push_back(row.first == row.last ? fmt::format("{}", row.first)
                                            : fmt::format("{}-{}", row.first, row.last));
    }
    return base::join(all, ", ");
}

constexpr std::array<std::string_view, 11> keys_of_stages{
    "reply", "delay", "delay_per_octet", "close", "read",    "window",
    "rate",  "burst", "limit",           "per",   "greylist"};

constexpr std::array<std::string_view, 8> key_names{"all",    "listener",  "client", "helo",
                                                    "sender", "recipient", "domain", "session"};

void read_reply(section& of, stage at, action& into) {
    std::string text;
    of.read("reply", text);
    if (!of.has("reply")) return;
    if (at == stage::connect)
        return of.refuse("reply",
                         "nothing is said at connect yet; banner is the first stage "
                         "that has a reply");
    auto reply = parse_reply(text);
    if (!reply) return of.refuse("reply", reply.error().message);
    if (!may_answer(at, reply->code))
        return of.refuse("reply", fmt::format("{} is no reply at {}; it can have {}", reply->code,
                                              name_of(at), codes_of(at)));
    into.reply = std::move(*reply);
}

void read_delay(section& of, stage at, delay& into) {
    std::string text;
    of.read("delay", text);
    if (of.has("delay")) {
        const auto value = parse_delay(text);
        if (!value) return of.refuse("delay", value.error().message);
        into = *value;
    }
    of.read("delay_per_octet", into.per_octet);
    if (!of.has("delay_per_octet")) return;
    if (at != stage::end)
        of.refuse("delay_per_octet", "stands at end only, where the message has come");
    if (into.per_octet > 1s) of.refuse("delay_per_octet", "want at most 1s");
}

void read_close(section& of, proto::cut& into) {
    static constexpr std::array<std::pair<std::string_view, proto::cut>, 3> ways{
        {{"fin", proto::cut::fin}, {"rst", proto::cut::rst}, {"silence", proto::cut::silence}}};
    std::string text;
    of.read("close", text);
    if (!of.has("close")) return;
    const auto* const found =
        std::find_if(ways.begin(), ways.end(), [&](const auto& one) { return one.first == text; });
    if (found == ways.end())
        return of.refuse("close", fmt::format("\"{}\" is no way to close; there are fin, rst, "
                                              "silence",
                                              base::printable(text, 40)));
    into = found->second;
}

void read_speed(section& of, action& into) {
    constexpr std::uint64_t largest_window = 1U << 30U;
    if (const auto text = text_or_number(of, "read")) {
        const auto speed = parse_number_range(*text);
        if (!speed) return of.refuse("read", speed.error().message);
        if (speed->least == 0 || speed->step != 1 || speed->most == number_range{}.most)
            return of.refuse("read", "want octets a second, more than 0: \"1K\" or \"1K..10K\"");
        into.read_rate = *speed;
    }
    if (const auto text = text_or_number(of, "window")) {
        const auto size = base::parse_size(*text);
        if (!size) return of.refuse("window", size.error().message);
        if (*size == 0 || *size > largest_window)
            return of.refuse("window", "want more than 0 and at most 1G");
        into.window = *size;
    }
}

void read_per(section& of, stage at, key& into) {
    std::string text;
    of.read("per", text);
    if (!of.has("per")) return;
    const auto* const found = std::find(key_names.begin(), key_names.end(), text);
    if (found == key_names.end())
        return of.refuse("per", fmt::format("\"{}\" is no key; there are {}",
                                            base::printable(text, 40), fmt::join(key_names, ", ")));
    if (!may_be_known(text, at))
        return of.refuse("per", fmt::format("nothing is known of the {} at {}", text, name_of(at)));
    into = static_cast<key>(std::distance(key_names.begin(), found));
}

// Doubles count tokens: all of these are told apart.
constexpr std::uint64_t most_tokens = 1'000'000'000'000;

void check_tokens(section& of, std::string_view name, std::uint64_t tokens) {
    if (tokens == 0 || tokens > most_tokens)
        of.refuse(name, fmt::format("want 1 to {}", most_tokens));
}

void read_bucket(section& of, stage at, action& into) {
    token_bucket bucket;
    std::string text;
    of.read("rate", text);
    if (of.has("rate")) {
        const auto rate = base::parse_rate(text, base::rate_unit::per_second);
        if (!rate) return of.refuse("rate", rate.error().message);
        if (rate->per_second <= 0)
            return of.refuse("rate", "want more than 0; without a rate all meet the rule");
        bucket.per_second = rate->per_second;
        const double worth = std::min(std::floor(rate->per_second), double{most_tokens});
        bucket.most = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(worth));
    }
    for (const std::string_view count : {"burst", "limit"}) {
        of.read(count, bucket.most);
        if (of.has(count)) check_tokens(of, count, bucket.most);
    }
    read_per(of, at, bucket.per);
    if (of.has("rate") && of.has("limit"))
        return of.refuse("limit", "is never filled again, and has no rate; give one of them");
    if (of.has("burst") && !of.has("rate"))
        return of.refuse("burst", "is the most at once of a rate; give rate, too");
    if (of.has("rate") || of.has("limit")) {
        into.beyond = bucket;
    } else if (of.has("per")) {
        of.refuse("per", "says what a rate or limit counts apart; give one of them, too");
    }
}

void read_greylist(section& of, stage at, action& into) {
    const toml::node* node = of.take("greylist");
    if (node == nullptr) return;
    if (node->as_table() == nullptr)
        return of.wrong("greylist", *node, "is a table: write { wait = \"5m\" }, or {}");
    greylist grey{.wait = 5min, .window = 4h, .lifetime = 35 * 24h};
    section table(*node->as_table(), "greylist", of.problems());
    table.read("wait", grey.wait);
    table.read("window", grey.window);
    table.read("lifetime", grey.lifetime);
    table.end();
    if (at != stage::rcpt)
        return of.refuse("greylist", "stands at rcpt only, where sender and recipient are known");
    if (into.beyond)
        return of.refuse("greylist", "a stage has one gate; give a rate, a limit or a greylist");
    if (grey.window <= grey.wait)
        return table.refuse("window", "ends before the wait is over; nobody could come in it");
    if (grey.lifetime.count() == 0) return table.refuse("lifetime", "want more than 0");
    into.grey = grey;
}

// What a gate says that is given nothing else to say.
reply_text usual_reply(stage at, const action& of) {
    if (of.grey) return {450, "4.2.0", "Greylisted, try again later"};
    if (in_envelope.contains(at)) return {451, "4.7.1", "Too many, try again later"};
    return {421, "4.7.0", "Too many, try again later"};
}

void complete_gate(section& of, stage at, action& into) {
    if (!into.beyond && !into.grey) return;
    if (into.reply || into.close != proto::cut::no || of.has("reply") || of.has("close")) return;
    if (at != stage::connect) {
        into.reply = usual_reply(at, into);
        return;
    }
    if (into.before.none() && into.read_rate.most == 0 && into.window == 0)
        of.problems().add(into.line,
                          "[rule.connect] has a gate and no effect on who is beyond it; "
                          "give close");
}

}  // namespace

bool may_be_known(std::string_view what, stage at) noexcept {
    const auto* const row =
        std::find_if(knowledge.begin(), knowledge.end(),
                     [&](const knowledge_row& one) { return one.what == what; });
    return row == knowledge.end() || row->at.contains(at);
}

std::optional<std::string> text_or_number(section& of, std::string_view name) {
    const toml::node* node = of.take(name);
    if (node == nullptr) return std::nullopt;
    if (node->as_string() != nullptr) return node->as_string()->get();
    if (node->as_integer() != nullptr) return fmt::format("{}", node->as_integer()->get());
    of.wrong(name, *node, "must be a number, or a text in quotes");
    return std::nullopt;
}

action read_action(section of, stage at) {
    action one;
    one.line = of.line();
    // None is unknown because of what is wrong with another.
    for (const std::string_view name : keys_of_stages)
        of.take(name);
    read_reply(of, at, one);
    read_delay(of, at, one.before);
    read_close(of, one.close);
    read_speed(of, one);
    read_bucket(of, at, one);
    read_greylist(of, at, one);
    complete_gate(of, at, one);
    of.end();
    if (of.keys().empty())
        of.problems().add(one.line, fmt::format("[rule.{}] is empty; give reply, delay or another "
                                                "key",
                                                name_of(at)));
    return one;
}

}  // namespace postal::behaviour
