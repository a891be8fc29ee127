#include "cli/rows.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace postal::cli {

namespace {

bool writes_files(const program& description) {
    return std::any_of(description.groups.begin(), description.groups.end(), [](const group& each) {
        return std::any_of(each.options.begin(), each.options.end(),
                           [](const option& row) { return row.writes != nullptr; });
    });
}

std::vector<option> standard_rows() {
    return {
        {"--config", "FILE", "", "read long options from this TOML file; the command line wins"},
        {"-h,--help", "", "", "print this help and end"},
        {"--version", "", "", "print the version and what is built in, and end"}};
}

std::vector<option> with_force(std::vector<option> rows) {
    rows.insert(
        rows.begin() + 1,
        {"--force", "", "", "write over files that are not of the kind that is written there"});
    return rows;
}

}  // namespace

bool has_name(const option& row, std::string_view name) {
    const auto names = base::split(row.names, ',');
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string long_name(const option& row) {
    const auto names = base::split(row.names, ',');
    const auto found = std::find_if(names.begin(), names.end(),
                                    [](std::string_view name) { return name.starts_with("--"); });
    return std::string(found == names.end() ? names.front() : *found);
}

std::string key_of(const option& row) {
    const std::string name = long_name(row);
    return name.substr(name.starts_with("--") ? 2 : 1);
}

std::vector<std::string_view> words_of(const option& row) {
    const bool is_word_list = row.value.find('|') != std::string::npos &&
                              std::none_of(row.value.begin(), row.value.end(), [](unsigned char c) {
                                  return std::isupper(c) != 0 || c == ' ' || c == '[';
                              });
    return is_word_list ? base::split(row.value, '|') : std::vector<std::string_view>{};
}

const group& standard_group(const program& description) {
    static const group reading{"General", standard_rows()};
    static const group writing{"General", with_force(standard_rows())};
    return writes_files(description) ? writing : reading;
}

}  // namespace postal::cli
