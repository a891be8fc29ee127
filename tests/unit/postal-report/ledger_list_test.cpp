// SPDX-License-Identifier: GPL-3.0-or-later
// What is listed of a ledger, whatever texts somebody put into it.
#include "postal-report/ledger.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "../hostile_text.hpp"
#include "printed.hpp"

using namespace postal;

TEST_CASE("ledger: no text of a row or a run is an order to whoever reads the list") {
    const std::string& attack = test::hostile_text;
    ledger::discrepancy_row row;
    for (std::string* each : {&row.run, &row.session, &row.sequence, &row.sender, &row.recipient,
                              &row.outcome, &row.code, &row.enhanced, &row.ended, &row.mailbox,
                              &row.condition, &row.detail, &row.seen, &row.way, &row.octets}) {
        *each = attack;
    }
    report::ledger_report one;
    one.file = attack;
    ledger::run_row run;
    run.run = run.program = run.started = attack;
    one.found.runs = {run, run};
    const test::printed printed = test::printed_of(
        [&](report::medium wanted) { return document_of(one, wanted); }, sheet_of(one));
    CHECK(test::harm_in_page(printed.page) == "");
    for (const auto kind : {report::output::text, report::output::markdown, report::output::csv}) {
        const std::string list = report::render_discrepancy(row, kind);
        const std::string& whole = kind == report::output::text       ? printed.text
                                   : kind == report::output::markdown ? printed.markdown
                                                                      : printed.csv;
        INFO(list << whole);
        CHECK(test::harm_in(list + whole) == "");
        CHECK(list.find('\n') == list.size() - 1);
        if (kind == report::output::markdown) CHECK(test::harm_in_page(list + whole) == "");
    }
}
