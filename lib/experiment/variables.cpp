#include "experiment/variables.hpp"

#include "base/text.hpp"

namespace postal::experiment {
namespace {

constexpr int deepest = 20;

using words = std::vector<std::string>;

base::expected<words> value_of(std::string_view name, const variables& values, int depth);

base::expected<std::string> expand_text(std::string_view text, const variables& values, int depth) {
    std::string result;
    while (true) {
        const std::size_t at = text.find("${");
        if (at == text.npos) break;
        if (at > 0 && text[at - 1] == '$') {
            result.append(text.substr(0, at - 1)).append("${");
            text.remove_prefix(at + 2);
            continue;
        }
        const std::size_t end = text.find('}', at);
        if (end == text.npos)
            return base::fail("\"{}\" has no }} behind it; write $${{ for ${{ as such",
                              base::printable(text.substr(at), 40));
        const auto value = value_of(text.substr(at + 2, end - at - 2), values, depth);
        if (!value) return value.error();
        if (value->size() != 1)
            return base::fail(
                "{} is {} words and stands within a text; let it be a word of its own",
                text.substr(at, end + 1 - at), value->size());
        result.append(text.substr(0, at)).append(value->front());
        text.remove_prefix(end + 1);
    }
    result.append(text);
    return {boost::system::in_place_value, std::move(result)};
}

// The name where the word is nothing but a variable, else empty.
std::string_view lone_variable(std::string_view word) {
    const bool is_one = word.starts_with("${") && word.find('}') == word.size() - 1;
    return is_one ? word.substr(2, word.size() - 3) : std::string_view{};
}

base::expected<words> expand_words(const words& from, const variables& values, int depth) {
    words result;
    for (const std::string& word : from) {
        if (const auto name = lone_variable(word); !name.empty()) {
            auto all = value_of(name, values, depth);
            if (!all) return all.error();
            result.insert(result.end(), all->begin(), all->end());
            continue;
        }
        auto text = expand_text(word, values, depth);
        if (!text) return text.error();
        result.push_back(std::move(*text));
    }
    return result;
}

base::expected<words> value_of(std::string_view name, const variables& values, int depth) {
    const auto found = values.find(name);
    if (found == values.end()) {
        std::vector<std::string> known;
        for (const auto& [each, value] : values)
            known.push_back(each);
        const auto near = base::nearest(name, known);
        const auto hint =
            near.empty() ? "give it in [variables]" : fmt::format("did you mean {}?", near);
        return base::fail("${{{}}} has no value; {}", base::printable(name, 40), hint);
    }
    if (depth >= deepest)
        return base::fail("${{{}}} comes back to itself", base::printable(name, 40));
    return expand_words(found->second, values, depth + 1);
}

}  // namespace

base::expected<std::string> expand(std::string_view text, const variables& values) {
    return expand_text(text, values, 0);
}

base::expected<words> expand(const words& from, const variables& values) {
    return expand_words(from, values, 0);
}

}  // namespace postal::experiment
