// SPDX-License-Identifier: GPL-3.0-or-later
// What a page makes of a document, and of what it is put into.
#include "postal-report/page.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal;
using Catch::Contains;

TEST_CASE("page: values are put in once and never searched again") {
    CHECK(report::fill("a@X@b@Y@c@Z@", {{"X", "@Y@"}, {"Y", "2"}}) == "a@Y@b2c@Z@");
    CHECK(report::fill("@", {{"X", "1"}}) == "@");
    CHECK(report::fill("user@example.com @X", {{"X", "1"}}) == "user@example.com @X");
}

TEST_CASE("page: a missing chart library is said with its path and package") {
    const auto missing = report::read_chart_library("/nonexistent/chart.js");
    REQUIRE(missing.has_error());
    CHECK_THAT(missing.error().message, Contains("/nonexistent/chart.js"));
    CHECK_THAT(missing.error().message, Contains("libjs-chart.js"));
    CHECK(report::read_chart_library("/dev/null").has_error());
}

TEST_CASE("page: figures are JSON, too: numbers as such, texts without a spreadsheet's quotes") {
    using report::csv_cell;
    const report::sheet figures{{"text", "number", "none", "decimal", "not a number"},
                                {{csv_cell("a \"b\", c"), "12", "", "-0.5", csv_cell("007")},
                                 {csv_cell("</script>"), "0", "", "1.0", csv_cell("1e5")}}};
    CHECK(
        report::render_json(figures) ==
        R"([{"text":"a \u0022b\u0022, c","number":12,"none":null,"decimal":-0.5,"not a number":"007"},)"
        "\n"
        R"({"text":"\u003c/script>","number":0,"none":null,"decimal":1.0,"not a number":"1e5"}])"
        "\n");
    report::document made{"subject"};
    CHECK(render_page(made, {"/* Chart */", "abc"}).find(" download=") == std::string::npos);
    CHECK_THAT(render_page(made, {"/* Chart */", "abc", figures}),
               Contains("download=\"postal-report.json\""));
    const report::sheet large{{"a"}, {{std::string(300 * 1024, 'x')}}};
    const std::string page = render_page(made, {"/* Chart */", "abc", large});
    CHECK(page.find(" download=") == std::string::npos);
    CHECK_THAT(page, Contains("too large"));
}

TEST_CASE("page: blocks stand in their places, whatever the order in which they were added") {
    using namespace report;
    document made{"subject"};
    made.page = {.title = "<t>", .subtitle = {"one", "two"}, .kind = "kind", .footnote = "foot"};
    made.add_tables({{"late", "Late", {{"a"}}, {{"1"}}}}, place::folded);
    made.add(placed_table{{"top", "Top", {{"a"}}, {{"1"}}}, place::headline});
    made.add(remark{"bad", "first", true});
    made.add(remark{"note", "second"});
    made.add(
        findings{.id = "said", .sentences = std::vector<std::string>(12, "s"), .counts = false});
    made.add(chart{"chart-x", "Chart \"x\"", "caption", 9});
    made.add(statement{"not on a page"});
    const std::string page = render_page(made, {"/* Chart */", "abc"});
    std::size_t before = 0;
    for (const std::string part :
         {"<h1>&lt;t&gt;</h1>", "one<br>\ntwo", "remark bad loud", "remark note",
          "card verdicts voided several\" id=\"said\"", "2 more", "id=\"top\"", "charts kind",
          "Chart &quot;x&quot;", "height:9rem", "Late (1)", "id=\"late\"", "foot"}) {
        CAPTURE(part);
        const std::size_t at = page.find(part, before);
        CHECK(at != page.npos);
        before = at == page.npos ? before : at;
    }
    CHECK(page.find("class=\"remarks\"") == page.rfind("class=\"remarks\""));
    CHECK(page.find("not on a page") == page.npos);
    CHECK(page.find("/* Chart */") == page.npos);  // nothing draws
}
