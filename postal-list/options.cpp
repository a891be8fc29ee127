// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-list/options.hpp"

#include <utility>

#include "cli/binders.hpp"

namespace postal::list {

namespace {

template <class Value>
base::expected<std::optional<Value>> parse_wanted(std::string_view text) {
    auto value = Value::parse(text);
    if (!value) return value.error();
    return std::optional<Value>(std::move(*value));
}

base::expected<void> check(const options& given) {
    if (given.pattern && !given.user_list.empty()) {
        return base::fail("--pattern: is in place of USER-LIST; leave one of them out");
    }
    if (given.pattern) return {};
    if (given.password) {
        return base::fail("--password: is for the addresses of --pattern; give that too");
    }
    if (given.user_list.empty()) {
        return base::fail("USER-LIST is missing; give it and CONVERSION-FILE, or --pattern");
    }
    if (given.conversions.empty()) {
        return base::fail("CONVERSION-FILE is missing; give it behind USER-LIST");
    }
    return {};
}

cli::program describe_program(options& into) {
    cli::group lists{
        "Lists",
        {{.names = "--pattern",
          .value = "PATTERN",
          .help = "in place of files: the addresses of a pattern, user[0000-9999]@example.com",
          .set = cli::parsed(into.pattern, parse_wanted<address_pattern>)},
         {.names = "--password",
          .value = "TEMPLATE",
          .help = "with --pattern: a password behind each address, with %address%, %user%, "
                  "%domain% and %number% in it",
          .set = cli::parsed(into.password, parse_wanted<password_template>)}}};
    return cli::program{
        .name = "postal-list",
        .summary =
            "Prints lists of users: the addresses that a pattern stands for, or those of "
            "a user list as a conversion file has them.",
        .groups = {std::move(lists)},
        .positionals = {{.name = "USER-LIST",
                         .help = "a file with one address a line",
                         .set = cli::text(into.user_list),
                         .required = false},
                        {.name = "CONVERSION-FILE",
                         .help = "lines of a regular expression and what to do with the addresses "
                                 "in which it is found",
                         .set = cli::text(into.conversions),
                         .required = false}},
        .notes =
            "Examples:\n"
            "  postal-list --pattern 'user[0000-9999]@example.com' > users.txt\n"
            "  postal-list --pattern 'u[1-500]@d[0-9].example' --password 'pw-%number%'\n"
            "  postal-list users.txt conversions.txt\n"
            "A line \"^a .[0-9abc][xyz]\" of a conversion file makes of each address that\n"
            "begins with a the 39 with these characters in second and third place.",
        .check = [&into] { return check(into); }};
}

}  // namespace

base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words) {
    return cli::parse(describe_program(into), words);
}

}  // namespace postal::list
