// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/plan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "lmtp-deliver/agent_templates.hpp"
#include "lmtp-deliver/environment_file.hpp"
#include "lmtp-deliver/phases.hpp"
#include "net/endpoint.hpp"
#include "os/host.hpp"
#include "program/shared_options.hpp"

namespace postal::lmtp_deliver {
namespace {

using base::expected;

constexpr std::uint16_t default_port = 2003;
constexpr std::string_view default_place = "127.0.0.1:2003";
constexpr std::uint64_t least_file_size = std::uint64_t{64} << 30U;  // an agent's usual limit
constexpr std::string_view agents_path = "/usr/local/bin:/usr/bin:/bin";

// ---- the agent ----

// The file that execvp(3) would run: as it stands when it has a slash, else looked for in PATH.
expected<std::string> find_program(const std::string& name) {
    const bool has_path = name.find('/') != std::string::npos;
    const char* path = std::getenv("PATH");
    std::string folders = path != nullptr ? path : std::string(agents_path);
    if (has_path) folders.clear();
    for (const std::string_view folder : base::split(folders, ':')) {
        const std::string file =
            has_path ? name : fmt::format("{}/{}", folder.empty() ? "." : folder, name);
        std::error_code error;
        const auto status = std::filesystem::status(file, error);
        const bool missing = error || !std::filesystem::exists(status);
        if (missing && !has_path) continue;
        if (missing) return base::fail("{}: {}", file, base::system_message(ENOENT));
        if (std::filesystem::is_directory(status)) return base::fail("{}: is a directory", file);
        if (::access(file.c_str(), X_OK) != 0) {
            if (!has_path) continue;
            return base::fail("{}: is not executable: {}", file, base::system_message(errno));
        }
        // Relative to this process's folder, not to --directory.
        return {boost::system::in_place_value, std::filesystem::absolute(file).string()};
    }
    return base::fail("{}: is no program in PATH; give its whole path", name);
}

expected<void> prepare_agent(plan& into) {
    auto named = into.chosen.agents.empty() ? built_in_agents() : load_agents(into.chosen.agents);
    if (!named) return base::fail("--agents: {}", named.error().message);
    const auto text = find_template(into.chosen.agent, *named);
    if (!text) return base::fail("--agent: {}", text.error().message);
    into.root_because = text->root;
    into.root_allowed = into.chosen.allow_root_agent || !text->root.empty();
    auto parsed = argv_template::parse(text->command);
    if (!parsed) return base::fail("--agent: {}", parsed.error().message);
    into.agent = std::move(*parsed);
    return {};
}

expected<void> find_agent(plan& into) {
    if (into.chosen.check.wanted) return {};
    auto found = find_program(into.agent.program());
    if (!found) return base::fail("--agent: {}", found.error().message);
    into.program = std::move(*found);
    return {};
}

expected<void> load_exit_statuses(plan& into) {
    if (into.chosen.exit_statuses.empty()) return {};
    auto loaded = exit_statuses::load(into.chosen.exit_statuses);
    if (!loaded) return base::fail("--exit-statuses: {}", loaded.error().message);
    into.exits = std::move(*loaded);
    return {};
}

// ---- what agents run with ----

// What an agent of root's finds as HOME when its mail is for nobody of this system.
const home_and_user nobodys_home{"/nonexistent", "nobody"};

// Who gets mail here may be anybody, and what an agent does with it follows rules of other
// people's.
expected<void> check_root(const plan& of) {
    if (!of.runs_agents_as_root() || of.root_allowed || of.chosen.check.wanted) return {};
    constexpr std::string_view otherwise =
        "agents would run as root; give --user NAME, or --allow-root-agent where the agent itself "
        "becomes the recipient";
    if (of.run_as) return base::fail("--user: {}: {}", of.run_as->name, otherwise);
    return base::fail("--agent: {}", otherwise);
}

expected<void> find_user(plan& into) {
    into.is_root = ::geteuid() == 0;
    if (!into.chosen.user.empty()) {
        auto found = os::find_user(into.chosen.user);
        if (!found) return base::fail("--user: {}", found.error().message);
        const auto may = os::check_may_become(*found);
        if (!may) return base::fail("--user: {}", may.error().message);
        into.own_home = {found->home, found->name};
        into.run_as = std::move(*found);
        return check_root(into);
    }
    if (into.is_root) {
        into.own_home = nobodys_home;
        return check_root(into);
    }
    const passwd* self = ::getpwuid(::geteuid());
    into.own_home = self != nullptr ? home_and_user{self->pw_dir, self->pw_name}
                                    : home_and_user{"/", fmt::format("{}", ::geteuid())};
    return {};
}

// --env-file, and --env, which counts more.
expected<void> gather_settings(plan& into) {
    if (!into.chosen.environment_file.empty()) {
        auto read = load_environment(into.chosen.environment_file);
        if (!read) return base::fail("--env-file: {}", read.error().message);
        into.settings = std::move(*read);
    }
    const auto& given = into.chosen.environment;
    into.settings.insert(into.settings.end(), given.begin(), given.end());
    return {};
}

// Without files= an agent has as many as this program was started with, not what it raised that to.
// Without core= it leaves no core: nobody looks for one, and somebody's mail is in it. Without
// file-size= no file grows for ever; of a mailbox that is one file all counts that is in it. There
// is no usual number of processes: all of the agents' user count, also those that others started.
expected<void> set_limits(plan& into) {
    auto limits = os::parse_limits(into.chosen.limits);
    if (!limits) return base::fail("--limit: {}", limits.error().message);
    into.limits.push_back(os::current_descriptor_limit());
    const auto most = std::numeric_limits<std::uint64_t>::max() / 2;
    const auto file_size = std::max(least_file_size, 2 * std::min(into.chosen.max_message, most));
    const os::limit no_core{RLIMIT_CORE, 0, 0};
    for (const os::limit& usual : {no_core, os::at_most(RLIMIT_FSIZE, file_size)}) {
        const bool given = std::any_of(limits->begin(), limits->end(), [&](const os::limit& one) {
            return one.resource == usual.resource;
        });
        if (!given) into.limits.push_back(usual);
    }
    into.limits.insert(into.limits.end(), limits->begin(), limits->end());
    return {};
}

expected<void> check_folders(plan& into) {
    std::error_code error;
    if (!std::filesystem::is_directory(into.chosen.directory, error)) {
        return base::fail("--directory: {}: is no directory", into.chosen.directory);
    }
    into.storage = {into.chosen.memory_limit, into.chosen.temporary, into.chosen.line_ends,
                    into.chosen.least_free};
    const auto file = open_unlinked(into.storage.folder);
    if (!file) return base::fail("--temporary: {}", file.error().message);
    return {};
}

// As who agents run as: of what he may not do each delivery would fail.
expected<void> check_rights(plan& into) {
    const os::system_user* who = into.run_as ? &*into.run_as : nullptr;
    const std::string whom = who != nullptr ? "user " + who->name : "this user";
    const auto may = [&](const std::string& path) {
        return os::ask_as(who, [&] { return ::access(path.c_str(), X_OK) == 0 ? 0 : errno; });
    };
    if (const int problem = may(into.chosen.directory); problem != 0)
        return base::fail("--directory: {}: {} may not change to it: {}", into.chosen.directory,
                          whom, base::system_message(problem));
    if (into.program.empty()) return {};
    if (const int problem = may(into.program); problem != 0)
        return base::fail("--agent: {}: {} may not run it: {}", into.program, whom,
                          base::system_message(problem));
    return {};
}

// ---- the server ----

expected<void> find_places(plan& into) {
    // Who says whose the socket is does not mean everybody's.
    const mode_t usual = into.chosen.socket_owner.empty() ? 0666 : 0660;
    net::socket_rights rights{.mode = into.chosen.socket_mode.value_or(usual)};
    if (!into.chosen.socket_owner.empty()) {
        const auto owner = os::parse_owner(into.chosen.socket_owner);
        if (!owner) return base::fail("--socket-owner: {}", owner.error().message);
        rights.user = owner->uid;
        rights.group = owner->gid;
    }
    const auto added =
        program::add_places(into.places, into.chosen, default_port, default_port, rights);
    if (!added || !into.places.empty()) return added;
    into.places.push_back({.where = *net::parse_endpoint(default_place, default_port)});
    return {};
}

expected<void> configure_server(plan& into) {
    into.host_name = os::describe_host().name;
    into.rules.data_phase = static_cast<std::size_t>(phase::data);
    into.rules.message_phase = static_cast<std::size_t>(phase::message);
    into.rules.tls_phase = static_cast<std::size_t>(phase::tls);
    into.rules.tls_resumed_phase = static_cast<std::size_t>(phase::tls_resumed);
    proto::server_config& server = into.rules.server;
    server.speaks = proto::dialect::lmtp;
    server.judges_senders = true;
    return program::prepare(into.rules, into.chosen);
}

}  // namespace

bool plan::runs_agents_as_root() const noexcept {
    return run_as ? run_as->uid == 0 : is_root;
}

bool plan::asks_for_accounts() const {
    const auto sets = [&](std::string_view variable) {
        return std::any_of(settings.begin(), settings.end(),
                           [&](const std::string& one) { return one.starts_with(variable); });
    };
    return !run_as && !(sets("HOME=") && sets("USER="));
}

std::vector<std::string> plan::environment(const expansion& values, const home_and_user& of) const {
    std::vector<std::string> result{fmt::format("PATH={}", agents_path),
                                    "HOME=" + of.home,
                                    "USER=" + of.user,
                                    fmt::format("SENDER={}", values.from),
                                    fmt::format("RECIPIENT={}", values.to),
                                    fmt::format("SIZE={}", values.size)};
    for (const std::string& given : settings) {
        const std::string_view name = std::string_view(given).substr(0, given.find('=') + 1);
        std::erase_if(result, [&](const std::string& one) { return one.starts_with(name); });
        result.push_back(given);
    }
    return result;
}

expected<std::unique_ptr<plan>> make_plan(options given) {
    auto result = std::make_unique<plan>();
    result->chosen = std::move(given);
    // Capturing the limits comes before anything raises them.
    for (auto* step : {prepare_agent, find_agent, load_exit_statuses, find_user, gather_settings,
                       set_limits, check_folders, check_rights, find_places, configure_server}) {
        auto done = step(*result);
        if (!done) return done.error();
    }
    return result;
}

namespace {

// What agents find in their environment may be secret: a record has the names only.
void cut_value(std::string& setting) {
    setting.resize(std::min(setting.find('='), setting.size()));
}

// A default that depends on other options, as it is.
void tell(std::vector<cli::effective_option>& effective, std::string_view name, std::string value) {
    for (cli::effective_option& one : effective)
        if (one.name == name) one.values = {std::move(value)};
}

void cut_values(std::vector<cli::effective_option>& effective, std::vector<std::string>& words) {
    constexpr std::string_view given = "--env=";
    for (cli::effective_option& one : effective)
        if (one.name == "env") std::for_each(one.values.begin(), one.values.end(), cut_value);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--env" && i + 1 < words.size()) cut_value(words[++i]);
        if (!words[i].starts_with(given)) continue;
        std::string setting = words[i].substr(given.size());
        cut_value(setting);
        words[i] = fmt::format("{}{}", given, setting);
    }
}

}  // namespace

stats::run_description describe(const plan& plan, int argc, char** argv) {
    const options& chosen = plan.chosen;
    auto effective = chosen.effective;
    std::vector<std::string> words(argv, argv + argc);
    cut_values(effective, words);
    tell(effective, "max-per-recipient", fmt::format("{}", chosen.agents_of_a_recipient()));
    tell(effective, "queue-timeout", base::format_duration(chosen.longest_wait()));
    stats::run_description result =
        program::describe({"lmtp-deliver", chosen.run, effective, std::move(words)});
    program::describe(chosen, plan.rules, result);
    result.limits.insert(result.limits.end(), {"min-free", "queue-timeout", "max-queued"});
    result.phases = phase_names();
    result.message_phase = static_cast<std::size_t>(phase::message);
    result.runs_agents = true;
    result.agent_phase = static_cast<std::size_t>(phase::agent);
    result.options["template"] = plan.agent.text();
    return result;
}

}  // namespace postal::lmtp_deliver
