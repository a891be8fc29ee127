// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/completion.hpp"

#include <catch2/catch.hpp>

using namespace postal;

namespace {

cli::program sample() {
    cli::option about{"--about", "[NAME]", "", "what a name means"};
    about.optional_value = true;
    about.known_values = {"timeout", "closed"};
    return {
        "sample-tool",
        "Has one row of each kind.",
        {{"Load",
          {{"-t,--sessions", "N", "1", "sessions [at once]"},
           {"--mode", "off|auto|NAME", "off", "the server's mode"},
           {"--format", "csv|jsonl", "csv", "how to print", {}, true},
           {"--record", "FILE", "", "write this"},
           {"--profile", "NAME|FILE", "", "a name or file", {}, false, nullptr, false, {"phone"}},
           {"--store", "DIR", "", "keep it here"},
           {"--queue", "SERVER[:DIRECTORY]", "", "ask", {}, true, nullptr, false, {"exim"}},
           {"--verify", "FILE|DIR", "", "look at it"},
           {"--ret", "notify=EVENTS,ret=full|hdrs", "", "a form of its own"},
           about}}},
        {{"SERVER", "where to"}, {"USER-LIST", "for whom", {}, false}}};
}

void check_contains(std::string_view shell, const std::vector<std::string>& wanted) {
    const auto script = cli::completion(sample(), shell);
    REQUIRE(script.has_value());
    for (const std::string& each : wanted)
        CHECK_THAT(*script, Catch::Contains(each));
    CHECK_THAT(*script, !Catch::Contains("(hdrs"));
    CHECK_THAT(*script, !Catch::Contains("\"hdrs"));
}

}  // namespace

TEST_CASE("completion: bash offers words, files and folders, and nothing for numbers") {
    check_contains(
        "bash",
        {"complete -o filenames -F _sample_tool sample-tool\n",
         "--mode) COMPREPLY=($(compgen -W \"off auto\" -- ", "-t|--sessions) :; return",
         "--record) COMPREPLY=($(compgen -f -- ", "--store) COMPREPLY=($(compgen -d -- ",
         "--profile) COMPREPLY=($(compgen -W \"phone\" -f -- ", "--ret) :; return",
         "--queue) COMPREPLY=($(compgen -W \"exim\" -- ", "--verify) COMPREPLY=($(compgen -f -- ",
         "--about) COMPREPLY=($(compgen -W \"timeout closed\" -- ", "--completion)"});
}

TEST_CASE("completion: zsh gets a specification for each name, with quotes and brackets escaped") {
    check_contains(
        "zsh", {"#compdef sample-tool\n", "'(-t --sessions)-t+[sessions \\[at once\\]]:N: '",
                "'(-t --sessions)--sessions=[sessions \\[at once\\]]:N: '",
                "'(--mode)--mode=[the server'\\''s mode]:off|auto|NAME:(off auto)'",
                "'*--format=[how to print]:csv|jsonl:(csv jsonl)'",
                "'(--record)--record=[write this]:FILE:_files'", ":DIR:_files -/'",
                "'(--about)--about=[what a name means]::[NAME]:(timeout closed)'", "':SERVER: '",
                "'::USER-LIST:_files'"});
}

TEST_CASE("completion: fish gets a line for each row") {
    check_contains("fish", {"complete -c sample-tool -s t -l sessions -x -d 'sessions [at once]'\n",
                            " -l mode -x -a 'off auto' -d 'the server\\'s mode'\n",
                            " -l record -r -F -d ", " -l profile -r -F -a 'phone' -d ",
                            " -l store -x -a '(__fish_complete_directories)' -d ", " -s h -d ",
                            " -l help -x -a 'all load general' -d "});
}

TEST_CASE("completion: another shell is refused") {
    const auto script = cli::completion(sample(), "csh");
    REQUIRE_FALSE(script.has_value());
    CHECK(script.error().message == "\"csh\" is not a shell known here; give bash, zsh or fish");
}
