// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/experiment.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/toml.hpp"
#include "experiment/capacity.hpp"
#include "experiment/section.hpp"
#include "experiment/templates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace postal::experiment {

const std::vector<std::string> built_in_variables{"experiment", "out",     "run",  "mount",
                                                  "device",     "variant", "block"};

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t largest_file = 1 << 20;

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        const char lower = base::ascii_lower(c);
        return (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '-' || c == '_';
    });
}

void read_storage(section of, storage& into) {
    into.wanted = true;
    into.line = of.line();
    of.read("device", into.device);
    of.read("size", into.size);
    of.read("directory", into.directory);
    read_command(of, "make", into.make);
    of.read("type", into.type);
    of.read("options", into.options);
    of.read("mount", into.mount);
    of.read("drop_caches", into.drop_caches);
    of.end();
}

void read_server(section of, server& into) {
    into.line = of.line();
    read_commands(of, "prepare", into.prepare);
    read_commands(of, "start", into.start);
    read_commands(of, "stop", into.stop);
    read_command(of, "version", into.version);
    of.read("ready", into.ready);
    of.read("pid_files", into.pid_files);
    of.read("start_limit", into.start_limit);
    of.read("stop_limit", into.stop_limit);
    of.end();
}

// The names under which an experiment's own options stand among a load's words.
constexpr std::array<std::string_view, 5> decided_here{"--duration", "--warmup", "--record",
                                                       "--seed", "--interval"};
constexpr std::chrono::nanoseconds longest_linger = 1h;

void read_program(section of, load& into) {
    load_program one;
    read_command(of, "argv", one.run);
    if (one.run.words.empty()) return of.refuse("argv", "is missing: the program and its options");
    if (one.run.words[0] != "postal" && one.run.words[0] != "rabid")
        of.refuse("argv", fmt::format("\"{}\" is neither postal nor rabid",
                                      base::printable(one.run.words[0], 60)));
    for (const std::string& word : one.run.words) {
        const std::string_view name = std::string_view(word).substr(0, word.find('='));
        if (std::find(decided_here.begin(), decided_here.end(), name) != decided_here.end())
            of.refuse("argv", fmt::format("{} is decided by the experiment", name));
        if (into.ledger && name == "--ledger")
            of.refuse("argv", "--ledger is decided by [load], which has ledger = true");
        const std::string why = refusal_of(name, into.search.has_value());
        if (!why.empty()) of.refuse("argv", why);
    }
    read_command(of, "launcher", one.launcher);
    if (into.search && !one.launcher.words.empty())
        of.refuse("launcher", "one process searches, as [capacity] asks for");
    one.name = one.run.words[0];
    of.read("name", one.name);
    if (!is_name(one.name))
        of.refuse("name", fmt::format("\"{}\" is no name; want letters, digits, - and _",
                                      base::printable(one.name, 40)));
    for (const load_program& other : into.programs) {
        if (other.name == one.name)
            of.refuse("name", fmt::format("two programs are called {}", one.name));
    }
    of.end();
    into.programs.push_back(std::move(one));
}

void check_ledger(section& of, const load& from) {
    const bool sends = std::ranges::any_of(
        from.programs, [](const load_program& one) { return one.run.words.front() == "postal"; });
    if (from.ledger && from.search)
        of.refuse("ledger", "is for runs at one rate, and a search has many");
    else if (from.ledger && !(sends && std::ranges::any_of(from.programs, is_watching)))
        of.refuse("ledger", "wants a program of postal that sends, and one of rabid with --watch");
    if (!from.ledger && of.has("linger"))
        of.refuse("linger", "means nothing without ledger = true");
    if (from.linger < 0ns || from.linger > longest_linger) of.refuse("linger", "want 0s to 1h");
}

void read_load(section of, load& into) {
    of.read("ledger", into.ledger);
    of.read("linger", into.linger);
    of.read("duration", into.duration);
    of.read("warmup", into.warmup);
    of.read("blocks", into.blocks);
    std::uint64_t seed = 0;
    constexpr std::uint64_t none = ~std::uint64_t{0};
    of.read("seed", seed = none);
    if (seed != none) into.seed = seed;
    of.tables("program", [&](section each) { read_program(std::move(each), into); });
    of.end();
    if (into.programs.empty())
        of.refuse("program", "is missing: write [[load.program]]");
    else
        check_ledger(of, into);
    if (into.search && into.warmup > 0ns)
        of.refuse("warmup", "a search has none, for each of its trials settles first");
    else if (into.warmup >= into.duration)
        of.refuse("warmup", "is no shorter than the duration, of which it is a part");
    if (into.blocks == 0 || into.blocks > stats::most_blocks)
        of.refuse("blocks", fmt::format("want 1 to {}", stats::most_blocks));
}

void read_verdict(section of, experiment& into) {
    std::string about(name_of(into.verdict.about));
    of.read("metric", about);
    const auto found = std::find(metric_names.begin(), metric_names.end(), about);
    if (found == metric_names.end()) {
        of.refuse("metric", fmt::format("\"{}\" is no metric; there are {}",
                                        base::printable(about, 40), fmt::join(metric_names, ", ")));
    } else {
        into.verdict.about = static_cast<metric>(found - metric_names.begin());
    }
    const bool is_found = into.verdict.about == metric::capacity;
    if (is_found && !into.offered.search)
        of.refuse("metric", "capacity is found by a search; write [capacity]");
    if (!is_found && into.offered.search)
        of.refuse("metric", "a search, which [capacity] asks for, is judged by capacity alone");
    std::string program;
    of.read("program", program);
    const auto& all = into.offered.programs;
    const auto named = std::find_if(all.begin(), all.end(),
                                    [&](const load_program& one) { return one.name == program; });
    if (!program.empty() && named == all.end())
        of.refuse("program", fmt::format("no [[load.program]] is called \"{}\"",
                                         base::printable(program, 40)));
    if (!program.empty() && named != all.end())
        into.verdict.program = static_cast<std::size_t>(named - all.begin());
    if (const auto& search = into.offered.search;
        search && into.verdict.program != search->program && !all.empty())
        of.refuse("program",
                  fmt::format("the capacity is {}'s, which searches", all[search->program].name));
    of.read("size", into.verdict.size);
    of.read_share("margin", into.verdict.margin);
    of.read_share("confidence", into.verdict.confidence);
    of.read_share("max_errors", into.verdict.max_errors);
    if (into.verdict.confidence < least_confidence || into.verdict.confidence > most_confidence)
        of.refuse("confidence", "want 50% to 99.99%");
    if (into.verdict.margin <= 0 || into.verdict.margin > 0.5)
        of.refuse("margin", "want more than 0% and at most 50%");
    of.end();
}

void check_audit(const section& of, const audit& from) {
    const auto wants = [&](std::string_view key, std::uint64_t value, std::uint64_t least,
                           std::uint64_t most) {
        if (value < least || value > most)
            of.problems().add(of.line_of(key), fmt::format("{}: want {} to {}", key, least, most));
    };
    wants("messages", from.messages, 1, 10'000'000);
    wants("cuts", from.cuts, 1, 100'000);
    wants("draws", from.draws, 1, 1000);
    const auto is = [](const command& one, std::string_view program) {
        return one.words.empty() || one.words.front() == program;
    };
    const auto refuse = [&](std::string_view key, std::string_view why) {
        of.problems().add(of.line_of(key), fmt::format("{}: {}", key, why));
    };
    for (const command& one : from.read)
        if (!is(one, "rabid")) refuse("read", "each command is rabid with its options");
    if (!is(from.drain, "bhm")) refuse("drain", "the command is bhm with its options");
    if (from.read.empty() && from.maildirs.empty() && from.drain.words.empty())
        refuse("read",
               "is missing, and so are maildirs and drain: what finds the mail after a cut");
    if (from.drain.words.empty() != from.drained.words.empty())
        refuse("drain",
               "needs drained, the command that says when nothing is left, and the reverse");
}

void read_audit(section of, audit& into) {
    into.wanted = true;
    into.line = of.line();
    of.read("messages", into.messages);
    of.read("cuts", into.cuts);
    of.read("draws", into.draws);
    of.read_share("torn", into.torn);
    of.read("size", into.size);
    of.read("maildirs", into.maildirs);
    of.read("limit", into.limit);
    of.read("stall_limit", into.stall_limit);
    read_commands(of, "recover", into.recover);
    read_commands(of, "read", into.read);
    read_command(of, "drain", into.drain);
    read_commands(of, "after_start", into.after_start);
    read_command(of, "drained", into.drained);
    read_command(of, "check", into.check);
    check_audit(of, into);
    of.end();
}

void read_file_entry(section of, experiment& into) {
    written_file one;
    one.line = of.line();
    of.read("path", one.path);
    of.read("text", one.text);
    if (one.path.empty()) of.refuse("path", "is missing");
    of.end();
    into.files.push_back(std::move(one));
}

void read_variant(section of, const variant& common, experiment& into) {
    variant one = common;
    one.line = of.line();
    of.read("name", one.name);
    if (base::trim(one.name).empty() || one.name.size() > 100)
        of.refuse("name", "want a name of 1 to 100 octets");
    std::string twin;
    of.read("same_as", twin);
    for (std::size_t i = 0; i < into.variants.size(); ++i) {
        if (into.variants[i].name == one.name)
            of.refuse("name", fmt::format("the variant in line {} is called \"{}\", too",
                                          into.variants[i].line, base::printable(one.name, 100)));
        if (!twin.empty() && into.variants[i].name == twin) one.same_as = i;
    }
    if (!twin.empty() && !one.same_as)
        of.refuse("same_as",
                  fmt::format("no variant above is called \"{}\"", base::printable(twin, 100)));
    const bool second = std::any_of(into.variants.begin(), into.variants.end(),
                                    [](const variant& other) { return other.same_as.has_value(); });
    if (one.same_as && second) of.refuse("same_as", "there is an A/A pair already; one tells");
    // A twin is what it is compared with, in all but its name.
    if (one.same_as) {
        const std::string name = one.name;
        const auto index = one.same_as;
        one = into.variants[*one.same_as];
        one.name = name;
        one.same_as = index;
        one.line = of.line();
    }
    const auto not_of_twins = [&](std::string_view key) {
        if (one.same_as && of.line_of(key) != of.line())
            of.refuse(key, "same_as takes everything from the other variant");
    };
    for (const std::string_view key : {"variables", "storage", "server", "setup", "teardown"})
        not_of_twins(key);
    of.table("variables", [&](section values) {
        variables own;
        read_values(values, own);
        for (auto& [name, value] : own) {
            if (!one.values.contains(name))
                values.refuse(
                    name, "is none of the experiment's variables; give it a value in [variables]");
            one.values[name] = std::move(value);
        }
    });
    of.table("storage", [&](section on) { read_storage(std::move(on), one.on); });
    of.table("server", [&](section own) { read_server(std::move(own), one.of); });
    read_commands(of, "setup", one.setup);
    read_commands(of, "teardown", one.teardown);
    of.end();
    if (into.variants.size() == most_variants)
        of.refuse("name", fmt::format("more than {} variants", most_variants));
    else
        into.variants.push_back(std::move(one));
}

void read_variables(section of, variables& into) {
    read_values(of, into);
    for (const auto& [name, value] : into) {
        if (!is_name(name)) of.refuse(name, "is no name; want letters, digits, - and _");
        for (const std::string& taken : built_in_variables) {
            if (name == taken) of.refuse(name, "is given by the program itself");
        }
    }
}

// A number for each variant, and more than one of them.
void check_size(const section& top, const experiment& whole) {
    const std::string& size = whole.verdict.size;
    if (size.empty()) return;
    std::vector<double> seen;
    for (const variant& each : whole.variants) {
        const auto known = each.values.find(size);
        const auto number = known == each.values.end()
                                ? std::nullopt
                                : size_of_variable(base::join(known->second, " "));
        if (!number)
            return top.problems().add(
                each.line,
                fmt::format("[verdict] size is \"{}\", and that of {} is no number from 1 on; "
                            "give one in its variables",
                            base::printable(size, 40), base::printable(each.name, 40)));
        if (std::find(seen.begin(), seen.end(), *number) == seen.end()) seen.push_back(*number);
    }
    if (seen.size() < 2)
        top.problems().add(whole.variants.front().line,
                           "[verdict] size is the same in all variants; give at least two");
}

void read_experiment(section top, const overrides& set, experiment& into) {
    variant common;
    top.read("title", into.title);
    top.read("about", into.about);
    top.read("command_limit", into.command_limit);
    if (top.has("capacity")) {
        expect_search(into.offered);
        into.verdict.about = metric::capacity;
    }
    top.table("load", [&](section of) { read_load(std::move(of), into.offered); });
    top.table("capacity", [&](section of) { read_capacity(std::move(of), into.offered); });
    if (into.offered.search) into.verdict.program = into.offered.search->program;
    top.table("verdict", [&](section of) { read_verdict(std::move(of), into); });
    top.table("variables", [&](section of) { read_variables(std::move(of), common.values); });
    for (const auto& [name, value] : set) {
        if (const auto known = common.values.find(name); known != common.values.end())
            known->second = {value};
    }
    top.table("storage", [&](section of) { read_storage(std::move(of), common.on); });
    top.table("server", [&](section of) { read_server(std::move(of), common.of); });
    top.table("costs", [&](section of) {
        into.costs.line = of.line();
        of.read("devices", into.costs.devices);
        read_command(of, "remote", into.costs.remote);
        of.end();
    });
    top.table("audit", [&](section of) { read_audit(std::move(of), into.audited); });
    top.tables("file", [&](section of) { read_file_entry(std::move(of), into); });
    top.tables("variant", [&](section of) { read_variant(std::move(of), common, into); });
    top.end();
    if (into.offered.programs.empty()) top.refuse("load", "is missing: what is measured with");
    if (into.variants.empty()) top.refuse("variant", "is missing: what is compared");
    check_size(top, into);
}

}  // namespace

bool is_watching(const load_program& one) {
    const auto& words = one.run.words;
    return !words.empty() && words.front() == "rabid" &&
           std::ranges::any_of(words, [](const std::string& word) {
               return word == "--watch" || word.starts_with("--watch=");
           });
}

std::optional<double> size_of_variable(std::string_view text) noexcept {
    const auto number = base::parse_count(text);
    if (!number || *number == 0) return std::nullopt;
    return static_cast<double>(*number);
}

base::expected<experiment> parse_experiment(std::string_view text, const std::string& name,
                                            const overrides& set) {
    const auto table = cli::parse_toml(text, name);
    if (!table) return table.error();
    experiment whole;
    whole.file = name;
    whole.text = text;
    complaint problems{.file = name};
    read_experiment(section(*table, "an experiment", problems), set, whole);
    if (problems.first.empty()) check_templates(whole, problems);
    if (!problems.first.empty()) return base::failure{problems.first};
    for (const auto& [variable, value] : set) {
        if (whole.variants.front().values.contains(variable)) continue;
        return base::fail("--set {}: {} has no such variable; they stand in its [variables]",
                          base::printable(variable, 40), name);
    }
    return {boost::system::in_place_value, std::move(whole)};
}

base::expected<experiment> load_experiment(const std::string& path, const overrides& set) {
    const auto text = base::read_file(path, largest_file);
    if (!text) return text.error();
    return parse_experiment(*text, path, set);
}

}  // namespace postal::experiment
