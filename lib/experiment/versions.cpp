// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/versions.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "experiment/check.hpp"
#include "experiment/undo.hpp"
#include "experiment/variables.hpp"

#include <algorithm>
#include <filesystem>

namespace postal::experiment {
namespace {

constexpr std::chrono::seconds version_limit{20};
constexpr std::size_t most_said = 1 << 16;

}  // namespace

versions ask_versions(std::string_view program, const experiment& whole, const std::string& out,
                      supervisor& by, journal& into) {
    versions all{{std::string(program), std::string(base::build_version)}};
    for (std::size_t i = 0; i < whole.variants.size(); ++i) {
        const command& asked = whole.variants[i].of.version;
        if (asked.words.empty()) continue;
        const auto words = expand(asked.words, values_of_run(whole, i, out, out, 1, ""));
        const std::string log = out + "/version.log";
        std::error_code ignored;
        std::filesystem::remove(log, ignored);
        if (!words || !by.run({*words, "", log}, version_limit, patience::until_interrupted, into))
            continue;
        const auto said = base::read_file(log, most_said);
        std::filesystem::remove(log, ignored);
        if (!said) continue;
        // The log begins with the command.
        const std::string log_text = *said + "\n";
        const std::string line(base::trim(base::split(log_text, '\n')[1]));
        const std::string asked_by = base::shell_line(*words);
        // A record has one answer for each command, the last.
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const auto& one) { return one.first == asked_by; });
        if (found == all.end())
            all.emplace_back(asked_by, line);
        else
            found->second = line;
    }
    return all;
}

}  // namespace postal::experiment
