// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/envelope.hpp"

#include <functional>
#include <set>
#include <string>

#include "base/alternatives.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace postal::bhm {
namespace {

using base::expected;

expected<proto::path> path_of(std::string_view text) {
    const auto read = proto::parse_mailbox(text, proto::bare_local_part::allowed);
    if (!read.ok()) return base::fail("{}", read.refusal);
    return read.value;
}

template <class T, class Parse>
auto stored(T& into, Parse parse) {
    return [&into, parse](std::string_view value) -> expected<void> {
        auto read = parse(value);
        if (!read) return read.error();
        into = *read;
        return {};
    };
}

expected<bool> yes_or_no(std::string_view value) {
    if (value == "yes") return true;
    if (value == "no") return false;
    return base::fail("give yes or no");
}

expected<std::uint64_t> number_of(std::string_view value) {
    const auto read = base::parse_count(value);
    if (read && *read == 0) return base::fail("they are counted from 1");
    return read;
}

expected<net::ip_address> address_of(std::string_view value) {
    const auto read = net::parse_ip(value);
    if (!read) return base::fail("is no IP address");
    return *read;
}

struct key {
    std::string_view name;
    std::function<expected<void>(std::string_view)> read;
};

std::vector<key> keys_of(envelope& into) {
    behaviour::situation& here = into.here;
    const auto text = [](std::string_view value) -> expected<std::string_view> { return value; };
    const auto size = [](std::string_view value) { return base::parse_size(value); };
    return {{"listener", stored(here.listener, text)},
            {"client", stored(into.client, address_of)},
            {"tls", stored(here.tls, yes_or_no)},
            {"helo", stored(here.helo, text)},
            {"from",
             [&into](std::string_view value) -> expected<void> {
                 into.here.sender = &into.sender;
                 if (value == "<>") {
                     into.sender.null = true;
                     return {};
                 }
                 return stored(into.sender, path_of)(value);
             }},
            {"to",
             [&into](std::string_view value) -> expected<void> {
                 into.here.recipient = &into.recipient;
                 into.here.recipient_number = 1;
                 return stored(into.recipient, path_of)(value);
             }},
            {"size", stored(here.size, size)},
            {"session", stored(here.session, number_of)},
            {"message", stored(here.message, number_of)},
            {"time", stored(here.now, base::parse_duration)}};
}

expected<void> read_word(const std::vector<key>& keys, std::string_view word,
                         std::set<std::string_view>& given) {
    const std::string_view name = word.substr(0, word.find('='));
    for (const key& one : keys) {
        if (one.name != name || name.size() == word.size()) continue;
        if (!given.insert(one.name).second) return base::fail("{}: given twice", name);
        const auto read = one.read(word.substr(name.size() + 1));
        if (read) return {};
        return base::fail("{}: {}", base::printable(word, 100), read.error().message);
    }
    std::vector<std::string> names;
    for (const key& one : keys)
        names.emplace_back(one.name);
    return base::fail("\"{}\" is not KEY=VALUE with one of {}", base::printable(word, 100),
                      base::alternatives(names));
}

}  // namespace

expected<std::unique_ptr<envelope>> parse_envelope(std::string_view text, const recipients& list) {
    auto made = std::make_unique<envelope>();
    made->here.message = 1;
    const auto keys = keys_of(*made);
    std::set<std::string_view> given;
    for (const std::string_view word : base::fields(text)) {
        const auto read = read_word(keys, word, given);
        if (!read) return base::at("--envelope", read.error());
    }
    if (made->client) made->here.client = &*made->client;
    if (made->here.recipient != nullptr) made->here.known = list.find(made->recipient) != nullptr;
    return made;
}

}  // namespace postal::bhm
