// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/cgroup_time.hpp"

#include "base/read_file.hpp"
#include "os/proc_texts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace postal::os {
namespace {

constexpr std::uint64_t longest_cgroup_file = 4U << 20U;  // a line for each mount
constexpr std::size_t most_files = 64;
constexpr std::size_t longest_name = 4096;

std::string_view take_until(std::string_view& text, char end) {
    const auto part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty())
        if (take_until(list, ',') == word) return true;
    return false;
}

// Blanks and the like stand as "\040".
std::string unescaped(std::string_view text) {
    std::string to;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto digits = text.substr(at + 1, 3);
        const bool escaped = text[at] == '\\' && digits.size() == 3 &&
                             digits.find_first_not_of("01234567") == digits.npos && digits[0] < '4';
        if (!escaped) {
            to += text[at];
            continue;
        }
        to += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0');
        at += 3;
    }
    return to;
}

// Where a hierarchy of groups is mounted, and which of its groups one sees there.
struct hierarchy {
    bool second = false;  // version 2
    std::string group;
    std::string folder;
};

// "ID PARENT DEVICE ROOT FOLDER OPTIONS [TAGS...] - TYPE SOURCE OPTIONS"
std::optional<hierarchy> hierarchy_of(std::string_view line) {
    const auto behind = line.find(" - ");
    if (behind == line.npos) return std::nullopt;
    std::string_view kind = line.substr(behind + 3);
    const std::string_view type = take_until(kind, ' ');
    take_until(kind, ' ');
    const bool second = type == "cgroup2";
    if (!second && (type != "cgroup" || !has_word(kind, "cpu"))) return std::nullopt;
    std::array<std::string_view, 5> fields;
    for (auto& one : fields)
        one = take_until(line, ' ');
    return hierarchy{second, unescaped(fields[3]), unescaped(fields[4])};
}

// The group, and those above it that one sees.
void add_files(std::vector<std::string>& to, const hierarchy& where, std::string_view group) {
    const std::string_view root = where.group == "/" ? "" : std::string_view(where.group);
    const bool inside = group.starts_with(root) && group.find("/..") == group.npos;
    std::string_view rest = inside ? group.substr(root.size()) : "";
    if (!rest.starts_with('/') || rest.size() > longest_name) rest = "";
    while (to.size() < most_files) {
        while (rest.ends_with('/'))
            rest.remove_suffix(1);
        to.push_back(where.folder + std::string(rest) + "/cpu.stat");
        if (rest.empty()) return;
        rest = rest.substr(0, rest.rfind('/'));
    }
}

}  // namespace

std::vector<std::string> parse_quota_files(std::string_view groups, std::string_view mounts) {
    std::vector<hierarchy> mounted;
    while (!mounts.empty() && mounted.size() < most_files)
        if (auto one = hierarchy_of(take_line(mounts))) mounted.push_back(std::move(*one));
    std::vector<std::string> files;
    while (!groups.empty()) {
        std::string_view group = take_line(groups);  // "NUMBER:CONTROLLERS:GROUP"
        const std::string_view number = take_until(group, ':');
        const std::string_view controllers = take_until(group, ':');
        const bool second = number == "0" && controllers.empty();
        if (!group.starts_with('/') || (!second && !has_word(controllers, "cpu"))) continue;
        const auto where =
            std::find_if(mounted.begin(), mounted.end(),
                         [second](const hierarchy& one) { return one.second == second; });
        if (where != mounted.end()) add_files(files, *where, group);
    }
    return files;
}

std::optional<double> parse_throttled(std::string_view text) {
    constexpr std::string_view first = "throttled_time ";  // ns
    constexpr std::string_view second = "throttled_usec ";
    while (!text.empty()) {
        std::string_view line = take_line(text);
        const bool old = line.starts_with(first);
        if (!old && !line.starts_with(second)) continue;
        line.remove_prefix(old ? first.size() : second.size());
        const auto number = take_number(line);
        if (!number) return std::nullopt;
        return static_cast<double>(*number) / (old ? 1e9 : 1e6);
    }
    return std::nullopt;
}

// Who is moved to another group meanwhile is told nothing of that time.
std::optional<double> quota_watch::since_last() {
    const auto groups = base::read_file("/proc/self/cgroup", longest_cgroup_file);
    if (!groups) return std::nullopt;
    if (files_.empty() || *groups != groups_) {
        const auto mounts = base::read_file("/proc/self/mountinfo", longest_cgroup_file);
        files_ = parse_quota_files(*groups, mounts ? *mounts : "");
        groups_ = *groups;
    }
    std::vector<std::pair<std::string, double>> now;
    std::optional<double> longest;
    for (const std::string& file : files_) {
        const auto text = base::read_file(file, longest_cgroup_file);
        const auto held = text ? parse_throttled(*text) : std::nullopt;
        if (!held) continue;
        const auto before = std::find_if(before_.begin(), before_.end(),
                                         [&](const auto& one) { return one.first == file; });
        if (before != before_.end() && *held >= before->second)
            longest = std::max(longest.value_or(0), *held - before->second);
        now.emplace_back(file, *held);
    }
    before_ = std::move(now);
    return longest;
}

}  // namespace postal::os
