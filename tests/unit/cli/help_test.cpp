// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/help.hpp"

#include "cli/binders.hpp"
#include "cli/rows.hpp"
#include "cli/run_options.hpp"

#include <catch2/catch.hpp>

#include <sched.h>

#include <sstream>
#include <string>

using namespace postal;

namespace {

cli::program sample(cli::run_options& options) {
    return {"sample-tool",
            "Shows how a page of help looks.",
            {{"Load",
              {{"-t,--sessions", "N", "1", "sessions kept open at once"},
               {"--a-very-long-name-indeed", "SOMETHING-LONG", "", "has no room beside its name"},
               {"--body", "KIND", "ascii", std::string(30, 'x') + ' ' + std::string(30, 'y')},
               {"-L,--lmtp", "", "", "LMTP instead of SMTP"}}},
             cli::run_options_group(options)},
            {{"SERVER", "where to"}, {"USER-LIST", "for whom", {}, false}},
            "Notes stand at the end."};
}

}  // namespace

TEST_CASE("help: fits the page, with names in one column and explanations in another") {
    cli::run_options options;
    for (const std::size_t width : {60, 80, 100}) {
        std::istringstream lines(cli::help_text(sample(options), width));
        for (std::string line; std::getline(lines, line);) {
            INFO(line);
            CHECK(line.size() <= width);
            CHECK_FALSE(line.ends_with(' '));
        }
    }
    const std::string text = cli::help_text(sample(options), 100);
    CHECK_THAT(text, Catch::StartsWith("Usage: sample-tool [OPTION]... SERVER [USER-LIST]\n"
                                       "Shows how a page of help looks.\n"));
    CHECK_THAT(text, Catch::EndsWith("\nNotes stand at the end.\n"));
    for (const char* wanted :
         {"\nLoad:\n", "\nRun and report:\n", "\nGeneral:\n", "  -t, --sessions N ",
          "      --body KIND ", "  -L, --lmtp ", "[default: 1]", "  -h ", "      --help [GROUP]"}) {
        CHECK_THAT(text, Catch::Contains(wanted));
    }
    CHECK_THAT(text, Catch::Contains("--completion bash|zsh|fish"));
    const auto column_of = [&](const std::string& explanation) {
        const auto at = text.find(explanation);
        REQUIRE(at != std::string::npos);
        return at - text.rfind('\n', at);
    };
    CHECK(column_of("sessions kept open") == column_of("has no room"));
    CHECK(column_of("sessions kept open") == column_of("LMTP instead"));
    CHECK(column_of("sessions kept open") == column_of("where to"));
}

TEST_CASE("help: of one group, and what most runs need") {
    cli::run_options options;
    cli::program shown = sample(options);
    CHECK(cli::help_words(shown) == std::vector<std::string>{"all", "load", "run", "general"});
    const std::string load = cli::help_text(shown, 80, "load");
    CHECK_THAT(load, Catch::StartsWith("Load:\n"));
    CHECK_THAT(load, !Catch::Contains("General:") && !Catch::Contains("Notes"));

    CHECK(cli::short_help_text(shown, 80) == cli::help_text(shown, 80));  // nothing was chosen
    shown.groups.front().options.push_back(
        {"--pace", "RATE", "5/s",
         "how fast; a second sentence that does not fit beside the first"});
    shown.usual = {"--sessions", "--pace"};
    CHECK(cli::short_help_text(shown, 60) ==
          "Usage: sample-tool [OPTION]... SERVER [USER-LIST]\n"
          "Shows how a page of help looks.\n\n"
          "  SERVER            where to\n"
          "  USER-LIST         for whom\n\n"
          "Most runs need:\n"
          "  -t, --sessions N  sessions kept open at once\n"
          "      --pace RATE   how fast\n\n"
          "All options: --help; of one group: --help with load, run,\n"
          "general. Explained: man sample-tool.\n");
}

TEST_CASE(
    "help: a default in one piece goes to the next line, a list that is too long is cut at a "
    "comma") {
    const cli::program shown{
        "tool",
        "Text.",
        {{"Load",
          {{"--a", "N", "a,b c", "x"},
           {"--b", "N", std::string(30, 'x') + "," + std::string(30, 'y'), "limits"}}}}};
    std::istringstream lines(cli::help_text(shown, 60));
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 60);
    }
    CHECK_THAT(cli::help_text(shown, 60), Catch::Contains("[default: a,b c]"));
}

TEST_CASE("run_options: there are as many workers as processors that this process may use") {
    cpu_set_t before;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    int first = 0;
    while (!CPU_ISSET(first, &before))
        ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(cli::run_options{}.workers == 1);
    REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK(cli::run_options{}.workers == static_cast<unsigned>(CPU_COUNT(&before)));
}

TEST_CASE("run_options: what only shows when all are known is checked") {
    using namespace std::chrono_literals;
    cli::run_options options;
    CHECK(cli::check(options).has_value());
    options.warmup = 10s;
    CHECK(cli::check(options).has_value());
    options.duration = 10s;
    CHECK_FALSE(cli::check(options).has_value());
    options.duration = 20s;
    CHECK(cli::check(options).has_value());
    options.align_minutes = true;
    CHECK(cli::check(options).has_value());
    options.interval = 90s;
    CHECK_FALSE(cli::check(options).has_value());
    CHECK(options.workers >= 1);
}

TEST_CASE("run_options: a threshold that the program does not know is refused") {
    cli::run_options options;
    const auto check = [](const std::string& given) {
        return given == "good" ? base::expected<void>{} : base::fail("bad");
    };
    const auto rows = cli::run_options_group(options, {check, "p99(retrieve)<1s"});
    for (const auto& row : rows.options) {
        if (row.names != "--threshold") continue;
        CHECK(row.help.find("\"p99(retrieve)<1s\"") != std::string::npos);
        CHECK(row.set("good").has_value());
        CHECK_FALSE(row.set("other").has_value());
    }
    CHECK(options.thresholds == std::vector<std::string>{"good"});
}
