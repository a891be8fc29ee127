// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/folder_names.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace postal::rabid {
namespace {

using base::expected;

constexpr std::string_view inbox = "INBOX";
constexpr std::size_t most_watched = 32;  // NOTIFY names them all in a line

}  // namespace

expected<std::string> folder_name(std::string_view given) {
    const auto plain = [](char c) {
        const char low = base::ascii_lower(c);
        return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == ' ' || c == '-' ||
               c == '_' || c == '/';
    };
    const bool good = !given.empty() && given.size() <= 200 && given.front() != '/' &&
                      given.back() != '/' && given.find("//") == given.npos &&
                      std::all_of(given.begin(), given.end(), plain);
    if (!good)
        return base::fail(
            "\"{}\" is no folder; give letters, digits, blanks, - and _, with / between levels",
            base::printable(given, 80));
    std::string name(given);
    const bool below = name.size() > inbox.size() && name[inbox.size()] == '/';
    const bool within = name.size() == inbox.size() || below;
    if (within && base::iequals(given.substr(0, inbox.size()), inbox))
        name.replace(0, inbox.size(), inbox);
    return {boost::system::in_place_value, std::move(name)};
}

expected<void> add_folder(std::string_view given, std::vector<std::string>& to) {
    auto name = folder_name(given);
    if (!name) return name.error();
    const auto twin = std::find_if(
        to.begin(), to.end(), [&](const std::string& one) { return base::iequals(one, *name); });
    if (twin != to.end() && *twin == *name) return base::fail("\"{}\" stands there twice", *name);
    if (twin != to.end())
        return base::fail("\"{}\" and \"{}\" differ in case alone, and a ledger takes them for one",
                          *twin, *name);
    to.push_back(std::move(*name));
    return {};
}

std::string mailbox_name(std::string_view folder, std::string_view prefix, char delimiter) {
    if (folder == inbox) return std::string(folder);
    std::string name(folder.starts_with("INBOX/") ? std::string_view{} : prefix);
    name += folder;
    for (std::size_t at = name.size() - folder.size(); at < name.size(); ++at)
        if (name[at] == '/') name[at] = delimiter == 0 ? '-' : delimiter;
    return name;
}

std::string folder_address(std::string_view account, std::string_view folder) {
    std::string made(account);
    made.insert(std::min(made.rfind('@'), made.size()), fmt::format("+{}", folder));
    std::transform(made.begin(), made.end(), made.begin(), base::ascii_lower);
    return made;
}

expected<std::vector<std::string>> parse_watched_folders(std::string_view given) {
    std::vector<std::string> made;
    for (std::size_t at = 0; at <= given.size();) {
        const std::size_t end = std::min(given.find(',', at), given.size());
        const auto added = add_folder(given.substr(at, end - at), made);
        at = end + 1;
        if (!added) return added.error();
        if (made.back() == inbox) return base::fail("INBOX is watched in any case; leave it out");
    }
    if (made.size() > most_watched)
        return base::fail("{} folders; give 1 to {}", made.size(), most_watched);
    return made;
}

}  // namespace postal::rabid
