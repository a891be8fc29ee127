#include "cli/rows.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>

namespace postal::cli {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
    const auto parts = base::split(text, separator);
    return {parts.begin(), parts.end()};
}

// The number of letters to insert, remove, change or swap with a neighbour to get from one word to
// the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + changed});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::vector<std::string> split_names(std::string_view names) {
    return split(names, ',');
}

std::string long_name(const option& row) {
    const auto names = split_names(row.names);
    const auto found = std::find_if(names.begin(), names.end(),
                                    [](const std::string& name) { return name.starts_with("--"); });
    return found == names.end() ? names.front() : *found;
}

std::string key_of(const option& row) {
    const std::string name = long_name(row);
    return name.substr(name.starts_with("--") ? 2 : 1);
}

std::vector<std::string> words_of(const option& row) {
    const bool is_word_list = row.value.find('|') != std::string::npos &&
                              std::none_of(row.value.begin(), row.value.end(), [](unsigned char c) {
                                  return std::isupper(c) != 0 || c == ' ' || c == '[';
                              });
    return is_word_list ? split(row.value, '|') : std::vector<std::string>{};
}

group standard_group() {
    return {"General",
            {
                {"--config", "FILE", "",
                 "read long options from this TOML file; the command line wins"},
                {"-h,--help", "", "", "print this help and end"},
                {"--version", "", "", "print the version and what is built in, and end"},
            }};
}

std::string nearest(std::string_view mistyped, const std::vector<std::string>& known) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, mistyped.size() / 3) + 1;
    for (const auto& name : known) {
        // The start of a long name is near, whatever it lacks: --dur is --duration.
        const bool is_start = mistyped.size() >= 4 && name.starts_with(mistyped);
        const std::size_t distance = is_start ? 1 : edit_distance(mistyped, name);
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = name;
    }
    return best;
}

}  // namespace postal::cli
