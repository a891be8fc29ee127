// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/check.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/servers.hpp"
#include "experiment/supervisor.hpp"
#include "experiment/variables.hpp"
#include "testbed/format_guard.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string>

#include <unistd.h>

namespace postal::experiment {
namespace {

base::expected<void> check_command(const experiment& whole, const command& one,
                                   const variables& values, std::set<std::string>& known) {
    if (one.words.empty()) return {};
    const std::string where = fmt::format("{}:{}", whole.file, one.line);
    const auto words = expand(one.words, values);
    if (!words) return base::at(where, words.error());
    if (words->empty() || words->front().empty())
        return base::fail("{}: {} is no program: the variable is empty", where, one.words.front());
    if (!known.insert(words->front()).second) return {};
    const auto found = find_program(words->front());
    return found ? base::expected<void>{} : base::at(where, found.error());
}

// In the order of the steps, so that the first that would fail is the one that is named.
base::expected<void> check_commands(const experiment& whole, const variant& of,
                                    const variables& values, std::set<std::string>& known) {
    std::vector<command> all = of.setup;
    if (of.on.wanted) all.push_back(of.on.make);
    for (const auto* list : {&of.of.prepare, &of.of.start, &of.of.stop, &of.teardown})
        all.insert(all.end(), list->begin(), list->end());
    for (const load_program& one : whole.offered.programs)
        all.insert(all.end(), {one.launcher, one.run});
    all.push_back(of.of.version);
    all.push_back(whole.costs.remote);
    for (const command& one : all) {
        const auto checked = check_command(whole, one, values, known);
        if (!checked) return checked;
    }
    return {};
}

base::expected<void> check_image(const std::string& where, const storage& on,
                                 const variables& values) {
    const auto size = base::parse_size(expand(on.size, values).value());
    if (!size) return base::fail("{}: size: {}", where, size.error().message);
    const std::string folder = expand(on.directory, values).value();
    std::error_code ignored;
    const bool is_out = folder == values.at("out").front();
    if (!is_out && !std::filesystem::is_directory(folder, ignored))
        return base::fail("{}: directory: {} is no folder", where, base::printable(folder, 200));
    if (::access("/dev/loop-control", R_OK | W_OK) != 0)
        return base::fail("{}: there are no loop devices here (/dev/loop-control); name a device",
                          where);
    return {};
}

base::expected<void> check_storage(const experiment& whole, const storage& on,
                                   const variables& values, const check_options& how) {
    if (!on.wanted) return {};
    const std::string where = fmt::format("{}:{}: [storage]", whole.file, on.line);
    if (::geteuid() != 0)
        return base::fail("{} is for root: file systems are made and mounted", where);
    const std::string device = expand(on.device, values).value();
    if (device.empty()) return check_image(where, on, values);
    // What a run of this experiment left there is known to the run alone.
    const bool may_hold = how.overwrite || how.resume;
    const auto free = testbed::may_format(
        device, {}, may_hold ? testbed::existing_data::overwrite : testbed::existing_data::keep);
    return free ? free : base::at(where, free.error());
}

base::expected<void> check_endpoints(const experiment& whole, const server& of,
                                     const variables& values) {
    for (const std::string& endpoint : expand(of.ready, values).value()) {
        const auto taken = lets_in(endpoint);
        const std::string where = fmt::format("{}:{}: ready", whole.file, of.line);
        if (!taken) return base::at(where, taken.error());
        if (*taken)
            return base::fail(
                "{}: {} lets connections in already: end what listens there, or choose "
                "another port",
                where, base::printable(endpoint, 100));
    }
    return {};
}

}  // namespace

variables values_of_run(const experiment& whole, std::size_t variant, const std::string& out,
                        const std::string& run, std::uint64_t block, const std::string& device) {
    namespace fs = std::filesystem;
    variables values = whole.variants[variant].values;
    values["experiment"] = {fs::absolute(whole.file).parent_path().string()};
    values["out"] = {out};
    values["run"] = {run};
    values["device"] = {device};
    values["variant"] = {whole.variants[variant].name};
    values["block"] = {std::to_string(block)};
    values["mount"] = {whole.variants[variant].on.wanted ? whole.variants[variant].on.mount : ""};
    return values;
}

base::expected<void> check_machine(const experiment& whole, const check_options& how) {
    std::set<std::string> known;
    for (std::size_t i = 0; i < whole.variants.size(); ++i) {
        const variant& one = whole.variants[i];
        const variables values = values_of_run(whole, i, how.out, how.out, 1, "/dev/null");
        auto checked = check_commands(whole, one, values, known);
        if (checked) checked = check_storage(whole, one.on, values, how);
        if (checked) checked = check_endpoints(whole, one.of, values);
        if (!checked) return checked;
    }
    return {};
}

}  // namespace postal::experiment
