// SPDX-License-Identifier: GPL-3.0-or-later
// What is printed of the files of a bundle, and of nothing else: made the same way when a bundle is
// written and when it is verified, so that each sentence and figure can be held against it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bundle/manifest.hpp"
#include "postal-report/csv.hpp"
#include "report/document.hpp"

namespace postal::report {

struct recomputed {
    bundle::files printed{};  // "printed/records.txt": ...
    // A line each, which may quote the files.
    std::vector<std::string> found{};           // what is wrong beside it
    std::vector<std::string> differs{};         // what another version computed by other rules
    std::vector<std::string> unchecked{};       // what there is nothing to compute from
    std::vector<std::string> not_here{};        // what this build or system cannot compute
    std::vector<std::string> noted{};           // what a reader has to know
    std::set<std::string, std::less<>> used{};  // names of files
    std::size_t held = 0;                       // files whose digest another one has

    // As text, in lines as long as they are, and as CSV.
    void add(const std::string& name, const document& text, const sheet& figures);
    void add(recomputed&& other);
};

// Fails where the files are none that anything follows from; what is computed of them has bounds.
base::expected<recomputed> recompute(const bundle::manifest& of, const bundle::files& all);

enum class maker : std::uint8_t { this_version, another };

// What differs between two texts or tables of that name, a line each; after twenty only that there
// is more. `made` is what follows from the files. Tables of this version have the same columns;
// those of another may lack some. A line has as many cells as the first, and no column is twice.
std::vector<std::string> differences(const std::string& name, const std::string& said,
                                     const std::string& made, maker of);

// How much of a text or table there is to be held against: lines, or figures.
std::size_t amount_in(const std::string& name, const std::string& text);

}  // namespace postal::report
