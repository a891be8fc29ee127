// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/results.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "experiment/run_values.hpp"
#include "experiment/void_runs.hpp"

namespace postal::experiment {
namespace {

constexpr std::string_view record_name = "experiment.json";

struct opened_folder {
    const std::string& name;
    const file_source& read;

    // Of files that somebody else has sent, each may want all the memory that a record may have.
    [[nodiscard]] std::size_t readers() const {
        constexpr std::size_t of_others = 2;
        const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
        return &read == &from_disk() ? processors : std::min(processors, of_others);
    }
};

// Where a file is what the record says it is, its text.
std::optional<std::string> checked_text(const opened_folder& folder, const kept_file& file,
                                        std::uint64_t largest, std::vector<std::string>& damaged) {
    const std::string path = folder.name + "/" + file.path;
    auto text = folder.read(path, largest);
    if (!text) {
        damaged.push_back(text.error().message);
        return std::nullopt;
    }
    if (sha256_of(*text) != file.sha256) damaged.push_back(path + ": is not what the run wrote");
    return std::move(*text);
}

struct read_files {
    measured_run run{};
    std::vector<std::string> damaged{};
};

read_files files_of(const recorded_run& run, const opened_folder& folder,
                    const experiment_record& of) {
    read_files to;
    std::vector<stats::run_record> records;
    kept_beside beside;
    // `file` as what `parse` makes of it.
    const auto read = [&](const kept_file& file, auto parse, auto keep,
                          std::uint64_t largest = largest_record) {
        const auto text = checked_text(folder, file, largest, to.damaged);
        if (!text) return;
        auto parsed = parse(*text);
        if (parsed)
            keep(std::move(*parsed));
        else
            to.damaged.push_back(folder.name + "/" + file.path + ": " + parsed.error().message);
    };
    // By program, whatever the order of the files.
    for (const std::string& program : of.programs) {
        const auto found = std::find_if(run.loads.begin(), run.loads.end(),
                                        [&](const kept_file& one) { return one.name == program; });
        if (found == run.loads.end()) continue;
        read(
            *found, [](const std::string& text) { return stats::parse_record(text); },
            [&](stats::run_record one) { records.push_back(std::move(one)); });
    }
    if (run.costs)
        read(
            *run.costs, [](const std::string& text) { return from_json(text); },
            [&](cost_log one) { beside.log = std::move(one); });
    if (run.announced)
        read(
            *run.announced, [](const std::string& text) { return announced_from_json(text); },
            [&](announced_account one) { beside.announced = std::move(one); },
            largest_announced_file);
    to.run = result_of(run, std::move(records), std::move(beside), of);
    return to;
}

// Reading is the longest part of a report by far, so every processor takes runs.
std::vector<read_files> read_runs(const std::vector<recorded_run>& runs,
                                  const opened_folder& folder, const experiment_record& of) {
    std::vector<read_files> all(runs.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t at = next++; at < runs.size(); at = next++)
            all[at] = files_of(runs[at], folder, of);
    };
    std::vector<std::future<void>> others;
    while (others.size() + 1 < std::min(folder.readers(), runs.size()))
        others.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& one : others)
        one.get();
    return all;
}

// The runs that count: of those of one block and variant the last one that is complete or failed.
std::vector<recorded_run> counted_runs(const std::vector<recorded_run>& all) {
    std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> last;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].end != run_end::interrupted) last[{all[i].at.block, all[i].at.variant}] = i;
    std::vector<std::size_t> chosen;
    for (const auto& [where, index] : last)
        chosen.push_back(index);
    std::sort(chosen.begin(), chosen.end());
    std::vector<recorded_run> runs;
    for (const std::size_t index : chosen)
        runs.push_back(all[index]);
    return runs;
}

// A file that is named by thousands would be read thousands of times.
void leave_out_shared(std::vector<recorded_run>& runs, results& into) {
    std::map<std::string, std::size_t, std::less<>> named;
    std::size_t at = 0;
    const auto is_taken = [&](const kept_file& file) {
        if (named.try_emplace(file.path, at).first->second == at) return false;
        into.damaged.push_back(into.folder + "/" + file.path + ": is named by two runs");
        return true;
    };
    for (recorded_run& one : runs) {
        std::erase_if(one.loads, is_taken);
        if (one.costs && is_taken(*one.costs)) one.costs.reset();
        if (one.announced && is_taken(*one.announced)) one.announced.reset();
        ++at;
    }
}

}  // namespace

const file_source& from_disk() {
    static const file_source read = [](const std::string& path, std::uint64_t most) {
        return base::read_regular_file(path, most);
    };
    return read;
}

bool is_results_folder(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(path) / record_name, ignored);
}

measured_run result_of(const recorded_run& run, std::vector<stats::run_record> records,
                       kept_beside beside, const experiment_record& of) {
    measured_run to{.run = run};
    if (run.end == run_end::complete && records.size() == of.programs.size()) {
        to.records = std::move(records);
        for (const stats::run_record& one : to.records)
            to.loads.push_back(values_of(one, of));
        share_run(to, beside);
    }
    to.announced = std::move(beside.announced);
    to.log = std::move(beside.log);
    const bool untold_counts = to.announced && asks_who_was_told(of);
    to.voids = why_void(to, untold_counts, of);
    if (untold_counts) to.untold = why_untold(to, of);
    if (to.voids.empty() && to.records.empty())
        to.voids = "its records are missing or cannot be read";
    return to;
}

measured_run read_run(const recorded_run& run, results& into) {
    read_files read = files_of(run, {into.folder, from_disk()}, into.record);
    std::move(read.damaged.begin(), read.damaged.end(), std::back_inserter(into.damaged));
    return std::move(read.run);
}

base::expected<results> read_results(const std::string& folder) {
    return read_results(folder, from_disk());
}

base::expected<results> read_results(const std::string& folder, const file_source& from) {
    results to{.folder = folder};
    const std::string path = folder + "/" + std::string(record_name);
    const auto text = from(path, largest_record);
    if (!text) return text.error();
    auto record = parse_experiment_record(*text);
    if (!record) return base::at(base::printable(path, 300), record.error());
    to.record = std::move(*record);
    auto runs = counted_runs(to.record.runs);
    leave_out_shared(runs, to);
    for (read_files& one : read_runs(runs, {folder, from}, to.record)) {
        to.runs.push_back(std::move(one.run));
        std::move(one.damaged.begin(), one.damaged.end(), std::back_inserter(to.damaged));
    }
    return {boost::system::in_place_value, std::move(to)};
}

}  // namespace postal::experiment
