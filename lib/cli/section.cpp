// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/section.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::cli {

void complaint::add(std::uint32_t at, std::string_view reason) {
    if (!first.empty() && at >= line) return;
    line = at;
    first = fmt::format("{}:{}: {}", file, at, base::printable(reason, longest_reason));
}

std::vector<std::string> section::keys() const {
    std::vector<std::string> all;
    for (const auto& [key, node] : *table_)
        all.emplace_back(key.str());
    return all;
}

const toml::node* section::take(std::string_view key) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
    return table_->get(key);
}

std::uint32_t section::line_of(std::string_view key) const {
    const toml::node* node = table_->get(key);
    return node == nullptr ? line() : node->source().begin.line;
}

void section::wrong(std::string_view key, const toml::node& node, std::string_view reason) {
    problems_->add(node.source().begin.line, fmt::format("{} {}", key, reason));
}

void section::refuse(std::string_view key, std::string_view reason) {
    problems_->add(line_of(key), fmt::format("{}: {}", key, reason));
}

void section::end() {
    for (const auto& [key, node] : *table_) {
        if (std::find(asked_.begin(), asked_.end(), key.str()) != asked_.end()) continue;
        const auto near = base::nearest(key.str(), asked_);
        const std::string hint = near.empty() ? "there are " + base::join(asked_, ", ")
                                              : fmt::format("did you mean {}?", near);
        problems_->add(
            node.source().begin.line,
            fmt::format("{} is no key of {}; {}", base::printable(key.str(), 40), name_, hint));
    }
}

void section::read(std::string_view key, std::string& into) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (node->as_string() == nullptr) return wrong(key, *node, "must be a text in quotes");
    into = node->as_string()->get();
}

void section::read(std::string_view key, bool& into) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (node->as_boolean() == nullptr) return wrong(key, *node, "must be true or false");
    into = node->as_boolean()->get();
}

void section::read(std::string_view key, std::uint64_t& into) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const auto* number = node->as_integer();
    if (number == nullptr || number->get() < 0)
        return wrong(key, *node, "must be a whole number, 0 or more");
    into = static_cast<std::uint64_t>(number->get());
}

void section::read(std::string_view key, std::chrono::nanoseconds& into) {
    std::string text;
    read(key, text);
    if (text.empty()) return;
    const auto value = base::parse_duration(text);
    if (!value) return refuse(key, value.error().message);
    into = *value;
}

void section::read_share(std::string_view key, double& into) {
    std::string text;
    read(key, text);
    if (text.empty()) return;
    const auto value = base::parse_share(text);
    if (!value) return refuse(key, fmt::format("\"{}\" is no share; write it as \"2%\"", text));
    into = *value;
}

bool section::words(std::string_view key, const toml::node& node, std::vector<std::string>& into) {
    constexpr std::string_view wanted = "must be a list of texts, such as [\"mkfs.ext4\", \"-q\"]";
    if (node.as_array() == nullptr) return wrong(key, node, wanted), false;
    std::vector<std::string> all;
    for (const toml::node& each : *node.as_array()) {
        if (each.as_string() == nullptr) return wrong(key, each, wanted), false;
        all.push_back(each.as_string()->get());
    }
    into = std::move(all);
    return true;
}

void section::read(std::string_view key, std::vector<std::string>& into) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (node->as_string() != nullptr) {
        into = {node->as_string()->get()};
    } else {
        words(key, *node, into);
    }
}

}  // namespace postal::cli
