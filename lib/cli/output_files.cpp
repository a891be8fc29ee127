#include "cli/output_files.hpp"

#include "base/text.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace postal::cli {

namespace {

bool is_regular(const std::string& path, struct stat& about) {
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

bool same_file(const std::string& a, const std::string& b) {
    struct stat one {};
    struct stat other {};
    if (!is_regular(a, one) || !is_regular(b, other)) return false;
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Also of files that do not exist yet.
bool same_name(const std::string& one, const std::string& other) {
    std::error_code unknown;
    const auto whole = std::filesystem::weakly_canonical(one, unknown);
    return one == other ||
           (!unknown && whole == std::filesystem::weakly_canonical(other, unknown) && !unknown);
}

// BASE:1 and BASE:1:2.
bool is_numbered(std::string_view name, std::string_view base) {
    if (!name.starts_with(base) || name.size() == base.size()) return false;
    const auto numbers = base::split(name.substr(base.size()), ':');
    const bool fine = std::all_of(numbers.begin() + 1, numbers.end(), [](std::string_view number) {
        return !number.empty() && std::all_of(number.begin(), number.end(), base::is_digit);
    });
    return fine && numbers.front().empty() && (numbers.size() == 2 || numbers.size() == 3);
}

// The one of these files that has the other name, too; of those that exist, and for an output of
// those that do not.
std::string numbered_file(const std::string& base, const given_value& other) {
    const std::filesystem::path start(base);
    const std::string name = start.filename();
    const std::filesystem::path wanted(other.value);
    const bool written_there = other.writes != nullptr && !other.writes->numbered &&
                               is_numbered(wanted.filename().string(), name);
    if (written_there && same_name(wanted.parent_path() / ".", start.parent_path() / ".")) {
        return other.value;
    }
    const auto folder = start.has_parent_path() ? start.parent_path() : std::filesystem::path(".");
    std::error_code none;
    for (std::filesystem::directory_iterator at(folder, none), end; !none && at != end;
         at.increment(none)) {
        const std::string path = at->path();
        if (is_numbered(at->path().filename().string(), name) && same_file(path, other.value)) {
            return path;
        }
    }
    return {};
}

// The file that both would be; empty for none.
std::string shared_file(const given_value& output, const given_value& other) {
    if (output.writes->numbered) return numbered_file(output.value, other);
    if (other.writes != nullptr && other.writes->numbered) return {};  // seen from there
    const bool both_new = other.writes != nullptr && same_name(output.value, other.value);
    return both_new || same_file(output.value, other.value) ? output.value : "";
}

bool is_another_kind(const std::string& path, const file_kind& wanted) {
    struct stat about {};
    if (!is_regular(path, about) || about.st_size == 0) return false;
    std::array<char, 4096> begin{};
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) return false;
    file.read(begin.data(), begin.size());
    const std::string_view text(begin.data(), static_cast<std::size_t>(file.gcount()));
    return text.find(wanted.mark) == std::string_view::npos;
}

}  // namespace

base::expected<void> check_outputs(const std::vector<given_value>& all) {
    for (const given_value& output : all) {
        if (output.writes == nullptr || output.value == "-") continue;
        for (const given_value& other : all) {
            if (&other == &output) continue;
            const std::string shared = shared_file(output, other);
            if (shared.empty()) continue;
            return base::fail("{}: {}: is the file of {}, too; name another one", output.where,
                              shared, other.where);
        }
        if (!output.writes->numbered && is_another_kind(output.value, *output.writes)) {
            return base::fail("{}: {}: exists and is no {}; name another file, or remove it",
                              output.where, output.value, output.writes->name);
        }
    }
    return {};
}

}  // namespace postal::cli
