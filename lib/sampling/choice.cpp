// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/choice.hpp"

#include "base/alternatives.hpp"
#include "base/shell_words.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace postal::sampling {

namespace {

constexpr std::size_t longest_sample_name = 40;
constexpr std::size_t longest_told = 80;

bool is_sample_name(std::string_view text) {
    const auto fits = [](char c) {
        const char lower = base::ascii_lower(c);
        return (lower >= 'a' && lower <= 'z') || base::is_digit(c) ||
               std::string_view(" -_.").find(c) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= longest_sample_name && base::trim(text) == text &&
           std::all_of(text.begin(), text.end(), fits);
}

base::expected<void> check_room(const choice& to) {
    if (!to.full()) return {};
    return base::fail("there are {} already; sample no more than {} queues and commands",
                      choice::most_sources, choice::most_sources);
}

}  // namespace

base::expected<queue_choice> parse_queue(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view server = text.substr(0, colon);
    const auto found = std::find(queue_kinds.begin(), queue_kinds.end(), server);
    if (found == queue_kinds.end())
        return base::fail(
            "\"{}\" is no server whose queue is known; give {}, with :DIRECTORY "
            "where its queue is elsewhere",
            base::printable(server, longest_told), base::alternatives(queue_kinds));
    queue_choice made{static_cast<queue_kind>(found - queue_kinds.begin()), {}, std::string(text)};
    if (colon == text.npos) return made;
    made.directory = text.substr(colon + 1);
    if (made.directory.empty() || made.directory.find('\0') != std::string::npos)
        return base::fail("\"{}\": there is no directory behind the colon; give {}:DIRECTORY",
                          base::printable(text, longest_told), server);
    return made;
}

base::expected<command_choice> parse_sample(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == text.npos || !is_sample_name(name))
        return base::fail(
            "\"{}\": want NAME=COMMAND, with a name of 1 to {} letters, digits, "
            "blanks, -, _ and .",
            base::printable(text, longest_told), longest_sample_name);
    auto words = base::split_command(text.substr(equals + 1));
    if (!words) return base::at(name, words.error());
    return command_choice{std::string(name), std::move(*words), std::string(text)};
}

base::expected<void> add(choice& to, queue_choice one) {
    if (auto room = check_room(to); !room) return room;
    for (const queue_choice& other : to.queues)
        if (other.kind == one.kind && other.directory == one.directory)
            return base::fail("{} is given twice; leave one of the two out",
                              base::printable(one.text, longest_told));
    to.queues.push_back(std::move(one));
    return {};
}

base::expected<void> add(choice& to, command_choice one) {
    if (auto room = check_room(to); !room) return room;
    for (const command_choice& other : to.commands)
        if (other.name == one.name)
            return base::fail("{} is given twice; give each command a name of its own", one.name);
    if (std::find(queue_kinds.begin(), queue_kinds.end(), one.name) != queue_kinds.end())
        return base::fail("{} is what --queue calls its figures; give another name", one.name);
    to.commands.push_back(std::move(one));
    return {};
}

}  // namespace postal::sampling
