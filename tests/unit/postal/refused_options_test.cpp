// SPDX-License-Identifier: GPL-3.0-or-later
#include "../refused_options.hpp"
#include "../temporary_file.hpp"
#include "postal/options.hpp"
#include "postal/plan.hpp"

using namespace postal;
using namespace postal::sender;
using refused_options::words;

namespace {

std::string refusal_at(const std::string& server, words given) {
    const test::temporary_file users("a@example.com\nb@example.com\n");
    given.insert(given.begin(), {"--messages", "1"});
    given.insert(given.end(), {server, users.path()});
    const auto plan = [](sender::options chosen) { return sender::make_plan(std::move(chosen)); };
    return refused_options::refusal<sender::options>(sender::parse_options, plan, given);
}

std::string refusal(const words& given) {
    return refusal_at("127.0.0.1:1", given);
}

}  // namespace

TEST_CASE("postal refuses: nothing of what can be") {
    CHECK(refusal({}) == "");
}

TEST_CASE("postal refuses: options that cannot be") {
    const std::vector<refused_options::row> table = {
        {{"-M", "20", "-m", "10"}, {"20", "10"}},
        {{"-m", "20", "--size", "fixed:5K"}, {"--max-size", "--size is in place of it"}},
        {{"-M", "1", "--size", "fixed:5K"}, {"--min-size", "leave one of the two out"}},
        {{"--size", "fixed"}, {"\"fixed\" has no size; give fixed:5K"}},
        {{"--size", "uniform:1K"}, {"\"uniform:1K\" has too", "give uniform:1K,10K"}},
        {{"--timeout", "0s"}, {"0s leaves no time; give more than 0s"}},
        {{"--log-format", "xml"}, {"give csv, jsonl or extended"}},
        {{"--threshold", "max(queue)<5"}, {"nothing is sampled"}},
        {{"-r", "0"}, {"rate"}},
        {{"--rate", "0/s"}, {"rate"}},
        {{"--rate", "-5/s"}, {"rate"}},
        {{"--rate", "ten"}, {"ten"}},
        {{"--open-loop"}, {"rate"}},
        {{"--duration", "1 fortnight"}, {"duration"}},
        {{"--interval", "0s"}, {"interval"}},
        {{"-t", "0"}, {"0"}},
        {{"-t", "many"}, {"many"}},
        {{"--sessions-total", "0"}, {"--sessions-total", "0"}},
        {{"--sessions-total", "4", "-t", "2"}, {"--sessions-total", "--sessions"}},
        {{"--sessions-total", "1000001"}, {"--sessions-total", "1000000"}},
        {{"--start-at", "noon"}, {"--start-at", "noon", "12:00"}},
        {{"--start-at", "2020-01-01T00:00:00Z"}, {"--start-at", "is over"}},
        {{"--start-at", "2999-01-01T00:00:00Z"}, {"--start-at", "a day ahead"}},
        {{"-c", "-2"}, {"-2"}},
        {{"--recipients", "0"}, {"recipients"}},
        {{"--recipients", "3..1"}, {"recipients"}},
        {{"--size", "gauss:1,2"}, {"gauss"}},
        {{"--size", "histogram:/nowhere"}, {"/nowhere"}},
        {{"--body", "martian"}, {"martian"}},
        {{"--body", "ascii=0"}, {"ascii"}},
        {{"--digest", "crc32"}, {"crc32"}},
        {{"--pipelining", "perhaps"}, {"perhaps"}},
        {{"--arrival", "sometimes", "--open-loop", "--rate", "1/s"}, {"sometimes"}},
        {{"--stages", "100/s"}, {"stages"}},
        {{"--stages", "100/s@0s"}, {"stages"}},
        {{"--threshold", "p99(nothing)<1s"}, {"nothing"}},
        {{"--threshold", "p99(message)"}, {"p99(message)"}},
        {{"-b", "mosaic"}, {"mosaic"}},
        {{"-s", "101"}, {"101"}},
        {{"--in-flight", "0"}, {"in-flight"}},
        {{"--in-flight", "4"}, {"in-flight", "chunking"}},
        {{"--in-flight", "4", "--chunking", "auto", "--pipelining", "off"},
         {"in-flight", "overlap"}},
        {{"--dsn", "always"}, {"--dsn", "always"}},
        {{"--dsn", "notify=never+delay"}, {"never+delay"}},
        {{"--mail-parameter", "A B"}, {"--mail-parameter", "A B"}},
        {{"--mail-parameter", "A=1", "--mail-parameter", "a=2"}, {"--mail-parameter", "twice"}},
        {{"--rcpt-parameter", "=1"}, {"--rcpt-parameter"}},
        {{"--dsn", "ret=full", "--mail-parameter", "ENVID=1"},
         {"--mail-parameter", "ENVID", "--dsn"}},
        {{"--corpus", "/tmp", "--size", "fixed:1K"}, {"corpus"}},
        {{"--messages", "0"}, {"messages"}},
        {{"--workers", "0"}, {"workers"}},
        {{"--log-format", "xml"}, {"xml"}},
        {{"-l", "198.51.100.77"}, {"198.51.100.77"}},
        {{"-l", "127.0.0.1,2001:db8::77"}, {"2001:db8::77"}},
        {{"-f", "/nowhere/senders"}, {"/nowhere/senders"}},
        {{"-z", "/nowhere/log"}, {"/nowhere/log"}},
    };
    refused_options::check(table, refusal);
}

TEST_CASE("postal refuses: options about TLS that cannot be") {
    refused_options::check(refused_options::for_clients(refused_options::tls_of_all()), refusal);
    refused_options::check(refused_options::tls_of_clients(), refusal);
}

TEST_CASE("postal refuses: servers that cannot be") {
    const words servers = {
        "",      "127.0.0.1:99999", "127.0.0.1:port", "[::1:25",
        "unix:", "127.0.0.1,",      "[127.0.0.1]x",   "unix:/" + std::string(200, 'x')};
    for (const std::string& server : servers) {
        CAPTURE(server);
        CHECK(refusal_at(server, {}) != "");
    }
}

TEST_CASE("postal refuses: users who are given twice or not at all, and fields that cannot be") {
    const std::vector<refused_options::row> table = {
        {{"--to", "c@example.com"}, {"--to", "USER-LIST"}},
        {{"--to", "a b"}, {"--to", "blank"}},
        {{"--from", "<c@example.com>"}, {"--from", "angle bracket"}},
        {{"--from", "c@example.com", "-f", "/nowhere"}, {"--from", "--sender-list"}},
        {{"--from", "c@example.com", "--auth", "PLAIN"}, {"--auth", "--from", "--auth-users"}},
        {{"-f", "-", "--auth", "PLAIN", "--auth-users", "-"}, {"--auth-users", "--sender-list"}},
        {{"--header", "no colon"}, {"--header", "colon"}},
        {{"--header", "Date: today"}, {"--header", "Date"}},
        {{"--header", "Content-Type: text/html", "--body", "8bit"}, {"--header", "8bit"}},
        {{"--header", "MIME-Version: 1.0", "--body", "multipart"}, {"--header", "multipart"}},
        {{"--subject", "a\nb"}, {"--subject", "0x0a"}},
        {{"--subject", "x", "--corpus", "/nowhere"}, {"--subject", "--corpus"}}};
    refused_options::check(table, refusal);
    words many;
    for (int i = 0; i < 34; ++i) {
        many.push_back("--header");
        many.push_back("X: " + std::string(990, 'x'));
    }
    CHECK_THAT(refusal(many), Catch::Contains("--header") && Catch::Contains("at most 32.0 KiB"));
}

TEST_CASE("postal: addresses may stand on the command line in place of a list") {
    const auto planned = [](const words& given) {
        sender::options chosen;
        REQUIRE(sender::parse_options(chosen, given).has_value());
        auto made = sender::make_plan(std::move(chosen));
        REQUIRE(made.has_value());
        return std::move(*made);
    };
    const auto both = planned({"--from", "a@example.com", "--to", "b@example.com", "--to",
                               "c@example.com", "--recipients", "2", "127.0.0.1:1"});
    CHECK(both->senders.size() == 1);
    CHECK(both->senders[0].address == "a@example.com");
    CHECK(both->recipients.size() == 2);
    const auto alone = planned({"--to", "b@example.com", "127.0.0.1:1"});
    CHECK(alone->senders[0].address == "b@example.com");
    sender::options chosen;
    const auto none = sender::parse_options(chosen, {"127.0.0.1:1"});
    REQUIRE_FALSE(none.has_value());
    CHECK_THAT(none.error().message, Catch::StartsWith("USER-LIST is missing"));
}
