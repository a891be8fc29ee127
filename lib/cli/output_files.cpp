#include "cli/output_files.hpp"

#include <sys/stat.h>

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
            const bool both_new = other.writes != nullptr && same_name(output.value, other.value);
            if (&other == &output || !(both_new || same_file(output.value, other.value))) continue;
            return base::fail("{}: {}: is the file of {}, too; name another one", output.where,
                              output.value, other.where);
        }
        if (is_another_kind(output.value, *output.writes)) {
            return base::fail("{}: {}: exists and is no {}; name another file, or remove it",
                              output.where, output.value, output.writes->name);
        }
    }
    return {};
}

}  // namespace postal::cli
