// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment's file says, and what is refused in it.
#include "experiment/experiment.hpp"
#include "experiment/plan.hpp"
#include "experiment/run.hpp"
#include "experiment/variables.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace postal;
using namespace postal::experiment;
using namespace std::chrono_literals;

namespace {

const std::string some_load =
    "[[load.program]]\nargv = [\"postal\", \"-L\", \"127.0.0.1:24\", \"u\"]\n";

std::string why_not(const std::string& text, const overrides& set = {}) {
    const auto parsed = parse_experiment(text, "e.toml", set);
    return parsed ? "accepted" : parsed.error().message;
}

}  // namespace

TEST_CASE("experiment: the shortest one has the documented defaults") {
    const auto one = parse_experiment(some_load + "[[variant]]\nname = \"a\"\n", "e.toml").value();
    CHECK(one.offered.duration == 5min);
    CHECK(one.offered.warmup == 30s);
    CHECK(one.offered.blocks == 6);
    CHECK_FALSE(one.offered.seed.has_value());
    CHECK(one.verdict.about == metric::messages);
    CHECK(one.verdict.margin == Approx(0.02));
    CHECK(one.verdict.confidence == Approx(0.95));
    CHECK_FALSE(one.variants.at(0).on.wanted);
    CHECK(one.offered.programs.at(0).name == "postal");
}

TEST_CASE("experiment: a variant has what all have, and what it says itself") {
    const auto one = parse_experiment(some_load + R"(
[variables]
options = "defaults"
make_options = []
[storage]
make = ["mkfs.ext4", "-q", "${make_options}", "${device}"]
type = "ext4"
options = "${options}"
[server]
start = [["dovecot", "-F"]]
ready = "127.0.0.1:24"
start_limit = "5s"
[[variant]]
name = "default"
[[variant]]
name = "default again"
same_as = "default"
[[variant]]
name = "no barrier"
variables = { options = "barrier=0", make_options = ["-O", "^has_journal"] }
setup = [["true"]]
[variant.storage]
type = "ext3"
)",
                                      "e.toml")
                         .value();
    REQUIRE(one.variants.size() == 3);
    CHECK(one.variants[1].same_as == 0);
    CHECK(one.variants[1].on.type == "ext4");
    CHECK(one.variants[2].on.type == "ext3");
    CHECK(one.variants[2].on.options == "${options}");
    CHECK(one.variants[2].setup.at(0).words == std::vector<std::string>{"true"});
    CHECK(expand(one.variants[2].on.options, one.variants[2].values).value() == "barrier=0");
    auto values = one.variants[2].values;
    values["device"] = {"/dev/loop7"};
    CHECK(expand(one.variants[2].on.make.words, values).value() ==
          std::vector<std::string>{"mkfs.ext4", "-q", "-O", "^has_journal", "/dev/loop7"});
    CHECK(one.variants[0].of.start_limit == 5s);
    CHECK(one.variants[0].of.ready == std::vector<std::string>{"127.0.0.1:24"});
}

TEST_CASE("experiment: lists of endpoints and devices take variables of any number of words") {
    CHECK(why_not(some_load + R"(
[variables]
disks = []
ports = ["127.0.0.1:24", "127.0.0.1:25"]
[costs]
devices = ["${disks}"]
[server]
ready = ["${ports}"]
[[variant]]
name = "a"
)") == "accepted");
}

TEST_CASE("experiment: with a ledger its programs share one, and readers that watch stay longer") {
    const std::string programs =
        "[[load.program]]\nargv = [\"postal\", \"127.0.0.1:24\", \"u\"]\n"
        "[[load.program]]\nname = \"waits\"\nargv = [\"rabid\", \"--watch\", \"1m\", \"h\", "
        "\"u\"]\n"
        "[[load.program]]\nname = \"reads\"\nargv = [\"rabid\", \"--watch-by\", \"h\", \"u\"]\n"
        "[[variant]]\nname = \"a\"\n";
    const auto one = parse_experiment(
                         "[load]\nduration = \"1m\"\nwarmup = \"5s\"\nledger = true\n"
                         "linger = \"20s\"\n" +
                             programs,
                         "e.toml")
                         .value();
    const auto words = [&](std::size_t program) { return timed(one.offered, program, "/run"); };
    const std::vector<std::string> both{"--warmup", "5s", "--ledger", "/run/mail.ledger"};
    const auto lasting = [&](const char* duration) {
        std::vector<std::string> all{"--duration", duration};
        all.insert(all.end(), both.begin(), both.end());
        return all;
    };
    CHECK(words(0) == lasting("1m"));
    CHECK(words(1) == lasting("1m20s"));
    CHECK(words(2) == lasting("1m"));
    CHECK(parse_experiment("[load]\nledger = true\n" + programs, "e.toml").value().offered.linger ==
          10s);
    struct row {
        std::string text;
        std::string why;
    };
    for (const auto& [text, why] : std::vector<row>{
             {"[load]\nlinger = \"5s\"\n" + programs,
              "e.toml:2: linger: means nothing without ledger = true"},
             {"[load]\nledger = true\nlinger = \"2h\"\n" + programs,
              "e.toml:3: linger: want 0s to 1h"},
             {"[load]\nledger = true\n" + some_load + "[[variant]]\nname = \"a\"\n",
              "e.toml:2: ledger: wants a program of postal that sends, and one of rabid with "
              "--watch"},
             {"[capacity]\n[load]\nledger = true\n" + some_load + "[[variant]]\nname = \"a\"\n",
              "e.toml:3: ledger: is for runs at one rate, and a search has many"},
             {"[load]\nledger = true\n[[load.program]]\nname = \"x\"\nargv = [\"postal\", "
              "\"--ledger=x\", \"h\", "
              "\"u\"]\n" +
                  programs,
              "e.toml:5: argv: --ledger is decided by [load], which has ledger = true"}}) {
        INFO(text);
        CHECK(why_not(text).substr(0, why.size()) == why);
    }
}

TEST_CASE("experiment: with [capacity] its load searches, and what it finds is compared") {
    const std::string rest = some_load + "[[variant]]\nname = \"a\"\n";
    const auto plain = parse_experiment("[capacity]\n" + rest, "e.toml").value();
    CHECK(plain.verdict.about == metric::capacity);
    CHECK(timed(plain.offered) == std::vector<std::string>{"--duration", "15m", "--find-rate"});
    const auto full = parse_experiment(
                          "[load]\nduration = \"5m\"\nwarmup = \"0s\"\n[capacity]\n"
                          "goal = [\"p99(message)<1s\", \"errors<0.1%\"]\ngoal_set = \"quick\"\n"
                          "width = \"0.5%\"\nmost_rate = \"900/s\"\n[verdict]\n"
                          "metric = \"capacity\"\n" +
                              rest,
                          "e.toml")
                          .value();
    CHECK(timed(full.offered) ==
          std::vector<std::string>{"--duration", "5m", "--find-rate", "--goal", "p99(message)<1s",
                                   "--goal", "errors<0.1%", "--goal-set", "quick", "--width",
                                   "0.5%", "--most-rate", "900/s"});

    struct row {
        std::string text;
        std::string why;
    };
    const std::string head = "[capacity]\n";
    const row rows[]{
        {head + "goals = []\n" + rest,
         "e.toml:2: goals is no key of [capacity]; did you mean goal?"},
        {head + "goal = [\"\"]\n" + rest, "e.toml:2: goal: is empty; want a promise"},
        {head + "goal_set = \"fast\"\n" + rest,
         "e.toml:2: goal_set: \"fast\" is none; there are quick, standard, rfc2544"},
        {head + "width = \"0.01%\"\n" + rest, "e.toml:2: width: want 0.1% to 100%"},
        {head + "goal = [\"p99(message)<1s;final=2m\"]\n" + rest,
         "e.toml:2: goal: p99(message)<1s: sum: 1m are too few for one final trial of 2m"},
        {head + "goal = [\"mean(message)<1s\"]\n" + rest,
         "e.toml:2: goal: mean(message)<1s: a goal says which share of the messages"},
        {head + "goal = [\"p99(session)<1s\"]\n" + rest, "e.toml:2: goal: "},
        {head + "goal = [\"p99(message)<1s\"]\ngoal_set = \"rfc2544\"\n" + rest,
         "e.toml:2: goal: p99(message)<1s: the goals of rfc2544 allow no loss"},
        {head + "goal = [\"p99(message)<1s\"]\n[[load.program]]\nargv = [\"rabid\"]\n"
                "[[variant]]\nname = \"a\"\n",
         "e.toml:2: goal: "},
        {head + "goal = [\"corrupt<1%\"]\n" + rest,
         "e.toml:2: goal: 'corrupt' is not counted message by message"},
        {head + "most_rate = \"many\"\n" + rest, "e.toml:2: most_rate: "},
        {head + "[load]\nwarmup = \"5s\"\n" + rest,
         "e.toml:3: warmup: a search has none, for each of its trials settles first"},
        {head + "[verdict]\nmetric = \"p99\"\n" + rest,
         "e.toml:3: metric: a search, which [capacity] asks for, is judged by capacity alone"},
        {"[verdict]\nmetric = \"capacity\"\n" + rest,
         "e.toml:2: metric: capacity is found by a search; write [capacity]"},
        {head + some_load + "name = \"b\"\n" + rest,
         "e.toml:1: beside: one program searches; each other [[load.program]] has its part in a "
         "[[capacity.beside]]"},
        {head + some_load + "launcher = [\"mpirun\"]\n[[variant]]\nname = \"a\"\n",
         "e.toml:4: launcher: one process searches, as [capacity] asks for"},
        {"[[load.program]]\nargv = [\"postal\", \"--find-rate\"]\n[[variant]]\nname = \"a\"\n",
         "e.toml:2: argv: --find-rate is decided by the experiment; see [capacity]"},
        {head + "[[load.program]]\nargv = [\"postal\", \"--stages=1/s@1s\"]\n"
                "[[variant]]\nname = \"a\"\n",
         "e.toml:3: argv: --stages has no meaning in a search, which [capacity] asks for"},
    };
    for (const row& one : rows) {
        INFO(one.text);
        CHECK(why_not(one.text).substr(0, one.why.size()) == one.why);
    }
}

TEST_CASE(
    "experiment: beside the program that searches others have a part, each with its promise") {
    const std::string loads =
        "[[load.program]]\nname = \"reading\"\nargv = [\"rabid\"]\n"
        "[[load.program]]\nname = \"delivery\"\nargv = [\"postal\"]\n";
    const std::string rest = "[[variant]]\nname = \"a\"\n";
    const std::string beside = "[[capacity.beside]]\nprogram = \"reading\"\n";
    const auto full =
        parse_experiment(
            loads + "[capacity]\ngoal = [\"p99(message)<1s\"]\ngoal_set = \"quick\"\n" + beside +
                "goal = [\"p99(session)<2s\", \"errors<1%\"]\nshare = \"20%\"\n" + rest,
            "e.toml")
            .value();
    CHECK(full.offered.search->program == 1);
    CHECK(full.verdict.program == 1);
    using words = std::vector<std::string>;
    CHECK(timed(full.offered, 1, "/run") == words{"--duration", "15m", "--find-rate", "--goal",
                                                  "p99(message)<1s", "--goal-set", "quick",
                                                  "--search-socket", "/run/reading.search"});
    CHECK(timed(full.offered, 0, "/run") == words{"--join-search", "/run/reading.search", "--goal",
                                                  "p99(session)<2s", "--goal", "errors<1%",
                                                  "--goal-set", "quick", "--search-share", "20%"});

    struct row {
        std::string text;
        std::string why;
    };
    const std::string head = "[capacity]\n";
    const row rows[]{
        {head + "[[capacity.beside]]\nprogram = \"writing\"\n" + loads + rest,
         "e.toml:3: program: no [[load.program]] is called \"writing\""},
        {head + "[[capacity.beside]]\nshare = \"1%\"\n" + loads + rest,
         "e.toml:2: program: no [[load.program]] is called \"\""},
        {head + beside + "share = \"some\"\n" + loads + rest,
         "e.toml:4: share: \"some\" is no share of a load; give 0.01% to 10000%, such as 20%"},
        {head + beside + "goal = [\"p99(message)<1s\"]\n" + loads + rest, "e.toml:4: goal: "},
        {head + beside + "goal = [\"mean(session)<1s\"]\n" + loads + rest,
         "e.toml:4: goal: mean(session)<1s: a goal says which share"},
        {head + beside + "goals = []\n" + loads + rest,
         "e.toml:4: goals is no key of [[beside]]; did you mean goal?"},
        {head + beside + beside + loads + rest, "e.toml:5: program: reading is there twice"},
        {head + beside + "[[capacity.beside]]\nprogram = \"delivery\"\n" + loads + rest,
         "e.toml:2: beside: leaves no program that searches"},
        {head + loads + rest, "e.toml:1: beside: one program searches; each other"},
        {head + beside +
             "[[load.program]]\nname = \"reading\"\nargv = [\"rabid\", \"--rate=5/s\"]\n" +
             some_load + rest,
         "e.toml:3: program: reading has --rate=5/s, and its rate is a share of the load"},
        {head + beside + "[verdict]\nprogram = \"reading\"\n" + loads + rest,
         "e.toml:5: program: the capacity is delivery's, which searches"},
        {"[[load.program]]\nargv = [\"rabid\", \"--join-search\", \"x\"]\n" + rest,
         "e.toml:2: argv: --join-search is decided by the experiment; see [capacity]"},
    };
    for (const row& one : rows) {
        INFO(one.text);
        CHECK(why_not(one.text).substr(0, one.why.size()) == one.why);
    }
}

TEST_CASE("experiment: what is wrong is named with its line") {
    const std::string variant = "[[variant]]\nname = \"a\"\n";
    struct row {
        std::string text;
        std::string why;
    };
    const row rows[]{
        {variant, "e.toml:1: load: is missing: what is measured with"},
        {some_load, "e.toml:1: variant: is missing: what is compared"},
        {some_load + variant + "nmae = \"b\"\n",
         "e.toml:5: nmae is no key of [[variant]]; did you mean name?"},
        {some_load + variant + variant,
         "e.toml:6: name: the variant in line 3 is called \"a\", too"},
        {some_load + variant + "setup = [\"true\"]\n",
         "e.toml:5: setup must be a list of texts, such as [\"mkfs.ext4\", \"-q\"]"},
        {some_load + variant + "setup = \"true\"\n",
         "e.toml:5: setup must be a list of commands, each a list of texts: [[\"mkdir\", \"x\"]]"},
        {some_load + variant + "setup = [[]]\n", "e.toml:5: setup names no program"},
        {some_load + variant + "setup = [[\"mkdir\", \"${mnt}\"]]\n",
         "e.toml:5: ${mnt} has no value; did you mean mount?"},
        {some_load + variant + "same_as = \"b\"\n",
         "e.toml:5: same_as: no variant above is called \"b\""},
        {some_load + variant + "variables = { x = \"1\" }\n",
         "e.toml:5: x: is none of the experiment's variables; give it a value in [variables]"},
        {"[variables]\nrun = \"x\"\n" + some_load + variant,
         "e.toml:2: run: is given by the program itself"},
        {"[variables]\na = \"${b}\"\nb = \"${a}\"\n" + some_load + variant +
             "setup = [[\"${a}\"]]\n",
         "e.toml:8: ${a} comes back to itself"},
        {"[load]\nduration = \"30s\"\n" + some_load + variant,
         "e.toml:1: warmup: is no shorter than the duration, of which it is a part"},
        {"[load]\nduration = \"30\"\n" + some_load + variant, "e.toml:2: duration: "},
        {"[load]\nblocks = 0\n" + some_load + variant, "e.toml:2: blocks: want 1 to 1000"},
        {"[[load.program]]\nargv = [\"swaks\"]\n" + variant,
         "e.toml:2: argv: \"swaks\" is neither postal nor rabid"},
        {"[[load.program]]\nargv = [\"postal\", \"--record=x\"]\n" + variant,
         "e.toml:2: argv: --record is decided by the experiment"},
        {some_load + "launcher = \"mpirun\"\n" + variant, "e.toml:3: launcher must be"},
        {some_load + "launcher = []\n" + variant, "e.toml:3: launcher names no program"},
        {some_load + some_load + variant, "e.toml:3: name: two programs are called postal"},
        {some_load + variant + "[verdict]\nmetric = \"speed\"\n",
         "e.toml:6: metric: \"speed\" is no metric; there are messages, p50, p99, cpu, written, "
         "flushes"},
        {some_load + variant + "[verdict]\nmargin = \"2\"\n",
         "e.toml:6: margin: \"2\" is no share; write it as \"2%\""},
        {some_load + variant + "[verdict]\nsize = \"messages\"\n",
         "e.toml:3: [verdict] size is \"messages\", and that of "},
        {some_load + "[verdict]\nsize = \"n\"\n[variables]\nn = \"10\"\n" + variant,
         "e.toml:7: [verdict] size is the same in all variants; give at least two"},
        {some_load + variant + "[storage]\ntype = \"ext4\"\n",
         "e.toml:5: [storage] has no make: the command that makes the file system"},
        {some_load + variant +
             "[variables]\ndisk = \"/dev/sdb\"\n[storage]\ntype = \"ext4\"\nmake = "
             "[\"mkfs.ext4\", \"-F\", \"-L\", \"device\", \"${disk}\"]\n",
         "e.toml:9: make does not name ${device}, the only device that is looked at before"},
        {some_load + "[storage]\ntype = \"ext4\"\nmake = [\"mkfs.ext4\"]\nsize = 5\n" + variant,
         "e.toml:6: size must be a text in quotes"},
        {some_load + variant + "[costs]\ndevices = [\"${disks}\"]\n",
         "e.toml:5: ${disks} has no value; give it in [variables]"},
        {some_load + variant + "[[file]]\ntext = \"x\"\n", "e.toml:5: path: is missing"},
        {"variant = 3\n" + some_load, "e.toml:1: variant is a list of tables: write [[variant]]"},
        {"x = [\n", "e.toml:"},
    };
    for (const row& one : rows) {
        INFO(one.text);
        CHECK(why_not(one.text).substr(0, one.why.size()) == one.why);
    }
}

TEST_CASE("experiment: --set changes a variable, and only one that there is") {
    const std::string text = "[variables]\ndisk = \"\"\n" + some_load +
                             "[[variant]]\nname = \"a\"\nsetup = [[\"x${disk}\"]]\n";
    const auto one = parse_experiment(text, "e.toml", {{"disk", "/dev/sdb"}}).value();
    CHECK(expand(one.variants[0].setup[0].words, one.variants[0].values).value() ==
          std::vector<std::string>{"x/dev/sdb"});
    CHECK(why_not(text, {{"dsk", "x"}}) ==
          "--set dsk: e.toml has no such variable; they stand in its [variables]");
}

TEST_CASE("variables: words, texts and escapes") {
    const variables values{{"a", {"1"}}, {"two", {"x", "y"}}, {"none", {}}, {"deep", {"<${a}>"}}};
    CHECK(expand("${a}-${deep}", values).value() == "1-<1>");
    CHECK(expand("$${a} $a ${a}", values).value() == "${a} $a 1");
    CHECK(expand(std::vector<std::string>{"${two}", "${none}", "z${a}"}, values).value() ==
          std::vector<std::string>{"x", "y", "z1"});
    CHECK_FALSE(expand("x${two}", values).has_value());
    CHECK_FALSE(expand("${a", values).has_value());
    CHECK_FALSE(expand("${}", values).has_value());
}

TEST_CASE("variables: what values hold of other values is bounded") {
    // Each one holds the next twice: the first would be half a million words, or none as often.
    variables values;
    for (char name = 'a'; name < 't'; ++name) {
        const std::string next = "${" + std::string(1, static_cast<char>(name + 1)) + "}";
        values[std::string(1, name)] = {next, next};
    }
    values["t"] = {"x"};
    const auto refused = expand(std::vector<std::string>{"${a}"}, values);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("makes more than 256.0 KiB of values in values") !=
          std::string::npos);
    CHECK(expand(std::vector<std::string>{"${m}"}, values)->size() == 128);
    values["t"] = {};
    CHECK_FALSE(expand(std::vector<std::string>{"${a}"}, values).has_value());
}

TEST_CASE("plan: each block runs every variant once, in an order of its own that can be repeated") {
    std::set<std::vector<std::size_t>> orders;
    for (std::uint64_t block = 1; block <= 50; ++block) {
        const auto runs = runs_of_block(7, block, 4);
        CHECK(runs == runs_of_block(7, block, 4));
        std::vector<std::size_t> order;
        for (const planned_run& one : runs)
            order.push_back(one.variant);
        orders.insert(order);
        std::sort(order.begin(), order.end());
        CHECK(order == std::vector<std::size_t>{0, 1, 2, 3});
    }
    CHECK(orders.size() > 15);  // of 24
}

TEST_CASE("plan: a run's folder is named after block, position and variant") {
    experiment::experiment whole;
    whole.variants.push_back({.name = "ext4: barrier=0/x"});
    CHECK(folder_of({3, 0, 0}, whole) == "b03-1-ext4__barrier=0_x");
}
