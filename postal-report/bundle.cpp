// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/bundle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "base/read_file.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "base/write_file.hpp"
#include "bundle/manifest.hpp"
#include "bundle/signature.hpp"
#include "ledger/snapshot.hpp"
#include "mail/sha256.hpp"
#include "postal-report/folder.hpp"
#include "postal-report/recomputed.hpp"
#include "postal-report/shown.hpp"
#include "stats/record_reader.hpp"

namespace postal::report {

namespace {

constexpr bundle::archive_bounds bounds{};
constexpr std::size_t most_given = 999;

// "records/ext4.json": what nobody minds in a name, and no other file's.
std::string name_in(std::string_view folder, const std::string& file, std::string_view ending,
                    const bundle::files& all) {
    std::string stem = std::filesystem::path(file).stem().string().substr(0, 100);
    for (char& c : stem)
        if (!base::is_shell_plain(c) || c == '/' || c == ':') c = '_';
    if (!bundle::is_plain_name(stem)) stem = "_";
    std::string name = fmt::format("{}/{}{}", folder, stem, ending);
    for (int more = 2; all.contains(name); ++more)
        name = fmt::format("{}/{}-{}{}", folder, stem, more, ending);
    return name;
}

// What is being put together.
struct collected {
    packed_files packed{};
    bundle::files ledgers{};
    bundle::manifest about{};
};

base::expected<void> add_record(const std::string& file, collected& to) {
    const auto text = base::read_file(file, bounds.file);
    if (!text) return text.error();
    const std::string shown = base::printable(file, 300);
    const auto parsed = stats::parse_record(*text);
    if (!parsed) return base::fail("{}: {}", shown, base::printable(parsed.error().message, 300));
    const std::string name = name_in("records", file, ".json", to.packed.all);
    const auto removed = to.packed.add_json(name, *text);
    if (!removed) return removed.error();
    to.about.records.push_back(name);
    to.packed.remarks.push_back(fmt::format(
        "{}: has the command line, names of servers and what they said; {} of secrets left out by "
        "their names",
        name, *removed == 0 ? "no values" : base::format_amount(*removed, "value")));
    return {};
}

base::expected<void> add_ledger(const std::string& file, collected& to) {
    auto octets = ledger::snapshot(file, bounds.file);
    if (!octets) return octets.error();
    const std::string name = name_in("ledgers", file, ".ledger", to.ledgers);
    to.ledgers[name] = std::move(*octets);
    to.about.ledgers.push_back(name);
    return {};
}

base::expected<void> add_results(const std::string& folder, collected& to) {
    if (!to.about.results.empty())
        return base::fail("{}: a bundle has the results of one experiment",
                          base::printable(folder, 300));
    auto packed = pack_experiment(folder);
    if (!packed) return packed.error();
    to.about.results = "results/";
    to.packed.all.merge(packed->all);
    const auto append = [](auto& these, auto& those) {
        std::move(those.begin(), those.end(), std::back_inserter(these));
    };
    append(to.packed.left_out, packed->left_out);
    append(to.packed.remarks, packed->remarks);
    return {};
}

base::expected<void> add(const std::string& file, collected& to) {
    if (is_experiment(file)) return add_results(file, to);
    if (ledger::looks_like_ledger(file)) return add_ledger(file, to);
    return add_record(file, to);
}

base::expected<collected> collect(const options& wanted) {
    collected to;
    to.about.version = base::build_version;
    to.about.one_store = wanted.one_store;
    if (!wanted.ledger.empty())
        if (const auto added = add_ledger(wanted.ledger, to); !added) return added.error();
    if (wanted.records.size() > most_given)
        return base::fail("a bundle has at most {} records and ledgers", most_given);
    for (const std::string& file : wanted.records)
        if (const auto added = add(file, to); !added) return added.error();
    if (wanted.with_ledgers && to.ledgers.empty())
        return base::fail("--with-ledgers: there is no ledger among what is given");
    return {boost::system::in_place_value, std::move(to)};
}

// What a verifier of it would be told, a line each, and the status of that.
struct forewarning {
    std::vector<std::string> lines{};
    cli::exit_status is = cli::exit_status::done;
};

forewarning forewarning_of(const recomputed& made) {
    forewarning to;
    for (const std::string& one : made.found)
        to.lines.push_back("WRONG: " + one);
    for (const std::string& one : made.differs)
        to.lines.push_back("DIFFERS: " + one);
    if (!made.differs.empty()) to.is = cli::exit_status::other_version;
    if (!made.found.empty()) to.is = cli::exit_status::threshold_not_met;
    return to;
}

// What is printed of the files, and the ledgers themselves where they are wanted.
base::expected<forewarning> print_into(collected& to, bool with_ledgers) {
    bundle::files all = to.packed.all;
    all.insert(to.ledgers.begin(), to.ledgers.end());
    auto made = recompute(to.about, all);
    if (!made) return made.error();
    if (!made->not_here.empty())
        return base::fail("cannot be computed here: {}",
                          base::printable(made->not_here.front(), 600));
    to.about.account = !to.about.ledgers.empty();
    if (to.about.account)
        to.packed.remarks.emplace_back(
            with_ledgers ? "ledgers/: have command lines, and each message's addresses"
                         : "printed/ledgers.txt: may name addresses");
    if (with_ledgers) {
        to.packed.all.merge(to.ledgers);
    } else {
        for (const std::string& name : to.about.ledgers)
            to.packed.left_out.push_back({name, "a ledger; --with-ledgers has it in the bundle"});
        to.about.ledgers.clear();
    }
    to.packed.all.merge(made->printed);
    to.packed.left_out.push_back({"lists of users, settings and keys that records name",
                                  "what programs were given beside their options is never read"});
    return forewarning_of(*made);
}

base::expected<std::string> archive_of(collected& from, const std::string& key) {
    from.about.files = bundle::list_of(from.packed.all);
    from.about.left_out = std::move(from.packed.left_out);
    from.about.remarks = from.packed.remarks;
    const std::string manifest = bundle::manifest_text(from.about);
    bundle::files& all = from.packed.all;
    if (!key.empty()) {
        const auto signature = bundle::sign(manifest, key);
        if (!signature) return base::at("--sign", signature.error());
        all[std::string(bundle::signature_name)] = *signature;
    }
    all[std::string(bundle::manifest_name)] = manifest;
    return bundle::write_archive(all, bounds);
}

}  // namespace

cli::exit_status write_bundle(const options& wanted) {
    auto made = collect(wanted);
    if (!made) return refuse(made.error(), cli::exit_status::bad_parameters);
    const auto printed = print_into(*made, wanted.with_ledgers);
    if (!printed) return refuse(printed.error(), cli::exit_status::bad_parameters);
    for (const std::string& one : made->packed.remarks)
        cli::complain(program_name, "a secret may lie in " + base::printable(one, 400));
    for (const std::string& one : printed->lines)
        cli::complain(program_name, "--verify will say " + base::printable(one, 400));
    const auto octets = archive_of(*made, wanted.sign);
    if (!octets)
        return refuse(base::at("--bundle", octets.error()), cli::exit_status::bad_parameters);
    const auto written = base::write_file(wanted.bundle, *octets);
    if (!written) return refuse(written.error(), cli::exit_status::system_error);
    base::print(fmt::format("{}: {} in {}; SHA-256 {}\n", base::printable(wanted.bundle, 300),
                            base::format_amount(made->packed.all.size(), "file"),
                            base::format_size(octets->size()), mail::sha256_of(*octets)));
    return printed->is;
}

}  // namespace postal::report
