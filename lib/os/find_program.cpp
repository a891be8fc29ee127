// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/find_program.hpp"

#include "base/text.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace postal::os {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_word = 300;

bool is_program(const fs::path& path) {
    std::error_code unknown;
    return fs::is_regular_file(path, unknown) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> folders_of_programs(const std::string& first) {
    std::vector<std::string> folders;
    if (!first.empty()) folders.push_back(first);
    const char* const path = std::getenv("PATH");
    for (const auto folder : base::split(path == nullptr ? "/usr/bin:/bin" : path, ':'))
        folders.emplace_back(folder.empty() ? "." : folder);
    folders.insert(folders.end(), {"/usr/sbin", "/sbin"});
    return folders;
}

}  // namespace

base::expected<std::string> find_program(const std::string& word, const std::string& first) {
    if (word.find('/') != word.npos) {
        if (is_program(word)) return {boost::system::in_place_value, word};
        return base::fail("{} is no program", base::printable(word, longest_word));
    }
    for (const std::string& folder : folders_of_programs(first)) {
        const fs::path path = fs::path(folder) / word;
        if (!word.empty() && is_program(path))
            return {boost::system::in_place_value, path.string()};
    }
    return base::fail("there is no program \"{}\" in PATH", base::printable(word, longest_word));
}

}  // namespace postal::os
