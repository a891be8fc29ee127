// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of an audit, and all of it as text and as Markdown.
#include "audit/findings.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace postal::audit {
namespace {

using postal::experiment::bound_text;
using postal::experiment::repeated_command;
using postal::experiment::unknown;

std::string a_message(const std::optional<double>& value) {
    return value ? fmt::format("{:.3g}", *value) : unknown;
}

std::string seconds_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.2g} s", *value) : unknown;
}

std::string count_of(std::size_t some, std::size_t all) {
    return fmt::format("{} of {}", some, all);
}

std::string row_name(const audited_variant& one) {
    switch (one.as) {
        case control::no:
            break;
        case control::must_lose:
            return one.name + " (control: has to lose)";
        case control::must_keep:
            return one.name + " (control: has to keep)";
    }
    return one.name;
}

// "3 of 100", "3 of 50; interrupted"
std::string cuts_with_loss(const audited_variant& of, const variant_result& one) {
    const std::string counted = count_of(one.harmed, one.counted);
    if (of.ended_whole() || one.cuts.empty()) return counted;
    return counted + "; " + (of.end.empty() ? "not ended" : base::printable(of.end, 60));
}

std::string share_of_cuts(const variant_result& one, bool counts) {
    if (!counts || one.counted == 0 || !one.share) return unknown;
    if (one.harmed == 0) return "at most " + bound_text(one.share->high) + " %";
    return bound_text(one.share->low) + " to " + bound_text(one.share->high) + " %";
}

std::string what_it_was(const audited_image& one) {
    if (!one.failure.empty()) return "out of reach: " + base::printable(one.failure, 120);
    std::vector<std::string> parts;
    const auto add = [&](std::uint64_t count, const char* word) {
        if (count > 0) parts.push_back(fmt::format("{} {}", count, word));
    };
    add(one.lost, "lost");
    add(one.misplaced, "misplaced");
    add(one.truncated, "cut short");
    add(one.changed, "changed");
    add(one.duplicated, "doubled");
    return base::join(parts, ", ");
}

struct worst_cut {
    std::size_t variant;
    const audited_image* image;
};

// Those of which most is gone; of equal ones the earlier.
std::vector<worst_cut> worst_cuts(const audit_record& of, const audit_analysis& found) {
    std::vector<worst_cut> all;
    for (std::size_t i = 0; i < of.variants.size(); ++i)
        for (const cut_result& one : found.variants[i].cuts)
            if (one.worst && of.variants[i].as != control::must_lose)
                all.push_back({i, &of.variants[i].images[*one.worst]});
    std::stable_sort(all.begin(), all.end(), [](const worst_cut& one, const worst_cut& other) {
        return gone_of(*one.image) > gone_of(*other.image);
    });
    if (all.size() > most_worst_cuts) all.resize(most_worst_cuts);
    return all;
}

}  // namespace

report::table loss_table(const audit_record& of, const audit_analysis& found) {
    report::table made{
        "power-cuts",
        "Power cuts: acknowledged mail lost",
        report::numbers({"", "cuts with loss", "of all cuts (95 %)", "messages at a cut",
                         "of the last", "flushes a message", "writes a message"}),
        {}};
    made.columns[0].side = report::align::left;
    for (std::size_t i = 0; i < of.variants.size(); ++i) {
        const variant_result& one = found.variants[i];
        made.rows.push_back({row_name(of.variants[i]), cuts_with_loss(of.variants[i], one),
                             share_of_cuts(one, found.counts()), show_range(one.gone),
                             seconds_text(one.window_s), a_message(one.flushes),
                             a_message(one.writes)});
    }
    made.note =
        "cuts at random entries of one recorded run of each variant, those before anything was "
        "acknowledged left out: the share is of cuts of such a run, not of runs; with loss: at "
        "least one draw of what survived lost, misplaced, cut "
        "short or changed a message that had been acknowledged before the cut, or left all of "
        "them out of reach; of the last: how long before the cut the oldest of those lost had "
        "been acknowledged, at most";
    return made;
}

report::table draw_table(const audit_record& of, const audit_analysis& found) {
    report::table made{
        "power-cut-draws",
        "Power cuts: what the disks held",
        report::numbers({"", "images", "gone: none survived", "all survived", "some survived",
                         "lost", "misplaced", "doubled", "cut short", "changed", "unopened",
                         "out of reach", "fsck complained"}),
        {}};
    made.columns[0].side = report::align::left;
    for (std::size_t i = 0; i < of.variants.size(); ++i) {
        const variant_result& one = found.variants[i];
        const auto by = [&](survival what) {
            return show_range(one.gone_by[static_cast<std::size_t>(what)]);
        };
        made.rows.push_back(
            {row_name(of.variants[i]), std::to_string(one.images), by(survival::none),
             by(survival::all), by(survival::some), show_range(one.lost), show_range(one.misplaced),
             show_range(one.duplicated), show_range(one.truncated), show_range(one.changed),
             show_range(one.unopened), count_of(one.failed, one.images),
             count_of(one.fsck_complained, one.images)});
    }
    made.note =
        "messages an image, the least and the most; gone: no longer what and where they were, by "
        "what survived of the writes since the last flush; unopened: mailboxes; an image that is "
        "out of reach counts as gone and in no other column of messages";
    return made;
}

report::table worst_table(const audit_record& of, const audit_analysis& found) {
    report::table made{"power-cut-worst",
                       "Power cuts that took most",
                       report::numbers({"", "cut", "at", "draw", "seed", "survived", "acknowledged",
                                        "gone", "of the last", "what"}),
                       {}};
    made.columns.front().side = report::align::left;
    made.columns.back().side = report::align::left;
    for (const auto& [variant, image] : worst_cuts(of, found)) {
        made.rows.push_back({row_name(of.variants[variant]), std::to_string(image->cut),
                             fmt::format("{:.2f} s", image->at_s), std::to_string(image->draw),
                             std::to_string(image->seed),
                             fmt::format("{} of {}", image->survived, image->at_risk),
                             std::to_string(image->acknowledged), std::to_string(gone_of(*image)),
                             seconds_text(image->lost_window_s), what_it_was(*image)});
    }
    made.note = fmt::format(
        "at most {} cuts, each with its worst draw, without the control that has to lose; cut: "
        "entries of the log that had been written; survived: of the writes since the last flush",
        most_worst_cuts);
    return made;
}

report::table setting_table(const audit_record& of) {
    report::table made{"audit-settings", "How to repeat the audit", {{""}, {""}}, {}};
    const auto add = [&](std::string name, std::string value) {
        if (!value.empty()) made.rows.push_back({std::move(name), std::move(value)});
    };
    add("experiment", of.file);
    add("command", repeated_command(of.argv, of.seed));
    add("seed", std::to_string(of.seed));
    add("cuts", std::to_string(of.cuts));
    add("draws", fmt::format("{} of each cut at most", of.draws));
    add("torn", fmt::format("{} % of the writes that survive", of.torn_percent));
    add("messages", std::to_string(of.messages));
    add("host", fmt::format("{}, {}, {} processors, {}", of.host.name, of.host.kernel, of.host.cpus,
                            base::format_size(of.host.memory_bytes)));
    for (const auto& [name, value] : of.versions)
        add(name, value);
    for (const audited_variant& one : of.variants)
        add(one.name, one.mounted);
    add("started", of.started);
    add("ended", of.ended.empty() ? "not yet" : of.ended + ", " + of.end);
    return made;
}

namespace {

// More would hide one another: of those at one place the worst is drawn.
constexpr std::size_t most_places = 300;

// In the order of report::marks::kinds; the worst of a place is the highest.
enum class cut_mark : std::uint8_t { before_mail, held, complained, lost, out_of_reach };

cut_mark mark_of(const audited_variant& of, const cut_result& cut) {
    cut_mark worst = cut_mark::before_mail;
    for (std::size_t i = cut.first; i < cut.first + cut.images; ++i) {
        const audited_image& one = of.images[i];
        const bool complained = one.fsck_status != 0 || !one.fsck.empty();
        const cut_mark here = !one.failure.empty()   ? cut_mark::out_of_reach
                              : gone_of(one) > 0     ? cut_mark::lost
                              : complained           ? cut_mark::complained
                              : one.acknowledged > 0 ? cut_mark::held
                                                     : cut_mark::before_mail;
        worst = std::max(worst, here);
    }
    return worst;
}

std::string mark_text(const audited_variant& of, const cut_result& cut) {
    const audited_image& first = of.images[cut.first];
    std::string what = fmt::format("cut {} at {:.2f} s, {} acknowledged", first.cut, first.at_s,
                                   first.acknowledged);
    if (cut.worst) what += ": " + what_it_was(of.images[*cut.worst]);
    for (std::size_t i = cut.first; i < cut.first + cut.images; ++i)
        if (!of.images[i].fsck.empty())
            return what + "; fsck: " + base::printable(of.images[i].fsck, 120);
    return what;
}

report::marks_row marks_of(const audited_variant& of, const variant_result& found,
                           const std::vector<std::string>& kinds) {
    report::marks_row made{.name = row_name(of)};
    std::vector<std::size_t> counts(kinds.size(), 0);
    std::array<const cut_result*, most_places> worst{};
    std::array<cut_mark, most_places> drawn{};
    const double entries = static_cast<double>(std::max<std::uint64_t>(of.entries, 1));
    for (const cut_result& cut : found.cuts) {
        const cut_mark kind = mark_of(of, cut);
        ++counts[static_cast<std::size_t>(kind)];
        const double share = std::min(static_cast<double>(of.images[cut.first].cut) / entries, 1.0);
        const auto place = static_cast<std::size_t>(share * (most_places - 1));
        if (worst[place] != nullptr && drawn[place] >= kind) continue;
        worst[place] = &cut;
        drawn[place] = kind;
    }
    for (std::size_t place = 0; place < most_places; ++place)
        if (worst[place] != nullptr)
            made.each.push_back({static_cast<double>(place) / (most_places - 1),
                                 static_cast<std::size_t>(drawn[place]),
                                 mark_text(of, *worst[place])});
    std::vector<std::string> words;
    for (std::size_t kind = kinds.size(); kind-- > 0;)
        if (counts[kind] > 0) words.push_back(fmt::format("{} {}", counts[kind], kinds[kind]));
    made.counts = words.empty() ? "not audited" : base::join(words, " · ");
    return made;
}

}  // namespace

report::marks cut_marks(const audit_record& of, const audit_analysis& found) {
    report::marks made{
        .id = "power-cut-places",
        .title = "Where the power was cut, and what was left of the acknowledged mail",
        .caption =
            "A mark for each cut, from the first entry of a variant's log of writes on the "
            "left to its last on the right, by the worst draw of what survived. Where "
            "several are at one place the worst is drawn; the counts are of all.",
        .kinds = {"before any mail", "held", "held, fsck complained", "lost or damaged",
                  "out of reach"}};
    for (std::size_t i = 0; i < of.variants.size(); ++i)
        made.rows.push_back(marks_of(of.variants[i], found.variants[i], made.kinds));
    return made;
}

std::vector<report::table> tables(const audit_record& of, const audit_analysis& found) {
    std::vector<report::table> all{loss_table(of, found), draw_table(of, found),
                                   worst_table(of, found), setting_table(of)};
    std::erase_if(all, [](const report::table& one) { return one.rows.empty(); });
    return all;
}

report::document document_of(const audit_record& of, const audit_analysis& found,
                             report::medium wanted) {
    report::document made{of.title.empty() ? of.file : of.title};
    std::vector<report::remark> noted = remarks(of, found);
    std::vector<report::remark> late;
    if (wanted == report::medium::page) {
        // What could not be shown is no part of the result.
        for (report::remark& each : noted)
            each.late = each.kind == "note";
        const auto first_late = std::stable_partition(noted.begin(), noted.end(),
                                                      [](const auto& one) { return !one.late; });
        late.assign(std::move_iterator(first_late), std::move_iterator(noted.end()));
        noted.erase(first_late, noted.end());
        if (!found.counts()) made.add_remarks(std::exchange(noted, {}));
    }
    made.add(report::findings{.id = "power-cuts", .sentences = verdict_sentences(of, found)});
    made.add_remarks(std::move(noted));
    made.add(report::statement{describe(of)});
    if (wanted == report::medium::page) made.add(cut_marks(of, found));
    made.add_tables(tables(of, found));
    made.add_remarks(std::move(late));
    return made;
}

}  // namespace postal::audit
