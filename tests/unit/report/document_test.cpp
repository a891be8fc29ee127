// SPDX-License-Identifier: GPL-3.0-or-later
// What text and Markdown make of each kind of block, and that nothing in it is an order to a
// terminal.
#include "report/document.hpp"

#include <catch2/catch.hpp>

#include "../hostile_text.hpp"

using namespace postal;
using namespace postal::report;

namespace {

table plain_table(const std::string& text) {
    return {"t", text, {{"name"}, {"value", align::right}}, {{text, "1"}}, text};
}

document of_everything(const std::string& text) {
    document made{text};
    made.add(statement{text});
    made.add(item{text});
    made.add(findings{.id = "f", .sentences = {text, text}});
    made.add_remarks({{"bad", text}, {"note", text}});
    made.add_tables({plain_table(text), {"empty", "nothing", {{"a"}}, {}}});
    made.add(result_card{text, "a minute", text, {{text, text}}, {{text, 3}}});
    made.add(lanes{text, {{text, text, "/min", text, 1, {{text, text}}}}});
    made.add(chart{"c", text, text});
    made.add(folded_text{text, text});
    document part{text};
    part.add(item{text});
    made.append(std::move(part));
    return made;
}

}  // namespace

TEST_CASE("document: what text is, and what Markdown is") {
    const document made = of_everything("a_b");
    CHECK(render_text(made) ==
          "a_b\n"
          "a_b\n"
          "a_b.\na_b.\n"
          "! a_b.\n! a_b.\n"
          "\na_b\n  name  value\n  a_b       1\n  (a_b)\n"
          "\na_b\n");
    CHECK(render_markdown(made) ==
          "# a\\_b\n\n"
          "a\\_b\n\n"
          "- a\\_b\n- **a\\_b.**\n- **a\\_b.**\n"
          "\n> **a\\_b.**\n"
          "\n> **a\\_b.**\n"
          "\n## a\\_b\n\n| name | value |\n| --- | ---: |\n| a\\_b | 1 |\n\na\\_b.\n"
          "\n## a\\_b\n\n- a\\_b\n");
}

TEST_CASE("document: no text in it is an order to whoever reads it") {
    const document made = of_everything(test::hostile_text);
    CHECK(test::harm_in(render_text(made)) == "");
    CHECK(test::harm_in_page(render_markdown(made)) == "");
}

TEST_CASE("table: has at most 80 columns, with titles and a text on several lines") {
    const std::string words =
        "one two three four five six seven eight nine ten eleven twelve thirteen";
    const table wide{"t",
                     "Title",
                     {{"name"}, {"many messages", align::right}, {"meaning"}},
                     {{"accepted", "1", words + " " + words}},
                     {}};
    CHECK(render_text(wide) ==
          "Title\n"
          "                many\n"
          "  name      messages  meaning\n"
          "  accepted         1  one two three four five six seven eight nine ten eleven\n"
          "                      twelve thirteen one two three four five six seven eight\n"
          "                      nine ten eleven twelve thirteen\n");
    const table narrow{"t", "Title", {{"name"}, {"many messages", align::right}}, {{"a", "1"}}, {}};
    CHECK(render_text(narrow) == "Title\n  name  many messages\n  a                 1\n");
}

TEST_CASE("table: columns that a terminal has no room for come below the others") {
    const table shown{
        "t",
        "Title",
        {{"phase"}, {"count", align::right}, {"mean", align::right}, {"p50", align::right}},
        {{"connect", "5", "87.8 µs", "81.4 µs"}, {"data", "12", "9 µs", "8 µs"}},
        {}};
    const std::string_view whole =
        "Title\n"
        "  phase    count     mean      p50\n"
        "  connect      5  87.8 µs  81.4 µs\n"
        "  data        12     9 µs     8 µs\n";
    CHECK(render_text(shown) == whole);
    CHECK(render_text(shown, 34) == whole);
    CHECK(render_text(shown, 33) ==
          "Title\n"
          "  phase    count     mean\n"
          "  connect      5  87.8 µs\n"
          "  data        12     9 µs\n"
          "  phase        p50\n"
          "  connect  81.4 µs\n"
          "  data        8 µs\n");
    // No less than one behind the first, however narrow it is.
    CHECK(render_text(shown, 1) ==
          "Title\n"
          "  phase    count\n"
          "  connect      5\n"
          "  data        12\n"
          "  phase       mean\n"
          "  connect  87.8 µs\n"
          "  data        9 µs\n"
          "  phase        p50\n"
          "  connect  81.4 µs\n"
          "  data        8 µs\n");
    document made{"D"};
    made.add_tables({shown});
    CHECK(render_text(made, 33) == "\n" + render_text(shown, 33));
    CHECK(render_text(made) == "\n" + render_text(shown));
}
