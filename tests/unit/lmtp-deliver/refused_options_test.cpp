// SPDX-License-Identifier: GPL-3.0-or-later
#include "../refused_options.hpp"

#include "lmtp-deliver/options.hpp"
#include "lmtp-deliver/plan.hpp"
#include "support.hpp"

using namespace postal;
using refused_options::words;

namespace {

std::string refusal(words given) {
    given.insert(given.begin(), {"--agent", "/bin/true", "--allow-root-agent"});
    return refused_options::refusal<lmtp_deliver::options>(lmtp_deliver::parse_options,
                                                           lmtp_deliver::make_plan, given);
}

}  // namespace

TEST_CASE("lmtp-deliver refuses: nothing of what can be") {
    CHECK(refusal({}) == "");
}

TEST_CASE("lmtp-deliver refuses: options that cannot be") {
    const test::temporary_file plain_file("no table of anything\n");
    const test::temporary_file agents_file("[mine]\ntemplate = \"/bin/cat %to%\"\n");
    const std::string plain = plain_file.path();
    const std::string agents = agents_file.path();
    const std::string folder = std::filesystem::path(plain).parent_path().string();
    const std::string missing = folder + "/missing";
    const std::vector<refused_options::row> table = {
        {{"--agent", ""}, {"--agent"}},
        {{"--agent", "   "}, {"--agent"}},
        {{"--agent", missing + " %to%"}, {"--agent", missing}},
        {{"--agent", plain}, {"--agent", plain, "executable"}},
        {{"--agent", folder}, {"--agent", folder, "directory"}},
        {{"--agent", "no-such-program-anywhere %to%"}, {"--agent", "no-such-program-anywhere"}},
        {{"--agent", "dovecott"}, {"--agent", "dovecott", "dovecot"}},
        {{"--agent", "/bin/true %nobody%"}, {"--agent", "column", "%nobody%", "%to_user%"}},
        {{"--agent", "/bin/true %to"}, {"--agent", "column", "%to"}},
        {{"--agent", "/bin/true 100%"}, {"--agent", "column"}},
        {{"--agent", "/bin/true | /bin/cat"}, {"--agent", "column 11"}},
        {{"--agent", "/bin/true $HOME"}, {"--agent", "column 11"}},
        {{"--agent", "/bin/true `id`"}, {"--agent", "column 11"}},
        {{"--agent", "/bin/true >/dev/null"}, {"--agent", "column 11"}},
        {{"--agent", "/bin/true 'open"}, {"--agent", "column 11"}},
        {{"--agent", "/bin/true \\"}, {"--agent", "column 11"}},
        {{"--agent", "%to% x"}, {"--agent", "column 1"}},
        {{"--agents", missing, "--agent", "dovecot"}, {"--agents", missing}},
        {{"--agents", plain, "--agent", "dovecot"}, {"--agents", plain + ":1"}},
        {{"--agents", agents, "--agent", "maildrop"}, {"--agent", "maildrop"}},
        {{"--user", "no-such-user"}, {"--user", "no-such-user"}},
        {{"--directory", missing}, {"--directory", missing}},
        {{"--directory", plain}, {"--directory", plain}},
        {{"--env", "WITHOUT-EQUALS"}, {"--env", "WITHOUT-EQUALS"}},
        {{"--env", "=value"}, {"--env"}},
        {{"--limit", "cpu=fast"}, {"--limit", "fast"}},
        {{"--limit", "cpu=0s"}, {"--limit"}},
        {{"--limit", "disk=1G"}, {"--limit", "disk"}},
        {{"--limit", "files=64,files=65"}, {"--limit", "files"}},
        {{"--limit", "memory"}, {"--limit", "memory"}},
        {{"--limit", "processes=0"}, {"--limit", "processes"}},
        {{"--env-file", missing}, {"--env-file", missing, "No such file"}},
        {{"--env-file", plain}, {"--env-file", plain}},
        {{"--env-file", folder}, {"--env-file", folder}},
        {{"--max-deliveries", "0"}, {"--max-deliveries", "0"}},
        {{"--max-deliveries", "many"}, {"--max-deliveries", "many"}},
        {{"--max-queued", "-1"}, {"--max-queued", "-1"}},
        {{"--timeout", "1 fortnight"}, {"--timeout"}},
        {{"--timeout", "0s"}, {"--timeout"}},
        {{"--exit-statuses", missing}, {"--exit-statuses", missing}},
        {{"--exit-statuses", plain}, {"--exit-statuses", plain + ":1"}},
        {{"-m", "0"}, {"max-size"}},
        {{"-m", "x"}, {"x"}},
        {{"--max-recipients", "0"}, {"--max-recipients", "0"}},
        {{"--bare-newline", "maybe"}, {"--bare-newline", "maybe"}},
        {{"--memory-limit", "lots"}, {"--memory-limit", "lots"}},
        {{"--temporary", missing}, {"--temporary", missing}},
        {{"--temporary", plain}, {"--temporary", plain}},
        {{"--add-header", "x-mailer"}, {"--add-header", "x-mailer", "return-path"}},
        {{"--listen", "127.0.0.1:99999"}, {"--listen", "99999"}},
        {{"--listen", "unix:"}, {"--listen", "unix:"}},
        {{"--listen", "unix:/" + std::string(200, 'x')}, {"--listen"}},
        {{"--socket-mode", "rw"}, {"--socket-mode", "rw"}},
        {{"--socket-mode", "0999"}, {"--socket-mode", "0999"}},
        {{"--socket-owner", "no-such-user"}, {"--socket-owner", "no-such-user"}},
        {{"--socket-owner", "root:no-such-group"}, {"--socket-owner", "no-such-group"}},
        {{"-t", "0"}, {"0"}},
        {{"--client-timeout", "never"}, {"--client-timeout", "never"}},
        {{"--log", "paper"}, {"--log", "paper"}},
        {{"-z", "/nowhere/log"}, {"/nowhere/log"}},
        {{"--threshold", "p99(nothing)<1s"}, {"nothing"}},
        {{"--config", missing + ".toml"}, {missing + ".toml"}},
        {{"a-word-too-many"}, {"a-word-too-many"}},
    };
    refused_options::check(table, refusal);
}

TEST_CASE("lmtp-deliver refuses: options about TLS that cannot be") {
    refused_options::check(refused_options::tls_of_all(), refusal);
    refused_options::check(refused_options::tls_of_servers(), refusal);
}
