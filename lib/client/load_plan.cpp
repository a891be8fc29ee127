// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/load_plan.hpp"

namespace postal::client {

std::vector<stats::server_greeting> greetings_of(const std::vector<target>& servers) {
    std::vector<stats::server_greeting> made;
    for (const target& one : servers)
        if (std::string text = one.greeting->text(); !text.empty())
            made.push_back({one.where.text, std::move(text)});
    return made;
}

}  // namespace postal::client
