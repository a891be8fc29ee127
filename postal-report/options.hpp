// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line of postal-report asks for.
//
// --text, --markdown and --csv choose what standard output gets; without any of them it gets text,
// unless --html writes a file and nothing else was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/parse.hpp"
#include "ledger/reconciler.hpp"

namespace postal::report {

enum class output { none, text, markdown, csv };

struct wanted_list {
    std::optional<ledger::discrepancy> only = {};  // nothing: all messages
};

struct options {
    std::vector<std::string> records;
    bool text = false;
    bool markdown = false;
    bool csv = false;
    bool ranks = false;         // one line of CSV for each rank
    std::string html;           // a file, "-" for standard output, empty for none
    std::string chart_library;  // Chart.js
    std::string ledger;         // a file; empty: records are shown
    bool one_store = false;
    std::optional<wanted_list> list;
    bool relay = false;   // what stood between postal and bhm, from a ledger or two records
    std::string against;  // another ledger; empty: none

    std::string bundle;           // the archive to be written; empty: none
    std::string sign;             // a key
    bool with_ledgers = false;    // themselves, too
    std::string verify;           // a bundle, or a folder of results
    std::string allowed_signers;  // a file; a good signature of one of these is needed
    std::string signer;           // and of this one; empty: any

    // Of --ledger, and what stands behind it.
    std::vector<std::string> ledgers() const;
    // What goes to standard output beside the page.
    output printed() const noexcept;
};

// done when --help or --version was asked for and printed. A failure is one line that names the
// option; what only shows when all are known, such as two outputs that want the same place, is one.
base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words);

}  // namespace postal::report
