// What the command line of postal-report asks for.
//
// --text, --markdown and --csv choose what standard output gets; without any of them it gets text,
// unless --html writes a file and nothing else was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "ledger/account.hpp"

namespace postal::report {

enum class output { none, text, markdown, csv };

struct options {
    std::vector<std::string> records;
    bool text = false;
    bool markdown = false;
    bool csv = false;
    std::string html;           // a file, "-" for standard output, empty for none
    std::string chart_library;  // Chart.js
    std::string ledger;         // a file; empty: records are shown
    std::optional<ledger::finding> list;

    // What goes to standard output beside the page.
    output printed() const noexcept;
};

// The rows, bound to `into`, which must outlive them.
cli::program describe_program(options& into);

// What only shows when all options are known: two outputs that want the same place.
base::expected<void> check(const options& given);

}  // namespace postal::report
