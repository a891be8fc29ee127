// SPDX-License-Identifier: GPL-3.0-or-later
// What is printed of the files of a bundle, and of nothing else: made the same way when a bundle is
// written and when it is verified, so that each sentence and figure can be held against it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "bundle/manifest.hpp"
#include "postal-report/csv.hpp"
#include "report/document.hpp"

namespace postal::report {

struct recomputed {
    bundle::files printed{};           // "printed/records.txt": ...
    std::vector<std::string> found{};  // what is wrong beside it, a line each; may quote the files
    std::vector<std::string> noted{};  // what a reader has to know

    // As text, in lines as long as they are, and as CSV.
    void add(const std::string& name, const document& text, const sheet& figures);
    void add(recomputed&& other);
};

base::expected<recomputed> recompute(const bundle::manifest& of, const bundle::files& all);

// What differs between two texts or tables of that name, a line each; after twenty only how many
// more. `made` is what follows from the files. Of a table, columns that only `made` has are none.
std::vector<std::string> differences(const std::string& name, const std::string& said,
                                     const std::string& made);

}  // namespace postal::report
