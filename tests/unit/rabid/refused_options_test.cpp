// SPDX-License-Identifier: GPL-3.0-or-later
#include "../refused_options.hpp"
#include "../temporary_file.hpp"
#include "rabid/options.hpp"
#include "rabid/plan.hpp"

#include <algorithm>

using namespace postal;
using refused_options::words;

namespace {

std::string refusal_at(const std::string& server, words given) {
    const test::temporary_file users("a@example.com secret\n");
    if (std::find(given.begin(), given.end(), "--rounds") == given.end())
        given.insert(given.begin(), {"--connections", "1"});
    given.insert(given.end(), {server, users.path()});
    const auto plan = [](rabid::options chosen) { return rabid::make_plan(std::move(chosen)); };
    return refused_options::refusal<rabid::options>(rabid::parse_options, plan, given);
}

std::string refusal(const words& given) {
    return refusal_at("127.0.0.1:1", given);
}

}  // namespace

TEST_CASE("rabid refuses: nothing of what can be") {
    CHECK(refusal({}) == "");
}

TEST_CASE("rabid refuses: options that cannot be") {
    const std::vector<refused_options::row> table = {
        {{"-r", "0"}, {"rate"}},
        {{"-r", "ten"}, {"ten"}},
        {{"-p", "0"}, {"0"}},
        {{"-p", "many"}, {"many"}},
        {{"--rounds", "0"}, {"--rounds", "0"}},
        {{"--rounds", "1000001"}, {"--rounds", "1000000"}},
        {{"--rounds", "1", "--connections", "1"}, {"--rounds", "--connections", "leave one"}},
        {{"--rounds", "1", "--account-weights", "zipf:1"}, {"--rounds", "--account-weights"}},
        {{"--account-weights", "zipf"}, {"--account-weights", "such as zipf:1.1"}},
        {{"--sessions-total", "0"}, {"--sessions-total", "0"}},
        {{"--sessions-total", "4", "-p", "2"}, {"--sessions-total", "--sessions"}},
        {{"--sessions-total", "1000001"}, {"--sessions-total", "1000000"}},
        {{"--start-at", "noon"}, {"--start-at", "noon", "12:00"}},
        {{"--start-at", "2020-01-01T00:00:00Z"}, {"--start-at", "is over"}},
        {{"--start-at", "2999-01-01T00:00:00Z"}, {"--start-at", "a day ahead"}},
        {{"-c", "-2"}, {"-2"}},
        {{"-c", "some"}, {"some"}},
        {{"-d", "101"}, {"101"}},
        {{"-d", "-1"}, {"-1"}},
        {{"-d", ""}, {"download"}},
        {{"-d", "half"}, {"half"}},
        {{"-d", "50:101"}, {"101"}},
        {{"-d", "50:"}, {"download"}},
        {{"-d", ":50"}, {"download"}},
        {{"-d", "50:50:50"}, {"50:50"}},
        {{"-i", "101"}, {"101"}},
        {{"-i", "half"}, {"half"}},
        {{"--tls-ca", "x"}, {"--tls-ca", "TLS"}},
        {{"-s", "101"}, {"101"}},
        {{"-b", "mosaic"}, {"mosaic"}},
        {{"--watch-folders", "lists"}, {"--watch-folders", "--watch-by notify"}},
        {{"--watch", "1s", "--watch-by", "notify", "--watch-folders", "a//b"}, {"a//b"}},
        {{"--watch", "1s", "--watch-by", "notify", "--watch-folders", "a,inbox"}, {"INBOX"}},
        {{"--watch", "1s", "--watch-by", "notify", "--watch-folders", "a,b,A"}, {"case alone"}},
        {{"--imap", "127.0.0.1:port"}, {"imap"}},
        {{"--imap", "127.0.0.1:99999"}, {"imap"}},
        {{"--apop", "perhaps"}, {"perhaps"}},
        {{"--pipelining", "perhaps"}, {"perhaps"}},
        {{"--profile", "martian"}, {"martian", "desktop", "original"}},
        {{"--profile", "/nowhere/profile.toml"}, {"/nowhere/profile.toml"}},
        {{"--profile", "/"}, {"/"}},
        {{"--timeout", "soon"}, {"soon"}},
        {{"--connections", "0"}, {"connections"}},
        {{"--stages", "100/s"}, {"stages"}},
        {{"--threshold", "p99(nothing)<1s"}, {"nothing"}},
        {{"--arrival", "sometimes"}, {"sometimes"}},
        {{"--workers", "0"}, {"workers"}},
        {{"--interval", "0s"}, {"interval"}},
        {{"--log-format", "xml"}, {"xml"}},
        {{"-l", "198.51.100.77"}, {"198.51.100.77"}},
        {{"-z", "/nowhere/log"}, {"/nowhere/log"}},
        {{"--open-loop", "--rate", "0"}, {"rate"}},
        {{"--config", "/nowhere.toml"}, {"/nowhere.toml"}},
    };
    refused_options::check(table, refusal);
}

TEST_CASE("rabid refuses: options about TLS that cannot be") {
    refused_options::check(refused_options::for_clients(refused_options::tls_of_all()), refusal);
    refused_options::check(refused_options::tls_of_clients(), refusal);
}

TEST_CASE("rabid refuses: servers that cannot be") {
    const words servers = {"",
                           "127.0.0.1:99999",
                           "127.0.0.1:port",
                           "[::1:110",
                           "unix:",
                           "127.0.0.1,",
                           "unix:/" + std::string(200, 'x')};
    for (const std::string& server : servers) {
        CAPTURE(server);
        CHECK(refusal_at(server, {}) != "");
    }
}
