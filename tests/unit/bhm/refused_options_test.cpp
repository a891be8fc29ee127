// SPDX-License-Identifier: GPL-3.0-or-later
#include "../refused_options.hpp"
#include "../temporary_file.hpp"

#include "bhm/options.hpp"
#include "bhm/plan.hpp"

using namespace postal;
using refused_options::words;

namespace {

std::string refusal(const words& given) {
    return refused_options::refusal<bhm::options>(bhm::parse_options, bhm::make_plan, given);
}

}  // namespace

TEST_CASE("bhm refuses: nothing of what can be") {
    CHECK(refusal({}) == "");
}

TEST_CASE("bhm refuses: options that cannot be") {
    const std::vector<refused_options::row> table = {
        {{"--tls-cert", "x"}, {"--tls-cert", "TLS"}},
        {{"--delay", "lunch=1s"}, {"lunch"}},
        {{"--delay", "end"}, {"end"}},
        {{"--bare-newline", "maybe"}, {"maybe"}},
        {{"-r", "/nowhere/hosts"}, {"/nowhere/hosts"}},
        {{"--listen", "unix:"}, {"unix:"}},
        {{"-p", "70000"}, {"70000"}},
        {{"-z", "/nowhere/log"}, {"/nowhere/log"}},
        {{"-m", "x"}, {"x"}},
        {{"-t", "0"}, {"0"}},
    };
    refused_options::check(table, refusal);
}

TEST_CASE("bhm refuses: options about what becomes of mail that cannot be") {
    const test::temporary_file plain("a@example.com\n");
    const test::temporary_file bounced("a@example.com\nb@example.com - b\n");
    const test::temporary_file greylisted("a@example.com - g\n");
    const std::vector<refused_options::row> table = {
        {{"--store-format", "mbox"}, {"--store-format", "without --store"}},
        {{"--sample", "10%"}, {"--sample", "without --store"}},
        {{"--store", "x", "--sample", "0"}, {"--sample", "0 %"}},
        {{"--store", "x", "--sample", "101%"}, {"--sample", "101"}},
        {{"--store", "x", "--store-format", "mh"}, {"--store-format", "mh", "maildir", "mbox"}},
        {{"--store", "x", "--store-messages", "0"}, {"--store-messages", "0"}},
        {{"--store", "/nowhere/store"}, {"--store", "/nowhere/store"}},
        {{"--store", plain.path()}, {"--store", plain.path()}},
        {{"--bounce-via", "127.0.0.1"}, {"--bounce-via", "USER-LIST"}},
        {{"--bounce-via", "127.0.0.1", plain.path()}, {"--bounce-via", plain.path(), "no user"}},
        {{bounced.path()}, {bounced.path() + ":2: ", "\"b\"", "--bounce-via"}},
        {{"--bounce-via", "127.0.0.1:99999", bounced.path()}, {"--bounce-via", "99999"}},
        {{"--bounce-via", "+localhost", bounced.path()}, {"--bounce-via", "+localhost"}},
        {{"--greylist-wait", "1s"}, {"--greylist-wait", "USER-LIST"}},
        {{"--greylist-wait", "1s", plain.path()}, {"--greylist-wait", plain.path(), "no user"}},
        {{"--greylist-wait", "5h", greylisted.path()}, {"--greylist-wait", "--greylist-window"}},
        {{"--greylist-window", "x", greylisted.path()}, {"--greylist-window", "x"}},
    };
    refused_options::check(table, refusal);
    CHECK(refusal({greylisted.path()}) == "");
    CHECK(refusal({"--bounce-via", "127.0.0.1", bounced.path()}) == "");
    CHECK(refusal({"--bounce-via", "unix:/run/relay", bounced.path()}) == "");
}

TEST_CASE("bhm refuses: options about TLS that cannot be") {
    refused_options::check(refused_options::tls_of_all(), refusal);
    refused_options::check(refused_options::tls_of_servers(), refusal);
}
