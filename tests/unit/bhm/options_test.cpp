// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/options.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "bhm/plan.hpp"

using namespace postal;
using namespace std::chrono_literals;

namespace {

struct parsed {
    bhm::options options;
    std::string refusal;
};

parsed parse(const std::vector<std::string>& words) {
    parsed result;
    const auto done = bhm::parse_options(result.options, words);
    if (!done) result.refusal = done.error().message;
    return result;
}

}  // namespace

TEST_CASE("bhm options: the original's letters") {
    const parsed got =
        parse({"-m", "5", "-t", "7", "-b", "127.0.0.1", "-p", "2525", "-z", "base", "-a"});
    CHECK(got.refusal.empty());
    CHECK(got.options.max_message == 5 * 1024);
    CHECK(got.options.sessions == 7);
    CHECK(got.options.bind_address == "127.0.0.1");
    CHECK(got.options.port == 2525);
    CHECK(got.options.transcripts.session_base == "base");
    CHECK(got.options.transcripts.everything);
    const parsed none = parse({});
    CHECK(none.options.port == 25);
    CHECK(none.options.max_message == 10240 * 1024);
}

TEST_CASE("bhm options: delays by stage") {
    const parsed got = parse({"--delay", "mail=20ms", "--delay", "end=1s"});
    CHECK(got.refusal.empty());
    CHECK(got.options.delays[static_cast<std::size_t>(proto::server_stage::mail)] == 20ms);
    CHECK(got.options.delays[static_cast<std::size_t>(proto::server_stage::end)] == 1s);
    for (const char* wrong : {"mail", "=1s", "quit=1s", "other=1s", "mail=", "mail=fast", "x=1s"}) {
        CAPTURE(wrong);
        CHECK(parse({"--delay", wrong}).refusal.find("--delay") != std::string::npos);
    }
}

TEST_CASE("bhm options: what cannot be done is refused") {
    CHECK(parse({"--tls-cert", "x"}).refusal.starts_with("--tls-cert: means nothing without"));
    CHECK(parse({"-s", "--tls-key", "x"}).refusal == "--tls-key: needs --tls-cert too");
    CHECK(parse({"-s", "--tls-min", "1.3", "--tls-max", "1.2"}).refusal.starts_with("--tls-min"));
    CHECK(parse({"-s", "--tls-backend", "nss"}).refusal.starts_with("--tls-backend"));
    CHECK(parse({"-p", "65536"}).refusal.find("--port") != std::string::npos);
    CHECK(parse({"-t", "0"}).refusal.find("--sessions") != std::string::npos);
    CHECK(parse({"-m", "0"}).refusal.find("--max-size") != std::string::npos);
    CHECK(parse({"--bare-newline", "maybe"}).refusal.find("reject") != std::string::npos);
    CHECK(parse({"--threshold", "p99(banner)<1s"}).refusal.find("--threshold") !=
          std::string::npos);
    CHECK_FALSE(parse({"--keep", "x"}).refusal.empty());
    CHECK(parse({"--lmtp=no"}).refusal.starts_with("--lmtp: \"no\" is a value"));
    CHECK(parse({"--lmtp="}).refusal.starts_with("--lmtp: \"\" is a value"));
}

TEST_CASE("bhm plan: where it listens") {
    const auto places = [](const std::vector<std::string>& words) {
        const auto made = bhm::make_plan(parse(words).options);
        REQUIRE(made.has_value());
        std::vector<std::string> found;
        for (const auto& one : (*made)->places) {
            found.push_back(one.where.is_unix()
                                ? one.where.unix_path
                                : one.where.host + ' ' + std::to_string(one.where.port));
        }
        return found;
    };
    using list = std::vector<std::string>;
    CHECK(places({}) == list{"0.0.0.0 25", ":: 25"});
    CHECK(places({"-b", "127.0.0.1"}) == list{"127.0.0.1 25"});
    CHECK(places({"--listen", "unix:/tmp/x", "--listen", "[::1]:26"}) == list{"/tmp/x", "::1 26"});
    CHECK(places({"-b", "::1", "--listen", "127.0.0.1:26"}) == list{"::1 25", "127.0.0.1 26"});
}

TEST_CASE("bhm plan: bad files are refused by name") {
    bhm::options chosen;
    chosen.user_list = "/no/such/list";
    CHECK(bhm::make_plan(chosen).error().message.find("/no/such/list") != std::string::npos);
    chosen.user_list.clear();
    chosen.host_names = "/no/such/hosts";
    CHECK(bhm::make_plan(chosen).error().message.find("/no/such/hosts") != std::string::npos);
}
