// SPDX-License-Identifier: GPL-3.0-or-later
// What a person calls a run: --title, --note and --tag. Kept with its record, and shown with it; no
// figure depends on it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace postal::stats {

struct run_labels {
    std::string title;
    std::string note;
    std::vector<std::pair<std::string, std::string>> tags;  // as they were given

    [[nodiscard]] bool empty() const noexcept {
        return title.empty() && note.empty() && tags.empty();
    }
};

// "disk=nvme, fs=ext4"
[[nodiscard]] inline std::string tags_text(const run_labels& of) {
    std::vector<std::string> pieces;
    for (const auto& [key, value] : of.tags)
        pieces.push_back(key + "=" + value);
    return base::join(pieces, ", ");
}

// Each of them as it is shown; empty where it was not given.
struct told_label {
    std::string_view name;
    std::string (*text)(const run_labels& of);
};
inline constexpr std::array<told_label, 3> told_labels{
    {{"title", [](const run_labels& of) { return of.title; }},
     {"note", [](const run_labels& of) { return of.note; }},
     {"tags", tags_text}}};

}  // namespace postal::stats
