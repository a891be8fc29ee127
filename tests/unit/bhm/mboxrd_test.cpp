// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/mboxrd.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

TEST_CASE("mboxrd: lines that look like separators are quoted, split at every offset") {
    struct row {
        std::string text, wanted, reason;
    };
    const row rows[] = {
        {"A: b\n\nFrom x\n", "A: b\n\n>From x\n\n", "a line of the body"},
        {"From x\n", ">From x\n\n", "the first line"},
        {">From x\n>>From y\n", ">>From x\n>>>From y\n\n", "quoted before"},
        {" From x\n", " From x\n\n", "a blank before it"},
        {"From\nFromage\n> From x\n", "From\nFromage\n> From x\n\n", "nearly"},
        {"x From y\n", "x From y\n\n", "not at the beginning of a line"},
        {"From x", ">From x\n\n", "no line end"},
        {"Fro", "Fro\n\n", "held to the end"},
        {">>>", ">>>\n\n", "only marks"},
        {"", "\n", "nothing"},
        {"\n\n", "\n\n\n", "empty lines"},
    };
    for (const row& one : rows) {
        for (std::size_t split = 0; split <= one.text.size(); ++split) {
            CAPTURE(one.reason, split);
            std::string out;
            bhm::mboxrd_quoter quoter;
            quoter.feed(std::string_view(one.text).substr(0, split), out);
            quoter.feed(std::string_view(one.text).substr(split), out);
            quoter.finish(out);
            CHECK(out == one.wanted);
        }
    }
}

TEST_CASE("mboxrd: the separator is that of asctime(3)") {
    const std::chrono::system_clock::time_point when(std::chrono::seconds(1795208350));
    CHECK(bhm::mbox_separator("a@example.com", when) ==
          "From a@example.com Fri Nov 20 20:59:10 2026\n");
    CHECK(bhm::mbox_separator("", when).starts_with("From MAILER-DAEMON Fri "));
}
