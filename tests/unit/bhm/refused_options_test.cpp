#include "../refused_options.hpp"

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

TEST_CASE("bhm refuses: options about TLS that cannot be") {
    refused_options::check(refused_options::tls_of_all(), refusal);
    refused_options::check(refused_options::tls_of_servers(), refusal);
}
