// SPDX-License-Identifier: GPL-3.0-or-later
// --dry-run: what a run would do, said in its plan's own numbers on standard output. The plan is
// made as for a run, so that what a run refuses is refused, but for what names of servers stand
// for: they are not looked up unless --resolve asks for it. Nothing is connected to.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "client/load_plan.hpp"
#include "program/client_options.hpp"

namespace postal::program {

cli::option dry_run_option(bool& target);
cli::option resolve_option(bool& target);

// Fails for a file that a run could not write; pairs of an option and its file, which may be empty.
base::expected<void> check_files(
    std::initializer_list<std::pair<std::string_view, const std::string&>> files);
// Record and ledger: what a run would refuse at its beginning.
base::expected<void> check_reports(const client_options& chosen);
// Whether scrapers could ask there; a name is not looked up unless that is wanted.
base::expected<void> check_metrics(const client_options& chosen);

// "label   text" a line.
using dry_run_rows = std::vector<std::pair<std::string, std::string>>;
std::string format_rows(const dry_run_rows& rows);

// Each server with its addresses, the text at the first; `label` stands there alone.
void add_servers(dry_run_rows& to, std::string_view label,
                 const std::vector<client::target>& servers);
// TLS, logins, pace, start and end; `units` is what a rate counts, "messages", and `most` how many
// of them are an end.
struct counted_units {
    std::string_view units;
    std::string_view option;  // of `most`
    std::optional<std::uint64_t> most;
};
void add_load(dry_run_rows& to, const client::load_plan& plan, const client_options& chosen,
              const counted_units& counted);

}  // namespace postal::program
