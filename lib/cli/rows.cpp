#include "cli/rows.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace postal::cli {

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

const group& standard_group() {
    static const group rows{
        "General",
        {
            {"--config", "FILE", "",
             "read long options from this TOML file; the command line wins"},
            {"-h,--help", "", "", "print this help and end"},
            {"--version", "", "", "print the version and what is built in, and end"},
        }};
    return rows;
}

}  // namespace postal::cli
