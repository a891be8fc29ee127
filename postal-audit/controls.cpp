// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/controls.hpp"

#include "experiment/supervisor.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace postal::audit {
namespace {

// A port of its own would have to be free; a Unix socket in the folder of results is.
constexpr const char* control_experiment = R"(title = "controls"

[load]
[[load.program]]
name = "delivery"
argv = ["postal", "-L", "--sessions", "4", "-m", "4", "unix:${{out}}/control", "${{run}}/users.txt"]

[variables]
lie = []
bhm = "{}"

[storage]
make = ["mkfs.ext4", "-q", "-F", "-E", "nodiscard", "${{device}}"]
type = "ext4"
options = "defaults"

[server]
start = [["${{lie}}", "${{bhm}}", "--lmtp", "--listen", "unix:${{out}}/control", "--store", "${{mount}}/user@example.com",
          "--store-sync"]]
ready = ["unix:${{out}}/control"]

[audit]
messages = 300
cuts = 20
draws = 3
size = "64M"
maildirs = ["${{mount}}/%u"]

[[file]]
path = "${{run}}/users.txt"
text = "user@example.com\n"

[[variant]]
name = "{}"
variables = {{ lie = ["eatmydata"] }}

[[variant]]
name = "{}"
)";

}  // namespace

base::expected<experiment::experiment> make_controls() {
    // eatmydata looks for it in PATH alone.
    const auto bhm = experiment::find_program("bhm");
    if (!bhm) return bhm.error();
    return experiment::parse_experiment(
        fmt::format(control_experiment, std::filesystem::absolute(*bhm).string(), must_lose_name,
                    must_keep_name),
        "controls of postal-audit");
}

}  // namespace postal::audit
