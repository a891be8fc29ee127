// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/variables.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <utility>

namespace postal::experiment {
namespace {

constexpr int deepest = 20;
// All values that are put in, and a little for each: twenty of them, each twice in the one before,
// would be a million.
constexpr std::size_t most_octets = 256 * 1024;
constexpr std::size_t octets_a_value = 32;

constexpr std::string_view closing = "}";

using words = std::vector<std::string>;

// The name where the word is nothing but a variable, else empty.
std::string_view lone_variable(std::string_view word) {
    const bool is_one = word.starts_with("${") && word.find(closing) == word.size() - 1;
    return is_one ? word.substr(2, word.size() - 3) : std::string_view{};
}

// One text or list, with all that is put in for it.
class expansion {
  public:
    explicit expansion(const variables& values) : values_(values) {}

    base::expected<std::string> text(std::string_view from, int depth) {
        std::string result;
        while (true) {
            const std::size_t at = from.find("${");
            if (at == from.npos) break;
            if (at > 0 && from[at - 1] == '$') {
                result.append(from.substr(0, at - 1)).append("${");
                from.remove_prefix(at + 2);
                continue;
            }
            const std::size_t end = from.find(closing, at);
            if (end == from.npos)
                return base::fail("\"{}\" has no }} behind it; write $${{ for ${{ as such",
                                  base::printable(from.substr(at), 40));
            const auto value = value_of(from.substr(at + 2, end - at - 2), depth);
            if (!value) return value.error();
            if (value->size() != 1)
                return base::fail(
                    "{} is {} words and stands within a text; let it be a word of its own",
                    base::printable(from.substr(at, end + 1 - at), 60), value->size());
            result.append(from.substr(0, at)).append(value->front());
            from.remove_prefix(end + 1);
        }
        result.append(from);
        return {boost::system::in_place_value, std::move(result)};
    }

    base::expected<words> all(const words& from, int depth) {
        words result;
        for (const std::string& word : from) {
            if (const auto name = lone_variable(word); !name.empty()) {
                auto more = value_of(name, depth);
                if (!more) return more.error();
                result.insert(result.end(), more->begin(), more->end());
                continue;
            }
            auto one = text(word, depth);
            if (!one) return one.error();
            result.push_back(std::move(*one));
        }
        return result;
    }

  private:
    base::expected<words> value_of(std::string_view name, int depth) {
        const auto found = values_.find(name);
        if (found == values_.end()) return without_value(name);
        if (depth >= deepest)
            return base::fail("${{{}}} comes back to itself", base::printable(name, 40));
        if (!spend(octets_a_value)) return too_much(name);
        auto value = all(found->second, depth + 1);
        if (!value) return value;
        for (const std::string& word : *value)
            if (!spend(word.size() + octets_a_value)) return too_much(name);
        return value;
    }

    bool spend(std::size_t octets) {
        if (octets > left_) return false;
        left_ -= octets;
        return true;
    }
    static base::failure too_much(std::string_view name) {
        return base::fail("${{{}}} makes more than {} of values in values",
                          base::printable(name, 40), base::format_size(most_octets));
    }

    [[nodiscard]] base::failure without_value(std::string_view name) const {
        std::vector<std::string> known;
        for (const auto& [each, value] : values_)
            known.push_back(each);
        const auto near = base::nearest(name, known);
        const auto hint =
            near.empty() ? "give it in [variables]" : fmt::format("did you mean {}?", near);
        return base::fail("${{{}}} has no value; {}", base::printable(name, 40), hint);
    }

    const variables& values_;
    std::size_t left_ = most_octets;
};

}  // namespace

base::expected<std::string> expand(std::string_view text, const variables& values) {
    return expansion(values).text(text, 0);
}

base::expected<words> expand(const words& from, const variables& values) {
    return expansion(values).all(from, 0);
}

}  // namespace postal::experiment
