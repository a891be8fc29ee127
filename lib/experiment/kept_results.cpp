// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/kept_results.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace postal::experiment {
namespace {

namespace fs = std::filesystem;

constexpr double same_memory = 0.05;  // as a share: kernels keep more or less of it

// What is different; empty: nothing that matters.
std::string other_machine(const base::host_info& was, const base::host_info& is) {
    const auto differs = [](std::string_view what, std::string_view then, std::string_view now) {
        return fmt::format("was measured {} {}, and here is {}", what, base::printable(then, 100),
                           base::printable(now, 100));
    };
    if (was.cpus != is.cpus)
        return differs("on", base::format_amount(was.cpus, "processor"), std::to_string(is.cpus));
    if (was.processor != is.processor)
        return differs("on a processor", was.processor.empty() ? "without a name" : was.processor,
                       is.processor.empty() ? "one without a name" : is.processor);
    const auto octets = [](const base::host_info& of) {
        return static_cast<double>(of.memory_bytes);
    };
    if (std::abs(octets(was) - octets(is)) > same_memory * octets(is))
        return differs("with a memory of", base::format_size(was.memory_bytes),
                       base::format_size(is.memory_bytes));
    if (was.kernel != is.kernel) return differs("under", was.kernel, is.kernel);
    return {};
}

std::string other_experiment(const experiment_record& was, const experiment_record& is) {
    if (was.text != is.text) return "is of another experiment";
    if (was.duration_s != is.duration_s || was.warmup_s != is.warmup_s)
        return fmt::format(
            "has runs of {:g} s of which {:g} s are left out, and here they are {:g} "
            "and {:g} s",
            was.duration_s, was.warmup_s, is.duration_s, is.warmup_s);
    return {};
}

// Why its values say nothing; empty: they do.
std::string why_left_out(const results& of, const analysis& found) {
    if (!is_whole(of.record)) return "it did not come to its end";
    if (!of.damaged.empty()) return of.damaged.front();
    if (found.verdict().compared.voided) return "variants that are the same were told apart";
    if (!any_block_counts(found)) return "no block of it counts";
    const bool missed = std::ranges::any_of(found.gates, [](const gate_finding& one) {
        return one.result.verdict == stats::gate_verdict::missed;
    });
    return missed ? "it missed a gate" : "";
}

// Of the variants of that name; those of an experiment with other variants are not known.
std::vector<std::optional<double>> values_by_variant(const metric_result* from,
                                                     const experiment_record& of,
                                                     const experiment_record& now) {
    std::vector<std::optional<double>> values(now.variants.size());
    for (std::size_t i = 0; from != nullptr && i < now.variants.size(); ++i) {
        const auto same =
            std::ranges::find(of.variants, now.variants[i].name, &recorded_variant::name);
        if (same != of.variants.end())
            values[i] = from->typical[static_cast<std::size_t>(same - of.variants.begin())];
    }
    return values;
}

// Out of the values, for JSON has no number for it.
std::vector<std::uint64_t> take_never(std::vector<std::optional<double>>& values) {
    std::vector<std::uint64_t> which;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_never(values[i])) continue;
        which.push_back(i);
        values[i].reset();
    }
    return which;
}

base::expected<std::vector<std::string>> folders_in(const std::string& folder,
                                                    const std::string& own) {
    std::vector<std::string> found;
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
         at.increment(problem)) {
        std::error_code ignored;
        const std::string path = at->path().string();
        if (is_results_folder(path) && !fs::equivalent(path, own, ignored)) found.push_back(path);
    }
    if (problem)
        return base::fail("{}: {}", base::printable(folder, 300),
                          base::system_message(problem.value()));
    std::ranges::sort(found);
    return {boost::system::in_place_value, std::move(found)};
}

}  // namespace

base::expected<kept_results> read_kept(const std::string& folder, const experiment_record& now,
                                       const std::string& own) {
    const auto folders = folders_in(folder, own);
    if (!folders) return folders.error();
    kept_results made;
    for (const std::string& path : *folders) {
        const std::string shown = base::printable(path, 300);
        const auto read = read_results(path);
        if (!read) {
            made.left_out.push_back(fmt::format("{} is left out: {}", shown, read.error().message));
            continue;
        }
        std::string differs = other_experiment(read->record, now);
        if (differs.empty()) differs = other_machine(read->record.host, now.host);
        if (!differs.empty())
            return base::fail("{} {}; keep results of each in a folder of its own", shown, differs);
        const analysis found = analyse(*read);
        if (const std::string why = why_left_out(*read, found); !why.empty()) {
            made.left_out.push_back(fmt::format("{} is left out: {}", shown, why));
            continue;
        }
        kept_result& one = made.kept.emplace_back();
        one.folder = path;
        one.started = read->record.started;
        for (const std::string& gate : now.gates) {
            const auto asked = parse_gate(gate);
            const metric_result* const from =
                asked ? metric_of(*asked, read->record, found) : nullptr;
            auto values = values_by_variant(from, read->record, now);
            one.never.push_back(take_never(values));
            one.values.push_back(std::move(values));
        }
    }
    for (kept_result& one : made.kept)
        if (std::ranges::all_of(one.never, [](const auto& each) { return each.empty(); }))
            one.never.clear();
    std::ranges::stable_sort(made.kept, {}, &kept_result::started);
    if (made.kept.size() > most_kept)
        made.kept.erase(made.kept.begin(),
                        made.kept.end() - static_cast<std::ptrdiff_t>(most_kept));
    return {boost::system::in_place_value, std::move(made)};
}

}  // namespace postal::experiment
