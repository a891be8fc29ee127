#include "cli/rows.hpp"

#include "base/text.hpp"

#include <algorithm>

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
        {"--version", "", "", "print the version and what is built in, and end"},
        {"--completion", "bash|zsh|fish", "",
         "print the completion script of this shell, and end"}};
}

std::vector<option> with_force(std::vector<option> rows) {
    rows.insert(rows.begin() + 1, {"--force", "", "", "write over files of any kind"});
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

const group& standard_group(const program& description) {
    static const group reading{"General", standard_rows()};
    static const group writing{"General", with_force(standard_rows())};
    return writes_files(description) ? writing : reading;
}

std::vector<group> all_groups(const program& description) {
    auto groups = description.groups;
    groups.push_back(standard_group(description));
    return groups;
}

}  // namespace postal::cli
