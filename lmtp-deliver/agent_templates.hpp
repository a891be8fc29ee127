// SPDX-License-Identifier: GPL-3.0-or-later
// agents: templates by name, so that --agent dovecot is enough.
//
// They stand in conf/agents.toml, which is compiled in, or in a file of the operator's:
//
//   [dovecot]
//   template = "/usr/lib/dovecot/dovecot-lda -f %from% -d %to%"
//   root = "becomes the user that the userdb names"
//   about = "what it needs"
//
// With root, which says what makes it safe, root runs the agent as root (--allow-root-agent). A
// name is a word of letters, digits, - and _; every template must be one that argv_template takes.
// Fails with "FILE:LINE: reason". Limits: whether the programs exist is not asked.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::lmtp_deliver {

struct agent {
    std::string name{};
    std::string command{};  // the template
    std::string root{};     // why it may run as root; empty: it may not
    std::string about{};    // may be empty, may have several lines
};

extern const std::string_view built_in_agents_text;

[[nodiscard]] base::expected<std::vector<agent>> built_in_agents();
[[nodiscard]] base::expected<std::vector<agent>> load_agents(const std::string& path);
// The same from text; name stands for the file in failures.
[[nodiscard]] base::expected<std::vector<agent>> parse_agents(std::string_view text,
                                                              const std::string& name);

// What --agent means: a known name gives its agent, and text that is more than a word is a template
// itself, of an agent without a name, which is not parsed here. A single word that is no known name
// and no path is refused: it would be a program without arguments, looked for who knows where.
[[nodiscard]] base::expected<agent> find_template(std::string_view name_or_template,
                                                  const std::vector<agent>& agents);

}  // namespace postal::lmtp_deliver
