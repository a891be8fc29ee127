#include "cli/command_line.hpp"

#include "cli/help.hpp"
#include "cli/rows.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace postal::cli {

namespace {

std::vector<std::string> all_names(const program& description) {
    std::vector<std::string> names;
    auto groups = description.groups;
    groups.push_back(standard_group());
    for (const auto& one : groups) {
        for (const auto& row : one.options) {
            for (auto& name : split_names(row.names))
                names.push_back(std::move(name));
        }
    }
    return names;
}

base::failure unknown_option(const program& description, std::string_view given) {
    const std::string_view name = given.substr(0, given.find('='));
    const std::string near = nearest(name, all_names(description));
    if (near.empty()) return base::fail("{}: unknown option; --help lists them", name);
    return base::fail("{}: unknown option; did you mean {}?", name, near);
}

base::failure missing_value(const program& description, std::string_view name) {
    for (const auto& one : description.groups) {
        for (const auto& row : one.options) {
            const auto names = split_names(row.names);
            if (std::find(names.begin(), names.end(), name) == names.end()) continue;
            return base::fail("{}: needs a value: {}", name, row.value);
        }
    }
    return base::fail("{}: needs a value", name);
}

// CLI11 takes the next argument as the value of "--name=", which would swallow a server's name.
base::expected<void> refuse_empty_values(const program& description, int argc,
                                         const char* const* argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--") return {};
        if (!argument.starts_with("--") || argument.find('=') != argument.size() - 1) continue;
        return missing_value(description, argument.substr(0, argument.size() - 1));
    }
    return {};
}

// Arguments are what CLI11 found no option for: whatever begins with a dash before "--" is a
// mistyped option. That is looked for first, because the argument after one is often its value.
base::expected<std::vector<std::string>> take_arguments(const program& description,
                                                        const std::vector<std::string>& leftovers) {
    const auto end_of_options = std::find(leftovers.begin(), leftovers.end(), "--");
    for (auto one = leftovers.begin(); one != end_of_options; ++one) {
        if (one->size() > 1 && one->front() == '-') return unknown_option(description, *one);
    }
    std::vector<std::string> arguments(leftovers.begin(), end_of_options);
    if (end_of_options != leftovers.end()) {
        arguments.insert(arguments.end(), end_of_options + 1, leftovers.end());
    }
    const auto& known = description.positionals;
    const bool takes_all = !known.empty() && known.back().repeatable;
    if (arguments.size() > known.size() && !takes_all) {
        return base::fail("{}: one argument too many; usage: {}", arguments[known.size()],
                          usage_line(description));
    }
    return arguments;
}

CLI::Option* add_row(CLI::App& app, const option& row) {
    auto* added = is_flag(row) ? app.add_flag(row.names) : app.add_option(row.names);
    return added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::string last_of(const CLI::Option& parsed) {
    return parsed.count() == 0 ? std::string{} : parsed.results().back();
}

}  // namespace

base::expected<command_line> read_command_line(const program& description, int argc,
                                               const char* const* argv) {
    if (auto checked = refuse_empty_values(description, argc, argv); !checked) {
        return checked.error();
    }
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::vector<std::pair<const option*, CLI::Option*>> rows;
    for (const auto& one : description.groups) {
        for (const auto& row : one.options)
            rows.emplace_back(&row, add_row(app, row));
    }
    auto* help = app.add_flag("-h,--help");
    auto* version = app.add_flag("--version");
    auto* config = add_row(app, {"--config", "FILE"});
    auto* completion = add_row(app, {"--completion", "SHELL"});

    try {
        app.parse(argc, argv);
    } catch (const CLI::ArgumentMismatch& problem) {
        const std::string_view text = problem.what();
        return missing_value(description, text.substr(0, text.find(':')));
    } catch (const CLI::ParseError& problem) {
        return base::fail("{}", problem.what());
    }
    auto arguments = take_arguments(description, app.remaining());
    if (!arguments) return arguments.error();

    command_line result;
    for (const auto& [row, parsed] : rows)
        result.options.push_back({row, parsed->results()});
    result.positionals = std::move(*arguments);
    result.help = help->count() > 0;
    result.version = version->count() > 0;
    result.config = last_of(*config);
    result.completion = last_of(*completion);
    return result;
}

}  // namespace postal::cli
