// SPDX-License-Identifier: GPL-3.0-or-later
#include "apparatus.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

#include "must.hpp"
#include "postal/phases.hpp"

namespace simulation {

namespace {

using namespace postal;

struct kind_of_messages {
    std::string_view sizes;
    std::string_view bodies;
};

// Bodies of a few octets, of one read, of several, and of all that is special about lines.
constexpr kind_of_messages kinds[] = {
    {"fixed:1K", "ascii"},
    {"uniform:1,2K", "crlf-edge,dots"},
    {"uniform:1K,10K", "ascii"},
    {"lognormal:2K,1,40K", "ascii,8bit,dots,long-lines,crlf-edge"},
};

}  // namespace

apparatus::apparatus()
    : senders_(sender::phase_count),
      servers_({.index = 0, .of = 1, .phases = 2, .serves = true},
               [](load::worker&, std::chrono::nanoseconds, const stats::tally&, bool) {}) {
    for (const kind_of_messages& one : kinds) {
        mail::message_options wanted;
        wanted.seed = 1;
        wanted.run = run;
        wanted.host = "sender.example";
        wanted.sizes = must(mail::size_spec::parse(one.sizes));
        wanted.bodies = must(mail::body_mix::parse(one.bodies));
        messages_.push_back(must(mail::message_plan::create(wanted)));
    }
}

void apparatus::reset() {
    senders_.clear();
    servers_.tally().clear();
}

std::unique_ptr<ledger::examination> apparatus::lend() {
    if (spare_.empty()) return std::make_unique<ledger::examination>(evidence_);
    auto one = std::move(spare_.back());
    spare_.pop_back();
    return one;
}

void apparatus::take_back(std::unique_ptr<ledger::examination> one) {
    one->reset();
    spare_.push_back(std::move(one));
}

}  // namespace simulation
