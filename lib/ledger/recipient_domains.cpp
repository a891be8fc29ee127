// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/recipient_domains.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace postal::ledger {

namespace {

constexpr std::size_t remembered = std::size_t{1} << 16U;

// rtrim() takes away all behind the last "@": every other character of the address.
constexpr std::string_view domain =
    "CASE WHEN length(address) < 1000 AND instr(address, '@') > 0 "
    "THEN substr(address, length(rtrim(address, replace(address, '@', ''))) + 1) ELSE '' END";

}  // namespace

recipient_domains::recipient_domains(statement ask, const std::vector<std::string>& names)
    : ask_(std::move(ask)), elsewhere_(names.size()) {
    for (std::size_t each = 0; each < names.size(); ++each)
        places_.emplace(names[each], each);
}

base::expected<recipient_domains> recipient_domains::look_up(
    database& file, const std::vector<std::string>& names) {
    auto ask = file.prepare(fmt::format("SELECT {} FROM addresses WHERE id = ?1", domain));
    if (!ask) return ask.error();
    return recipient_domains(std::move(*ask), names);
}

std::size_t recipient_domains::place_of(std::int64_t address) {
    if (recent_.empty()) recent_.assign(remembered, {.number = -1, .place = elsewhere_});
    known_address& known = recent_[static_cast<std::uint64_t>(address) % remembered];
    if (known.number != address) known = {.number = address, .place = ask_place_of(address)};
    return known.place;
}

std::size_t recipient_domains::ask_place_of(std::int64_t address) {
    if (result_ != SQLITE_OK) return elsewhere_;
    ask_.bind(1, address);
    std::size_t place = elsewhere_;
    const int step = ask_.step();
    if (step == SQLITE_ROW) {
        const auto found = places_.find(ask_.text(0));
        if (found != places_.end()) place = found->second;
    } else if (step != SQLITE_DONE) {
        result_ = step;
    }
    ask_.reset();
    return place;
}

base::expected<std::vector<std::string>> largest_domains(database& file, std::size_t most) {
    auto ask = file.prepare(fmt::format(
        "SELECT {} AS domain, sum(messages) AS of_domain FROM (SELECT recipient, count(*) AS "
        "messages "
        "FROM sent WHERE outcome = 0 GROUP BY recipient) JOIN addresses ON id = recipient "
        "GROUP BY domain ORDER BY of_domain DESC, domain LIMIT ?1",
        domain));
    if (!ask) return ask.error();
    ask->bind(1, static_cast<std::uint64_t>(most));
    std::vector<std::string> names;
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW)
        names.push_back(ask->text(0));
    if (step != SQLITE_DONE) return file.failure(step);
    return names;
}

}  // namespace postal::ledger
