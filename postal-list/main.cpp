// SPDX-License-Identifier: GPL-3.0-or-later
// postal-list: user lists for servers' account scripts and for the other programs. All that is
// wrong is found before the first line is printed, as far as addresses do not depend on a pattern.
#include "cli/main.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "mail/user_list.hpp"
#include "postal-list/conversions.hpp"
#include "postal-list/options.hpp"

namespace {

using namespace postal;

constexpr const char* name = "postal-list";

// What a user list's line has behind the address.
std::string columns_behind(const mail::user& one) {
    std::string text;
    if (one.password.empty() && one.behaviour.empty()) return text;
    text += ' ';
    text += one.password.empty() ? "-" : one.password;
    if (!one.behaviour.empty()) text += ' ' + one.behaviour;
    return text;
}

base::expected<void> print_pattern(const list::options& wanted) {
    const std::uint64_t count = *wanted.pattern->size();
    for (std::uint64_t index = 0; index < count; ++index) {
        std::string line = wanted.pattern->at(index);
        const auto fine = mail::check_address(line);
        if (!fine) return base::at("--pattern", fine.error());
        if (wanted.password) line += ' ' + wanted.password->expand(line, index + 1);
        line += '\n';
        if (!base::print(line)) break;
    }
    return {};
}

// The addresses that one of the list stands for, and what its line has behind them.
struct expanded {
    list::address_pattern addresses;
    std::string behind;
};

base::expected<std::vector<expanded>> expand(const list::options& wanted) {
    const auto users = mail::load_users(wanted.user_list);
    if (!users) return users.error();
    const auto conversions = list::conversions::load(wanted.conversions);
    if (!conversions) return conversions.error();
    std::vector<expanded> all;
    for (const mail::user& one : *users) {
        auto addresses = conversions->expand(one.address);
        if (!addresses) {
            return base::at(fmt::format("{}:{}", wanted.user_list, one.line), addresses.error());
        }
        if (*addresses) all.push_back({std::move(**addresses), columns_behind(one)});
    }
    if (all.size() < users->size()) {
        cli::complain(name,
                      fmt::format("{} of {} addresses left out: no regular expression of {} "
                                  "is found in them",
                                  users->size() - all.size(), users->size(), wanted.conversions));
    }
    return all;
}

base::expected<void> print_list(const list::options& wanted) {
    const auto all = expand(wanted);
    if (!all) return all.error();
    for (const expanded& one : *all) {
        const std::uint64_t count = *one.addresses.size();
        for (std::uint64_t index = 0; index < count; ++index) {
            if (!base::print(one.addresses.at(index) + one.behind + '\n')) return {};
        }
    }
    return {};
}

cli::exit_status run(int argc, char** argv) {
    list::options wanted;
    auto parsed = list::parse_options(wanted, {argv + 1, argv + argc});
    if (parsed && *parsed == cli::parse_result::done) return cli::exit_status::done;
    base::expected<void> printed;
    if (parsed) printed = wanted.pattern ? print_pattern(wanted) : print_list(wanted);
    if (parsed && printed) return cli::exit_status::done;
    cli::complain(name, parsed ? printed.error().message : parsed.error().message);
    return cli::exit_status::bad_parameters;
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main(name, [&] { return run(argc, argv); });
}
