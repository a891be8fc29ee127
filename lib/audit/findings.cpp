// SPDX-License-Identifier: GPL-3.0-or-later
#include "audit/findings.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::audit {
namespace {

using experiment::bound_text;
using experiment::in_quotes;
using experiment::unknown;

// A longer time between two looks at the log is worth a remark.
constexpr double long_gap_s = 0.1;
constexpr std::size_t longest_reason = 200;

std::uint64_t damaged_of(const audited_image& one) {
    return one.misplaced + one.truncated + one.changed;
}

std::size_t index_of(survival what) {
    return static_cast<std::size_t>(what);
}

void add_image(variant_result& to, cut_result& cut, const audited_variant& of, std::size_t index) {
    const audited_image& one = of.images[index];
    const std::uint64_t gone = gone_of(one);
    ++to.images;
    ++cut.images;
    to.gone.add(gone);
    to.gone_by[index_of(one.what)].add(gone);
    cut.gone_by[index_of(one.what)].add(gone);
    const bool harmed = gone > 0 || !one.failure.empty();
    if (harmed && (!cut.worst || gone > gone_of(of.images[*cut.worst]))) cut.worst = index;
    if (one.fsck_status != 0 || !one.fsck.empty()) ++to.fsck_complained;
    if (one.lost_window_s) to.window_s = std::max(to.window_s.value_or(0), *one.lost_window_s);
    if (!one.failure.empty()) {
        ++to.failed;
        if (to.failure.empty()) to.failure = one.failure;
        return;
    }
    to.lost.add(one.lost);
    to.misplaced.add(one.misplaced);
    to.duplicated.add(one.duplicated);
    to.truncated.add(one.truncated);
    to.changed.add(one.changed);
    to.unopened.add(one.unopened);
}

// An interruption leaves the last cut without some of its draws: it may harm yet.
bool looked_at_whole(const cut_result& cut, const audited_variant& of) {
    const std::uint64_t draws = of.images[cut.first].draws;
    const bool is_last = cut.first + cut.images == of.images.size();
    return draws > 0 ? cut.images >= draws : of.ended_whole() || !is_last;
}

void count_cut(variant_result& to, const cut_result& cut, const audited_variant& of) {
    const auto any = [&](auto is_so) {
        const auto begin = of.images.begin() + static_cast<std::ptrdiff_t>(cut.first);
        return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(cut.images), is_so);
    };
    if (!any([](const audited_image& one) { return one.acknowledged > 0; })) {
        ++to.before_mail;
        return;
    }
    if (!cut.worst && !looked_at_whole(cut, of)) return;
    ++to.counted;
    const bool failed = any([](const audited_image& one) { return !one.failure.empty(); });
    to.harmed += cut.worst ? 1 : 0;
    to.out_of_reach += failed ? 1 : 0;
    to.lost_at += failed || any([](const audited_image& one) { return one.lost > 0; }) ? 1 : 0;
    to.damaged_at +=
        any([](const audited_image& one) { return one.failure.empty() && damaged_of(one) > 0; })
            ? 1
            : 0;
}

variant_result result_of(const audited_variant& of, bool random_order) {
    variant_result to;
    for (std::size_t i = 0; i < of.images.size(); ++i) {
        if (i == 0 || of.images[i].cut != of.images[i - 1].cut) to.cuts.push_back({.first = i});
        add_image(to, to.cuts.back(), of, i);
    }
    for (const cut_result& one : to.cuts)
        count_cut(to, one, of);
    if (of.ended_whole() || random_order) to.share = stats::bounds_of_share(to.harmed, to.counted);
    if (of.acknowledged > 0) {
        const auto messages = static_cast<double>(of.acknowledged);
        to.flushes = static_cast<double>(of.flushes) / messages;
        to.writes = static_cast<double>(of.writes) / messages;
    }
    return to;
}

// A control that shows nothing of loss is worth something only when it ran to its end.
bool has_lost(const audited_variant& one) {
    return std::any_of(one.images.begin(), one.images.end(), [](const audited_image& image) {
        return image.failure.empty() && image.lost > 0;
    });
}

void judge_controls(const audit_record& of, audit_analysis& to) {
    const auto say = [&](audit_state state, std::string why) {
        if (state <= to.state && !to.why.empty()) return;
        to.state = state;
        to.why = std::move(why);
    };
    bool loses = false;
    bool keeps = false;
    to.state = audit_state::good;
    for (std::size_t i = 0; i < of.variants.size(); ++i) {
        const audited_variant& one = of.variants[i];
        const variant_result& result = to.variants[i];
        const bool is_whole = one.ended_whole() && result.counted > 0;
        const std::string name = in_quotes(one.name);
        if (one.as == control::must_keep && result.harmed > 0)
            say(audit_state::wrong,
                fmt::format("The audit is WRONG: the control {} flushes all that it acknowledges, "
                            "and lost mail at {} of {}",
                            name, result.harmed, base::format_amount(result.counted, "cut")));
        if (one.as == control::must_lose && is_whole && !has_lost(one))
            say(audit_state::blind,
                fmt::format("The audit is BLIND: the control {} flushes nothing, and lost no mail "
                            "in {}",
                            name, base::format_amount(result.counted, "cut")));
        loses = loses || (one.as == control::must_lose && has_lost(one));
        keeps = keeps || (one.as == control::must_keep && is_whole);
    }
    if (!loses)
        say(audit_state::unchecked,
            "The audit is not checked: no control that has to lose mail has lost any, so that none "
            "was lost elsewhere says nothing yet");
    if (!keeps)
        say(audit_state::unchecked,
            "The audit is not checked: no control that has to keep its mail was cut to the end, so "
            "what was lost elsewhere may be the audit's own doing");
}

std::string what_happened(const variant_result& one) {
    if (one.damaged_at == 0) return "lost";
    return one.lost_at == 0 ? "damaged" : "lost or damaged";
}

std::string window_text(const variant_result& one) {
    return one.window_s ? fmt::format(" of the last {:.2g} s", *one.window_s) : "";
}

std::string messages_word(const count_range& one) {
    return show_range(one) + (one.least == 1U && one.most == 1 ? " message" : " messages");
}

// Empty where all cuts were made.
std::string interruption(const audited_variant& of, const variant_result& one) {
    if (of.ended_whole()) return {};
    return fmt::format("; {} after {} of {}", of.end.empty() ? "not ended" : of.end,
                       one.cuts.size(), base::format_amount(of.cuts, "cut"));
}

std::string how_it_ended(const audited_variant& of, const variant_result& one) {
    if (!of.ended_whole()) return interruption(of, one);
    return one.counted < enough_cuts ? "; few cuts" : "";
}

// "at most 3 %", "61 to 80 %"
std::string share_text(const variant_result& one, std::string_view of_what) {
    if (!one.share)
        return "no bound: the cuts went through the log in its order, and did not come to its end";
    const std::string high = bound_text(one.share->high);
    return one.harmed == 0 ? fmt::format("at most {} %{}", high, of_what)
                           : fmt::format("{} to {} %{}", bound_text(one.share->low), high, of_what);
}

std::string sentence(const audited_variant& of, const variant_result& one) {
    if (one.cuts.empty())
        return fmt::format("{}: not audited{}", of.name, of.end.empty() ? "" : ": " + of.end);
    const std::string ended = how_it_ended(of, one);
    if (one.counted == 0)
        return fmt::format(
            "{}: no verdict: nothing had been acknowledged before any cut that was "
            "looked at to its end{}",
            of.name, ended);
    if (one.harmed == 0)
        return fmt::format("{}: none lost in {} ({}){}", of.name,
                           base::format_amount(one.counted, "cut"),
                           share_text(one, " of cuts, 95 %"), ended);
    std::string reach;
    if (one.out_of_reach > 0)
        reach = fmt::format(", all of it out of reach at {}",
                            base::format_amount(one.out_of_reach, "cut"));
    const std::string window = window_text(one);
    return fmt::format("{}: acknowledged mail {} at {} of {} ({}), {} at a cut{}{}{}{}", of.name,
                       what_happened(one), one.harmed, base::format_amount(one.counted, "cut"),
                       share_text(one, " of cuts, 95 %"), messages_word(one.gone),
                       window.empty() ? "" : ",", window, reach, ended);
}

std::string names_of(const audit_record& of, const std::vector<std::size_t>& some) {
    std::vector<std::string> names;
    for (const std::size_t one : some)
        names.push_back(in_quotes(of.variants[one].name));
    return base::join(names, ", ");
}

}  // namespace

void count_range::add(std::uint64_t value) {
    least = std::min(least.value_or(value), value);
    most = std::max(most, value);
}

std::string show_range(const count_range& one) {
    if (!one.least) return unknown;
    if (*one.least == one.most) return std::to_string(one.most);
    return fmt::format("{} to {}", *one.least, one.most);
}

std::uint64_t gone_of(const audited_image& one) {
    if (!one.failure.empty()) return one.acknowledged;
    return std::min(one.acknowledged, one.lost + damaged_of(one));
}

audit_analysis analyse(const audit_record& of) {
    audit_analysis to;
    for (const audited_variant& one : of.variants)
        to.variants.push_back(result_of(one, of.order == cut_order::random));
    judge_controls(of, to);
    return to;
}

std::vector<std::string> verdict_sentences(const audit_record& of, const audit_analysis& found) {
    std::vector<std::string> all;
    if (!found.counts()) return all;
    for (std::size_t i = 0; i < of.variants.size(); ++i)
        if (of.variants[i].as == control::no)
            all.push_back(sentence(of.variants[i], found.variants[i]));
    return all;
}

std::vector<remark> remarks(const audit_record& of, const audit_analysis& found) {
    std::vector<remark> all;
    if (!found.counts())
        all.push_back({"bad", found.why + ". There is no verdict on any variant"});
    else if (!found.why.empty())
        all.push_back({"limit", found.why});
    if (of.ended.empty())
        all.push_back({"note", "The audit has not ended"});
    else if (of.end != all_cuts_done)
        all.push_back({"note", "The audit did not come to its end: " + of.end});
    std::vector<std::size_t> few;
    for (std::size_t i = 0; i < of.variants.size(); ++i) {
        const audited_variant& one = of.variants[i];
        const variant_result& result = found.variants[i];
        if (!result.cuts.empty() && result.counted < enough_cuts) few.push_back(i);
        if (result.before_mail > 0)
            all.push_back({"note", fmt::format("{}: {} came before anything was acknowledged, and "
                                               "{} in no figure",
                                               in_quotes(one.name),
                                               base::format_amount(result.before_mail, "cut"),
                                               result.before_mail == 1 ? "is" : "are")});
        if (result.failed > 0)
            all.push_back({"note", fmt::format("{}: {} of {} images could not be read: {}",
                                               in_quotes(one.name), result.failed, result.images,
                                               base::printable(result.failure, longest_reason))});
        if (one.longest_gap_s > long_gap_s)
            all.push_back({"note", fmt::format("{}: for up to {:.2g} s nobody looked how long the "
                                               "log was, so what was acknowledged so shortly "
                                               "before a cut may not be asked for",
                                               in_quotes(one.name), one.longest_gap_s)});
    }
    if (!few.empty())
        all.push_back({"note", fmt::format("Few cuts, so that rare losses may not show: {}",
                                           names_of(of, few))});
    return all;
}

std::string describe(const audit_record& of) {
    return fmt::format(
        "{}: power cuts at random entries of one recorded run of each of {}, {} and up to "
        "{} of what survived for each, {}, on {} ({}), started {}",
        of.title.empty() ? of.file : of.title, base::format_amount(of.variants.size(), "variant"),
        base::format_amount(of.cuts, "cut"), base::format_amount(of.draws, "draw"),
        base::format_amount(of.messages, "message"), of.host.name, of.host.kernel, of.started);
}

std::string lost_by_power_cut(std::string_view name, const audit_record& of,
                              const audit_analysis& found) {
    const auto same = std::find_if(
        of.variants.begin(), of.variants.end(),
        [&](const audited_variant& one) { return one.name == name && one.as == control::no; });
    if (same == of.variants.end()) return "not audited";
    const variant_result& one =
        found.variants[static_cast<std::size_t>(same - of.variants.begin())];
    if (one.cuts.empty()) return "not audited";
    if (!found.counts()) return "no verdict";
    const std::string cuts = base::format_amount(one.counted, "cut");
    if (one.harmed == 0)
        return fmt::format("none in {} ({}){}", cuts, one.share ? share_text(one, "") : "no bound",
                           interruption(*same, one));
    return fmt::format("{} of {}, {}{}{}", one.harmed, cuts, messages_word(one.gone),
                       window_text(one), interruption(*same, one));
}

}  // namespace postal::audit
