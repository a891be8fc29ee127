// SPDX-License-Identifier: GPL-3.0-or-later
// Typed access to the keys of a TOML table.
//
// The first thing that is wrong is remembered in a `complaint`, "FILE:LINE: reason", and looked at
// once at the end; what is asked for leaves its target as it is where the key is absent. Keys that
// nobody has asked for are refused by end().
#pragma once

#include "base/result.hpp"

#include <toml++/toml.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::cli {

struct complaint {
    std::string file;
    std::string first{};
    std::uint32_t line = 0;

    // The earliest line of the file counts.
    void add(std::uint32_t at, std::string_view reason);
};

class section {
  public:
    // `name` is what messages call it: "[storage]". Both others outlive this.
    section(const toml::table& table, std::string name, complaint& problems)
        : table_(&table), name_(std::move(name)), problems_(&problems) {}

    [[nodiscard]] std::uint32_t line() const { return table_->source().begin.line; }
    [[nodiscard]] std::uint32_t line_of(std::string_view key) const;
    [[nodiscard]] complaint& problems() const { return *problems_; }
    [[nodiscard]] bool has(std::string_view key) const { return table_->contains(key); }
    [[nodiscard]] std::vector<std::string> keys() const;

    void read(std::string_view key, std::string& into);
    void read(std::string_view key, bool& into);
    void read(std::string_view key, std::uint64_t& into);
    void read(std::string_view key, std::chrono::nanoseconds& into);
    void read(std::string_view key, std::vector<std::string>& into);  // one text is a list of one
    void read_share(std::string_view key, double& into);              // "2%"
    template <class Value>
    void read(std::string_view key, std::optional<Value>& into) {
        Value value{};
        read(key, value);
        if (has(key)) into = std::move(value);
    }

    // Calls visit(section) for the table of this name, if there is one.
    template <class Visit>
    void table(std::string_view key, Visit visit) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        if (node->as_table() == nullptr)
            return wrong(key, *node, "is a table: write [" + std::string(key) + "]");
        visit(section(*node->as_table(), inner(key), *problems_));
    }
    // The same for each table of an array, [[key]].
    template <class Visit>
    void tables(std::string_view key, Visit visit) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        if (!node->is_array_of_tables())
            return wrong(key, *node, "is a list of tables: write [[" + std::string(key) + "]]");
        for (const toml::node& each : *node->as_array())
            visit(section(*each.as_table(), "[" + inner(key) + "]", *problems_));
    }

    // For values of other kinds: the key's node, or null; from here on the key is a known one.
    const toml::node* take(std::string_view key);
    // A list of texts, else false and a complaint.
    bool words(std::string_view key, const toml::node& node, std::vector<std::string>& into);

    // "KEY REASON" at the node's line.
    void wrong(std::string_view key, const toml::node& node, std::string_view reason);
    // "KEY: REASON" at the key's line, or the table's where the key is absent.
    void refuse(std::string_view key, std::string_view reason);
    void end();

  private:
    [[nodiscard]] std::string inner(std::string_view key) const {
        return "[" + std::string(key) + "]";
    }

    const toml::table* table_;
    std::string name_;
    complaint* problems_;
    std::vector<std::string> asked_;
};

}  // namespace postal::cli
