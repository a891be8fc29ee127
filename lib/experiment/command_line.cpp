#include "experiment/command_line.hpp"

#include "base/text.hpp"

#include <filesystem>

namespace postal::experiment {

using pair = std::pair<std::string, std::string>;

base::expected<pair> parse_pair(std::string_view text, std::size_t at, std::string_view form) {
    if (at == std::string::npos || at == 0)
        return base::fail("\"{}\" is not {}", base::printable(text, 80), form);
    return {boost::system::in_place_value, std::string(text.substr(0, at)),
            std::string(text.substr(at + 1))};
}

base::expected<pair> parse_setting(std::string_view text) {
    return parse_pair(text, text.find('='), "NAME=VALUE");
}

std::string results_folder(const std::string& experiment, const std::string& out) {
    if (!out.empty()) return out;
    return std::filesystem::path(experiment).stem().string() + ".results";
}

}  // namespace postal::experiment
