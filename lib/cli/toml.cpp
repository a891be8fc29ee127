#include "cli/toml.hpp"

namespace postal::cli {

base::expected<toml::table> parse_toml(std::string_view text, const std::string& name) {
    try {
        return toml::parse(text, name);
    } catch (const toml::parse_error& problem) {
        return base::fail("{}:{}: {}", name, problem.source().begin.line, problem.description());
    }
}

base::failure at_line(const std::string& name, const toml::node& node, std::string_view reason) {
    return base::fail("{}:{}: {}", name, node.source().begin.line, reason);
}

}  // namespace postal::cli
