// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/completion.hpp"

#include "base/text.hpp"
#include "cli/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace postal::cli {

namespace {

// What may stand behind an option or as an argument.
struct choice_of {
    std::vector<std::string> words = {};
    enum { nothing, file, folder } path = nothing;
};

bool is_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

// Whether one of `parts` is in the name of a value, such as "FILE" in "NAME|FILE".
bool names_one_of(std::string_view value, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        return value.find(part) != std::string_view::npos;
    });
}

// A value is shown as "auto|off", "off|auto|MECHANISM", "NAME|FILE": small letters are the words
// themselves. "ret=full|hdrs" and "SERVER[:DIRECTORY]" are one value with a form of its own.
choice_of choice_for(const option& row) {
    choice_of found{row.known_values};
    if (row.value.find_first_of("=, [") != std::string::npos) return found;
    for (const std::string_view part : base::split(row.value, '|')) {
        if (is_word(part)) found.words.emplace_back(part);
        if (names_one_of(part, {"FILE", "PATH", "BASE"})) found.path = choice_of::file;
        const bool folder = names_one_of(part, {"DIR"});
        if (folder && found.path == choice_of::nothing) found.path = choice_of::folder;
    }
    return found;
}

bool is_file(const positional& argument) {
    return names_one_of(argument.name, {"LIST", "FILE", "RECORD", "EXPERIMENT"});
}

std::string function_name(const program& description) {
    std::string name = '_' + description.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string with_backslashes(std::string_view text, std::string_view before) {
    std::string out;
    for (const char c : text) {
        if (before.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string bash_case(const option& row) {
    const auto [words, path] = choice_for(row);
    std::string offers;
    if (!words.empty()) offers += fmt::format(" -W \"{}\"", fmt::join(words, " "));
    if (path == choice_of::file) offers += " -f";
    if (path == choice_of::folder) offers += " -d";
    const std::string action =
        offers.empty() ? ":" : fmt::format("COMPREPLY=($(compgen{} -- \"$current\"))", offers);
    return fmt::format("        {}) {}; return ;;\n", fmt::join(base::split(row.names, ','), "|"),
                       action);
}

// Bash splits --name=value at the equals sign into three words.
std::string bash_completion(const program& description) {
    std::vector<std::string> names;
    std::string cases;
    for (const auto& one : all_groups(description)) {
        for (const auto& row : one.options) {
            names.push_back(long_name(row));
            if (!is_flag(row)) cases += bash_case(row);
        }
    }
    return fmt::format(
        "# bash completion for {0}\n"
        "{1}() {{\n"
        "    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}\n"
        "    [ \"$current\" = = ] && current=\n"
        "    [ \"$previous\" = = ] && previous=${{COMP_WORDS[COMP_CWORD-2]}}\n"
        "    COMPREPLY=()\n"
        "    case $previous in\n{2}    esac\n"
        "    case $current in\n"
        "        -*) COMPREPLY=($(compgen -W \"{3}\" -- \"$current\")) ;;\n"
        "        *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
        "    esac\n"
        "}}\n"
        "complete -o filenames -F {1} {0}\n",
        description.name, function_name(description), cases, fmt::join(names, " "));
}

std::string zsh_quoted(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return '\'' + out + '\'';
}

// The action of _arguments: what completes a value.
std::string zsh_action(const choice_of& offered) {
    const auto [words, path] = offered;
    const std::string_view files = path == choice_of::folder ? "_files -/" : "_files";
    const std::string list = fmt::format("({})", fmt::join(words, " "));
    if (path == choice_of::nothing) return words.empty() ? " " : list;
    if (words.empty()) return std::string(files);
    return fmt::format(R"( _alternative "words\:value\:{}" "files\:file\:{}")", list, files);
}

// One specification for each name of the row. What may be given once is not offered again.
void append_zsh_specifications(std::vector<std::string>& to, const option& row) {
    const auto names = base::split(row.names, ',');
    const std::string before = row.repeatable ? "*" : fmt::format("({})", fmt::join(names, " "));
    const std::string help = with_backslashes(row.help, "[]\\:");
    for (const std::string_view name : names) {
        const bool is_long = name.starts_with("--");
        std::string text = before + std::string(name);
        if (!is_flag(row)) text += is_long ? "=" : "+";
        text += fmt::format("[{}]", help);
        if (!is_flag(row)) {
            text += fmt::format("{}{}:{}", row.optional_value ? "::" : ":",
                                with_backslashes(row.value, ":\\"), zsh_action(choice_for(row)));
        }
        to.push_back(zsh_quoted(text));
    }
}

std::string zsh_argument(const positional& one) {
    const std::string_view place = one.repeatable ? "*" : one.required ? "" : ":";
    return fmt::format("'{}:{}:{}'", place, with_backslashes(one.name, ":\\"),
                       is_file(one) ? "_files" : " ");
}

// Loaded by its name from a folder in $fpath it completes; read by "source" it registers itself.
std::string zsh_completion(const program& description) {
    std::vector<std::string> specifications;
    for (const auto& one : all_groups(description)) {
        for (const auto& row : one.options)
            append_zsh_specifications(specifications, row);
    }
    for (const auto& one : description.positionals)
        specifications.push_back(zsh_argument(one));
    return fmt::format(
        "#compdef {0}\n"
        "_{0}() {{\n"
        "    _arguments -s -S \\\n        {1}\n"
        "}}\n"
        "if [[ $funcstack[1] = _{0} ]]; then _{0} \"$@\"; else compdef _{0} {0}; fi\n",
        description.name, fmt::join(specifications, " \\\n        "));
}

std::string fish_quoted(std::string_view text) {
    return '\'' + with_backslashes(text, "'\\") + '\'';
}

std::string fish_line(const program& description, const option& row) {
    std::string line = "complete -c " + description.name;
    for (const std::string_view name : base::split(row.names, ',')) {
        line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                       : fmt::format(" -s {}", name.substr(1));
    }
    if (!is_flag(row)) {
        const auto [words, path] = choice_for(row);
        line += path == choice_of::file ? " -r -F" : " -x";
        if (path == choice_of::folder) line += " -a '(__fish_complete_directories)'";
        if (!words.empty()) line += " -a " + fish_quoted(fmt::format("{}", fmt::join(words, " ")));
    }
    return line + " -d " + fish_quoted(row.help) + '\n';
}

std::string fish_completion(const program& description) {
    std::string lines = "# fish completion for " + description.name + '\n';
    for (const auto& one : all_groups(description)) {
        for (const auto& row : one.options)
            lines += fish_line(description, row);
    }
    return lines;
}

struct shell_script {
    std::string_view shell;
    std::string (*write)(const program&);
};

constexpr std::array shells{shell_script{"bash", bash_completion},
                            shell_script{"zsh", zsh_completion},
                            shell_script{"fish", fish_completion}};

}  // namespace

base::expected<std::string> completion(const program& description, std::string_view shell) {
    for (const shell_script& one : shells) {
        if (one.shell == shell) return {boost::system::in_place_value, one.write(description)};
    }
    return base::fail("\"{}\" is not a shell known here; give bash, zsh or fish",
                      base::printable(shell, 40));
}

}  // namespace postal::cli
