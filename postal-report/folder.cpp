// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/folder.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "audit/record.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bundle/read_beneath.hpp"
#include "experiment/findings.hpp"
#include "experiment/verify.hpp"
#include "postal-report/experiment.hpp"
#include "postal-report/shown.hpp"

namespace postal::report {

namespace {

cli::exit_status show_results(const options& wanted) {
    const auto results = experiment::read_results(wanted.records.front());
    if (!results) return refuse(results.error(), cli::exit_status::bad_parameters);
    const experiment::analysis found = experiment::analyse(*results);
    const auto audited = find_audit(wanted.records.front());
    if (!audited) return refuse(audited.error(), cli::exit_status::bad_parameters);
    return show(wanted, {[&](medium kind) { return document_of(*results, found, *audited, kind); },
                         [&] { return sheet_of(*results); }});
}

// A folder that postal-audit alone has written to.
cli::exit_status show_audit(const options& wanted) {
    const auto read = find_audit(wanted.records.front());
    if (!read) return refuse(read.error(), cli::exit_status::bad_parameters);
    return show(wanted, {[&](medium kind) { return document_of(**read, kind); },
                         [&] { return sheet_of(**read); }});
}

constexpr std::string_view packed_as = "results/";
constexpr const char* experiment_name = "experiment.json";
constexpr const char* journal_name = "journal.jsonl";
constexpr std::size_t most_seen = 100000;  // files of a folder
constexpr std::size_t most_kinds = 50;     // of them

void remark(packed_files& to, const std::string& name, const std::string& what,
            std::size_t removed) {
    to.remarks.push_back(
        fmt::format("{}: {}; {} of secrets left out by {}", name, what,
                    removed == 0 ? "no values" : base::format_amount(removed, "value"),
                    removed == 1 ? "its name" : "their names"));
}

base::expected<std::string> read_of(const std::string& folder, const std::string& name) {
    return bundle::read_beneath(folder, name, experiment::largest_record);
}

// Nothing where it is not there, or a link.
base::expected<std::optional<std::string>> read_if_there(const std::string& folder,
                                                         const std::string& name) {
    return bundle::read_if_beneath(folder, name, experiment::largest_record);
}

// A run's file is what its digest in the experiment's record says, or it is nothing.
base::expected<void> pack_run_file(const std::string& folder, const std::string& path,
                                   packed_files& to) {
    const std::string name = std::string(packed_as) + path;
    const auto text = read_if_there(folder, path);
    if (!text) return text.error();
    if (!*text) {
        to.left_out.push_back(
            {base::printable(name, 300), "the record names it, and it is not there, or a link"});
        return {};
    }
    const auto removed = to.add_json(name, **text);
    if (!removed) return removed.error();
    if (*removed > 0)
        return base::fail(
            "{}: has what is named as a secret, and its digest stands in the "
            "experiment's record: run it again without that",
            base::printable(name, 300));
    return {};
}

base::expected<void> pack_runs(const std::string& folder, packed_files& to) {
    auto text = read_of(folder, experiment_name);
    if (!text) return text.error();
    const auto record = experiment::parse_experiment_record(*text);
    if (!record) return base::at(base::printable(folder, 300), record.error());
    const std::string name = std::string(packed_as) + experiment_name;
    const auto removed = to.add_json(name, *text);
    if (!removed) return removed.error();
    remark(to, name, "has the experiment's file and command lines", *removed);
    std::set<std::string> paths;
    for (const experiment::recorded_run& run : record->runs) {
        for (const experiment::kept_file& one : run.loads)
            paths.insert(one.path);
        if (run.costs) paths.insert(run.costs->path);
        if (run.announced) paths.insert(run.announced->path);
    }
    for (const std::string& path : paths)
        if (const auto packed = pack_run_file(folder, path, to); !packed) return packed.error();
    return {};
}

base::expected<void> pack_audit(const std::string& folder, packed_files& to) {
    auto text = read_of(folder, audit::audit_name);
    if (!text) return text.error();
    const auto record = audit::parse_audit_record(*text);
    if (!record) return base::at(base::printable(folder, 300), record.error());
    const std::string name = std::string(packed_as) + audit::audit_name;
    const auto removed = to.add_json(name, *text);
    if (!removed) return removed.error();
    remark(to, name, "has the experiment's file, command lines and addresses of lost mail",
           *removed);
    return {};
}

base::expected<void> pack_journal(const std::string& folder, packed_files& to) {
    const auto text = read_if_there(folder, journal_name);
    if (!text) return text.error();
    if (!*text) return {};
    const std::string name = std::string(packed_as) + journal_name;
    packed_files lines;
    std::string all;
    std::size_t removed = 0;
    std::size_t broken = 0;
    // The last line may not be whole.
    for (const std::string_view line : base::split(**text, '\n')) {
        if (line.empty()) continue;
        const auto found = lines.add_json("line", line);
        if (!found) {
            ++broken;
            continue;
        }
        removed += *found;
        // What was written anew is on several lines.
        std::string kept = lines.all["line"];
        std::erase(kept, '\n');
        all += kept + "\n";
    }
    to.all[name] = std::move(all);
    remark(to, name, "has the commands that undid what runs did", removed);
    if (broken > 0)
        to.left_out.push_back({fmt::format("{} of {}", base::format_amount(broken, "line"), name),
                               "cannot be read, so that nobody knows what is in them"});
    return {};
}

void take(experiment::verification&& from, recomputed& to) {
    to.found = std::move(from.found);
    to.differs = std::move(from.differs);
    std::move(from.noted.begin(), from.noted.end(), std::back_inserter(to.noted));
    to.held = from.held;
}

// What a folder has beside its records.
class others_of_folder {
  public:
    others_of_folder(const std::string& folder, const bundle::files& packed)
        : folder_(folder), packed_(packed) {}

    // As deep as it goes, whatever the order in which the system names it.
    void look() {
        std::vector<std::filesystem::path> open{folder_};
        while (!open.empty() && seen_ <= most_seen) {
            const std::filesystem::path at = std::move(open.back());
            open.pop_back();
            look_at(at, open);
        }
    }
    // By their names, however many folders have such a file.
    void name(std::vector<bundle::left_out_file>& to) const {
        const char* const why =
            "is no record: settings, keys, users' lists and logs of programs may hold anything";
        if (seen_ > most_seen) {
            to.push_back({fmt::format("of more than {}", base::format_amount(most_seen, "file")),
                          std::string("what ") + why});
            return;
        }
        std::size_t closed = 0;
        for (const auto& [name, problem] : closed_)
            if (++closed <= most_kinds)
                to.push_back({name, "what is there is not known: " + problem});
        if (closed > most_kinds)
            to.push_back({base::format_amount(closed - most_kinds, "more name"),
                          "what is there is not known"});
        std::size_t named = 0;
        for (const auto& [name, count] : kinds_) {
            if (++named > most_kinds) break;
            to.push_back({fmt::format("{} ({})", name, base::format_amount(count, "file")), why});
        }
        if (kinds_.size() > most_kinds)
            to.push_back({fmt::format("{} more kinds of files", kinds_.size() - most_kinds),
                          "are no records"});
    }

  private:
    [[nodiscard]] std::string name_of(const std::filesystem::path& path) const {
        return std::string(packed_as) + path.lexically_relative(folder_).string();
    }
    void look_at(const std::filesystem::path& folder, std::vector<std::filesystem::path>& open) {
        std::error_code problem;
        std::filesystem::directory_iterator at(folder, problem);
        for (const std::filesystem::directory_iterator end;
             !problem && at != end && seen_ <= most_seen; at.increment(problem)) {
            ++seen_;
            std::error_code unknown;
            const auto is = at->symlink_status(unknown);
            if (unknown)
                add_closed(at->path(), unknown);
            else if (std::filesystem::is_directory(is))
                open.push_back(at->path());
            else if (!packed_.contains(name_of(at->path())))
                ++kinds_[base::printable(at->path().filename().string(), 100)];
        }
        if (problem) add_closed(folder, problem);
    }
    void add_closed(const std::filesystem::path& what, const std::error_code& why) {
        closed_[base::printable(name_of(what), 300)] = why.message();
    }

    std::filesystem::path folder_;
    const bundle::files& packed_;
    std::map<std::string, std::size_t> kinds_;
    std::map<std::string, std::string> closed_;  // what could not be looked at, and why
    std::size_t seen_ = 0;
};

}  // namespace

base::expected<packed_files> pack_experiment(const std::string& path) {
    packed_files to;
    if (experiment::is_results_folder(path))
        if (const auto packed = pack_runs(path, to); !packed) return packed.error();
    if (audit::is_audited_folder(path))
        if (const auto packed = pack_audit(path, to); !packed) return packed.error();
    if (const auto packed = pack_journal(path, to); !packed) return packed.error();
    others_of_folder others(path, to.all);
    others.look();
    others.name(to.left_out);
    return {boost::system::in_place_value, std::move(to)};
}

base::expected<recomputed> results_printed(const bundle::files& all) {
    recomputed to;
    for (const std::string_view name :
         {std::string_view(experiment_name), std::string_view(audit::audit_name)})
        to.used.insert(std::string(packed_as) + std::string(name));
    const std::string journal = std::string(packed_as) + journal_name;
    if (all.contains(journal)) {
        to.used.insert(journal);
        to.noted.push_back(journal + ": nothing is computed from it, so that it is not checked");
    }
    std::optional<shown_audit> audited;
    const auto found = all.find(std::string(packed_as) + audit::audit_name);
    if (found != all.end()) {
        auto record = audit::parse_audit_record(found->second);
        if (!record) return base::at(found->first, record.error());
        auto analysis = analyse(*record);
        audited = shown_audit{std::move(*record), std::move(analysis)};
    }
    const std::string folder(packed_as.substr(0, packed_as.size() - 1));
    const experiment::file_source from = [&](const std::string& path,
                                             std::uint64_t most) -> base::expected<std::string> {
        const auto one = all.find(path);
        if (one == all.end()) return base::fail("{}: No such file", path);
        if (one->second.size() > most) return base::fail("{}: is too large", path);
        return {boost::system::in_place_value, one->second};
    };
    if (!all.contains(folder + "/" + experiment_name)) {
        if (!audited) return base::fail("{}: has no record of an experiment", folder);
        to.add("printed/audit", document_of(*audited, medium::text), sheet_of(*audited));
        return to;
    }
    const auto results = experiment::read_results(folder, from);
    if (!results) return results.error();
    const experiment::analysis said = experiment::analyse(*results);
    to.add("printed/results", document_of(*results, said, audited, medium::text),
           sheet_of(*results));
    if (audited) to.add("printed/audit", document_of(*audited, medium::text), sheet_of(*audited));
    auto checked = experiment::verify(folder, from);
    if (!checked) return checked.error();
    for (const std::string& one : checked->named)
        to.used.insert(folder + "/" + one);
    take(std::move(*checked), to);
    return to;
}

base::expected<recomputed> verify_experiment(const std::string& path) {
    recomputed to;
    if (experiment::is_results_folder(path)) {
        auto checked = experiment::verify(path);
        if (!checked) return checked.error();
        to.printed["results.txt"] = render_text(checked->shown);
        take(std::move(*checked), to);
    }
    const auto audited = find_audit(path);
    if (!audited) return audited.error();
    if (*audited) {
        to.printed["audit.txt"] = render_text(document_of(**audited, medium::text));
        (experiment::is_results_folder(path) ? to.noted : to.unchecked)
            .emplace_back(
                "audit.json has no digests of its own: what it says of its disks was "
                "computed anew from its counts, and these from nothing");
    }
    return to;
}

bool is_experiment(const std::string& path) {
    return experiment::is_results_folder(path) || audit::is_audited_folder(path);
}

cli::exit_status show_experiment(const options& wanted) {
    return experiment::is_results_folder(wanted.records.front()) ? show_results(wanted)
                                                                 : show_audit(wanted);
}

}  // namespace postal::report
