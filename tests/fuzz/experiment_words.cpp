// SPDX-License-Identifier: GPL-3.0-or-later
// experiment/variables.hpp and postal-audit/folder_template.hpp: texts with names in them. Each
// line NAME=VALUE is a variable, the first other one is what is expanded.
#include "experiment/variables.hpp"

#include "postal-audit/folder_template.hpp"
#include "support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    experiment::variables values;
    std::string_view text;
    for (const std::string_view line : base::split(fuzz::text_of(data, size), '\n')) {
        const std::size_t equals = line.find('=');
        if (equals == line.npos && text.empty()) text = line;
        if (equals == line.npos || values.size() == 20) continue;
        for (const std::string_view word : base::split(line.substr(equals + 1), ' '))
            values[std::string(line.substr(0, equals))].emplace_back(word);
    }
    const auto one = experiment::expand(text, values);
    const auto words = experiment::expand(std::vector{std::string(text)}, values);
    if (one && text.find("${") == text.npos) fuzz::require(*one == text);
    if (one) fuzz::require(words && (words->size() == 1 ? words->front() == *one : words->empty()));

    const auto where = audit::folder_template::parse(text);
    if (!where) return 0;
    fuzz::require(!where->elements().empty());
    for (const auto& element : where->elements()) {
        const std::string name =
            element.before + (element.stands_for != 0 ? "x" : "") + element.behind;
        fuzz::require(name.find('/') == name.npos);
        fuzz::require(element.match(name).has_value() == (element.stands_for != 0));
    }
    return 0;
}
