// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/command_line.hpp"

#include "base/text.hpp"
#include "cli/help.hpp"
#include "cli/rows.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace postal::cli {

namespace {

template <class Options>
auto find(Options& options, std::string_view name) {
    return std::find_if(options.begin(), options.end(),
                        [&](const written_option& one) { return has_name(*one.row, name); });
}

class reader {
  public:
    reader(command_line& into, const program& of, const std::vector<std::string>& words)
        : line_(into), of_(of), rest_(words) {}
    base::expected<void> read();

  private:
    using attached = std::optional<std::string_view>;  // a value in the same word as its name

    base::expected<void> take_name(std::string_view word);
    base::expected<void> take_letters(std::string_view word);
    base::expected<void> store(written_option& into, attached value);
    base::failure unknown(std::string_view given) const;
    const std::string& next();
    [[nodiscard]] bool names_group() const;

    command_line& line_;
    const program& of_;
    std::span<const std::string> rest_;
};

const std::string& reader::next() {
    const std::string& word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
}

base::failure reader::unknown(std::string_view given) const {
    const std::string_view name = given.substr(0, given.find('='));
    // Letters are all alike: no other one is near, and dashes make nothing more so.
    std::vector<std::string> names;
    for (const auto& one : line_.options) {
        for (const auto each : base::split(one.row->names, ','))
            if (each.starts_with("--")) names.emplace_back(each.substr(2));
    }
    const std::string_view word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    const std::string_view near = word.size() > 1 ? base::nearest(word, names) : "";
    if (near.empty()) return base::fail("{}: unknown option; --help lists them", name);
    return base::fail("{}: unknown option; did you mean --{}?", name, near);
}

// Behind --help: what follows may be an argument, and is one that may be refused where it stands
// alone.
bool reader::names_group() const {
    if (rest_.empty()) return false;
    const auto words = help_words(of_);
    const bool is_known = std::find(words.begin(), words.end(), rest_.front()) != words.end();
    return is_known || (rest_.size() == 1 && !rest_.front().starts_with('-'));
}

base::expected<void> reader::store(written_option& into, attached value) {
    const bool is_help = has_name(*into.row, "--help");
    const bool missing = value ? value->empty() : is_help ? !names_group() : rest_.empty();
    if (is_flag(*into.row)) {
        into.values.emplace_back(value.value_or("true"));
    } else if (missing && (is_help || into.row->optional_value)) {
        into.values.emplace_back();
    } else if (missing) {
        return base::fail("{}: needs a value: {}", long_name(*into.row), into.row->value);
    } else {
        into.values.emplace_back(value ? *value : next());
    }
    return {};
}

// --name, --name value, --name=value
base::expected<void> reader::take_name(std::string_view word) {
    const std::size_t equals = word.find('=');
    const auto found = find(line_.options, word.substr(0, equals));
    if (found == line_.options.end()) return unknown(word);
    return store(*found, equals == word.npos ? attached{} : word.substr(equals + 1));
}

// -n, -n value, -nvalue, and several in one word, of which only the last one has a value
base::expected<void> reader::take_letters(std::string_view word) {
    while (word.size() > 1) {
        const auto found = find(line_.options, std::string{'-', word[1]});
        if (found == line_.options.end()) return unknown('-' + std::string(word.substr(1)));
        word.remove_prefix(1);
        const bool is_value = word.size() > 1 && !is_flag(*found->row);
        auto stored = store(*found, is_value ? word.substr(1) : attached{});
        if (is_value || !stored) return stored;
    }
    return {};
}

base::expected<void> reader::read() {
    while (!rest_.empty()) {
        const std::string& word = next();
        base::expected<void> taken;
        if (word == "--") {
            line_.positionals.insert(line_.positionals.end(), rest_.begin(), rest_.end());
            return {};
        }
        if (word.starts_with("--")) {
            taken = take_name(word);
        } else if (word.size() > 1 && word.front() == '-') {
            taken = take_letters(word);
        } else {
            line_.positionals.push_back(word);
        }
        if (!taken) return taken;
    }
    return {};
}

}  // namespace

std::optional<std::string> command_line::last_of(std::string_view name) const {
    const auto found = find(options, name);
    if (found == options.end() || found->values.empty()) return std::nullopt;
    return found->values.back();
}

base::expected<command_line> read_command_line(const program& description,
                                               const std::vector<std::string>& words) {
    command_line line;
    for (const auto& one : description.groups) {
        for (const auto& row : one.options)
            line.options.push_back({&row});
    }
    for (const auto& row : standard_group(description).options)
        line.options.push_back({&row});
    if (auto done = reader(line, description, words).read(); !done) return done.error();

    const auto& known = description.positionals;
    const bool takes_all = !known.empty() && known.back().repeatable;
    if (line.positionals.size() > known.size() && !takes_all) {
        return base::fail("{}: one argument too many; usage: {}", line.positionals[known.size()],
                          usage_line(description));
    }
    return line;
}

}  // namespace postal::cli
