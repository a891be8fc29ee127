// SPDX-License-Identifier: GPL-3.0-or-later
// experiment/experiment.hpp: any file gives one line of refusal, or an experiment whose runs can be
// planned.
#include "experiment/experiment.hpp"

#include <algorithm>

#include "experiment/plan.hpp"
#include "support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::experiment;
    const std::string_view text = fuzz::text_of(data, size);
    const auto read = parse_experiment(text, "fuzz");
    if (!read) {
        fuzz::require_harmless(read.error().message);
        return 0;
    }
    fuzz::require(read->text == text && !read->variants.empty() && !read->offered.programs.empty());
    fuzz::require(read->verdict.program < read->offered.programs.size());
    const auto runs = runs_of_block(1, 1, read->variants.size());
    fuzz::require(runs.size() == read->variants.size());
    for (const planned_run& one : runs) {
        const std::string folder = folder_of(one, *read);
        fuzz::require(folder.find('/') == folder.rfind('/') && folder.find("..") == folder.npos);
    }
    return 0;
}
