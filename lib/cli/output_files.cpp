// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/output_files.hpp"

#include "base/text.hpp"
#include "cli/content_look.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace postal::cli {

namespace {

constexpr std::size_t looked_at = 4096;

// Where the log, diagnostics and summaries go.
constexpr file_kind stream{"stream"};
const given_value standard_streams[] = {{"standard output", "/dev/fd/1", &stream},
                                        {"standard error", "/dev/fd/2", &stream}};

bool is_stream(const given_value& one) {
    return one.writes == &stream;
}

std::string path_of(const given_value& one) {
    if (one.value != "-") return one.value;
    return one.writes != nullptr ? "/dev/fd/1" : "/dev/fd/0";
}

bool is_regular(const std::string& path, struct stat& about) {
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

bool same_file(const std::string& a, const std::string& b) {
    struct stat one {};
    struct stat other {};
    if (!is_regular(a, one) || !is_regular(b, other)) return false;
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool same_name(const std::string& one, const std::string& other) {
    std::error_code unknown;
    // Of a relative path of which nothing is there yet weakly_canonical() makes a relative one.
    const auto whole = [&](const std::string& name) {
        const auto path = std::filesystem::absolute(name, unknown);
        return unknown ? path : std::filesystem::weakly_canonical(path, unknown);
    };
    if (one == other) return true;
    const auto first = whole(one);
    if (unknown) return false;
    return first == whole(other) && !unknown;
}

// The same file, once it is made.
bool same_new_file(const std::string& one, const std::string& other) {
    struct stat about {};
    return ::stat(one.c_str(), &about) != 0 && same_name(one, other);
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

// Those of the files with a number behind this name that exist.
std::vector<std::string> numbered_files(const std::filesystem::path& base) {
    std::vector<std::string> found;
    const auto folder = base.has_parent_path() ? base.parent_path() : std::filesystem::path(".");
    std::error_code none;
    for (std::filesystem::directory_iterator at(folder, none), end; !none && at != end;
         at.increment(none)) {
        if (is_numbered(at->path().filename().string(), base.filename().string()))
            found.push_back(at->path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

// The one of these files that has the other name, too; of those that exist, and for an output of
// those that do not.
std::string numbered_file(const std::string& base, const std::vector<std::string>& there,
                          const given_value& other) {
    const std::filesystem::path start(base);
    const std::filesystem::path wanted(other.value);
    const bool written_there = other.writes != nullptr && !other.writes->numbered &&
                               is_numbered(wanted.filename().string(), start.filename().string());
    if (written_there && same_name(wanted.parent_path() / ".", start.parent_path() / ".")) {
        return other.value;
    }
    for (const std::string& path : there)
        if (same_file(path, path_of(other))) return path;
    return {};
}

// The files that this output would write to; where numbers are put behind it, those that exist.
std::vector<std::string> files_of(const given_value& output) {
    if (output.value == "-") return {};
    return output.writes->numbered ? numbered_files(output.value) : std::vector{output.value};
}

// "histogram:sizes.txt" names a file, too.
bool is_behind_colon(const std::string& path, const given_value& other) {
    const std::size_t colon = other.value.find(':');
    return other.writes == nullptr && colon != other.value.npos &&
           same_file(path, other.value.substr(colon + 1));
}

// The file that both would be; empty for none.
std::string shared_file(const given_value& output, const std::vector<std::string>& files,
                        const given_value& other) {
    if (output.writes->numbered) return numbered_file(output.value, files, other);
    if (other.writes != nullptr && other.writes->numbered) return {};  // seen from there
    const std::string path = path_of(output);
    const bool both_new = other.writes != nullptr && same_new_file(path, path_of(other));
    if (!both_new && !same_file(path, path_of(other)) && !is_behind_colon(path, other)) return {};
    return is_stream(output) || output.value == "-" ? path_of(other) : output.value;
}

// Both go to standard output, or to what the shell has made one; "-" is told about by the streams.
bool may_be_shared(const given_value& output, const given_value& other) {
    if (output.value == "-") return true;
    return is_stream(output) && (is_stream(other) || other.value == "-") && other.writes != nullptr;
}

base::expected<void> check_shared(const given_value& output, const std::vector<given_value>& all) {
    const std::vector<std::string> files = files_of(output);
    for (const given_value& other : all) {
        if (&other == &output || may_be_shared(output, other)) continue;
        const std::string shared = shared_file(output, files, other);
        if (shared.empty()) continue;
        return base::fail("{}: {}: is the file of {}, too; name another one", output.where,
                          base::printable(shared, 300), other.where);
    }
    return {};
}

// What a file of another kind seems to be; empty for one that may be written.
std::string other_look(const std::string& path, const file_kind& wanted) {
    struct stat about {};
    if (wanted.recognised == nullptr || !is_regular(path, about) || about.st_size == 0) return {};
    std::array<char, looked_at> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    if (!file.is_open() || file.bad()) return "something that cannot be read";
    const std::string_view text(begin.data(), static_cast<std::size_t>(file.gcount()));
    return wanted.recognised(text) ? std::string() : std::string(content_look(text));
}

}  // namespace

base::expected<void> check_kind(const given_value& output) {
    for (const std::string& path : files_of(output)) {
        const std::string look = other_look(path, *output.writes);
        if (look.empty()) continue;
        return base::fail(
            "{}: {}: exists and is no {}, but seems to be {}; name another file, or give --force "
            "to "
            "write over it",
            output.where, base::printable(path, 300), output.writes->name, look);
    }
    return {};
}

base::expected<void> check_outputs(const std::vector<given_value>& all, existing_files others) {
    std::vector<given_value> places(all);
    places.insert(places.end(), std::begin(standard_streams), std::end(standard_streams));
    for (const given_value& output : places) {
        if (output.writes == nullptr) continue;
        if (const auto alone = check_shared(output, places); !alone) return alone.error();
        if (others == existing_files::replace) continue;
        if (const auto fits = check_kind(output); !fits) return fits.error();
    }
    return {};
}

}  // namespace postal::cli
