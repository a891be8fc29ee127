// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/manifest.hpp"

#include "mail/sha256.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace postal::bundle {

using stats::field;
using stats::plain_fields;

template <class Archive>
void fields(Archive& each, field<Archive, listed_file>& of) {
    plain_fields(each, "name", of.name, "size", of.size, "sha256", of.sha256);
}

template <class Archive>
void fields(Archive& each, field<Archive, left_out_file>& of) {
    plain_fields(each, "what", of.what, "why", of.why);
}

template <class Archive>
void fields(Archive& each, field<Archive, manifest>& of) {
    plain_fields(each, "version", of.version, "records", of.records, "results", of.results,
                 "ledgers", of.ledgers, "account", of.account, "one_store", of.one_store, "files",
                 of.files, "left_out", of.left_out, "remarks", of.remarks);
}

namespace {

// Side by side, or read as one.
constexpr std::size_t most_shown = 1000;

bool is_digest(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_digit(c) || (c >= 'a' && c <= 'f');
           });
}

bool is_own(std::string_view name) {
    return name == manifest_name || name == signature_name;
}

void check_manifest(const manifest& of, stats::complaint& problems) {
    std::set<std::string_view> named;
    for (std::size_t i = 0; i < of.files.size(); ++i) {
        const listed_file& one = of.files[i];
        const std::string place = fmt::format("files[{}].", i);
        if (!is_plain_name(one.name) || is_own(one.name))
            problems.add(place + "name", "a name that a file of a bundle has");
        if (!named.insert(one.name).second) problems.add(place + "name", "named once");
        if (!is_digest(one.sha256)) problems.add(place + "sha256", "64 hexadecimal digits");
    }
    // What is not named above is not checked either.
    const auto check = [&](const std::vector<std::string>& all, const std::string& key) {
        if (all.size() > most_shown)
            problems.add(key, fmt::format("a list of at most {}", most_shown));
        std::set<std::string_view> shown;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (!named.contains(all[i]) || !shown.insert(all[i]).second)
                problems.add(fmt::format("{}[{}]", key, i), "one of files, once");
    };
    check(of.records, "records");
    check(of.ledgers, "ledgers");
    if (of.records.empty() && of.results.empty() && of.ledgers.empty() && !of.account)
        problems.add("records",
                     "a list of at least one, where results, ledgers and account are "
                     "empty, too");
    if (!of.results.empty() && of.results != "results/")
        problems.add("results", "\"results/\" or empty");
}

}  // namespace

std::string manifest_text(const manifest& of) {
    return stats::fields_text(of, manifest_schema);
}

base::expected<manifest> parse_manifest(std::string_view text) {
    return stats::parse_fields<manifest>(text, manifest_schema, check_manifest);
}

std::vector<listed_file> list_of(const files& all) {
    std::vector<listed_file> to;
    for (const auto& [name, content] : all)
        if (!is_own(name)) to.push_back({name, content.size(), mail::sha256_of(content)});
    return to;
}

std::vector<faulty_file> check_files(const manifest& of, const files& all) {
    std::vector<faulty_file> to;
    std::set<std::string_view> listed;
    for (const listed_file& one : of.files) {
        listed.insert(one.name);
        const auto found = all.find(one.name);
        if (found == all.end())
            to.push_back({file_fault::missing, one.name + ": is in the manifest, and not there"});
        else if (found->second.size() != one.size)
            to.push_back(
                {file_fault::changed, fmt::format("{}: has {} octets, and the manifest says {}",
                                                  one.name, found->second.size(), one.size)});
        else if (mail::sha256_of(found->second) != one.sha256)
            to.push_back({file_fault::changed,
                          one.name + ": is not what it was: its SHA-256 is another one"});
    }
    for (const auto& [name, content] : all)
        if (!is_own(name) && !listed.contains(name))
            to.push_back({file_fault::unlisted, name + ": is there, and not in the manifest"});
    return to;
}

}  // namespace postal::bundle
