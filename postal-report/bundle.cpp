// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/bundle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// ---- verifying ----

void tell(std::string_view kind, const std::string& line) {
    base::print(fmt::format("{}: {}\n", kind, base::printable(line, 600)));
}

// The worst of what was found; each is a status of its own.
class findings_of {
  public:
    void add(cli::exit_status is, std::string_view kind, const std::string& line) {
        tell(kind, line);
        constexpr std::array order{
            cli::exit_status::not_recomputed, cli::exit_status::other_version,
            cli::exit_status::system_error,   cli::exit_status::threshold_not_met,
            cli::exit_status::file_unlisted,  cli::exit_status::file_missing,
            cli::exit_status::file_changed};
        const auto rank = [&](cli::exit_status of) {
            return std::find(order.begin(), order.end(), of) - order.begin();
        };
        if (worst_ == cli::exit_status::done || rank(is) > rank(worst_)) worst_ = is;
    }
    [[nodiscard]] cli::exit_status worst() const noexcept { return worst_; }

  private:
    cli::exit_status worst_ = cli::exit_status::done;
};

cli::exit_status status_of(bundle::file_fault is) {
    switch (is) {
        case bundle::file_fault::changed:
            return cli::exit_status::file_changed;
        case bundle::file_fault::missing:
            return cli::exit_status::file_missing;
        case bundle::file_fault::unlisted:
            break;
    }
    return cli::exit_status::file_unlisted;
}

// What was computed, and what it comes to.
void tell_found(const recomputed& made, findings_of& to) {
    for (const std::string& one : made.noted)
        tell("noted", one);
    for (const std::string& one : made.unchecked)
        to.add(cli::exit_status::not_recomputed, "unchecked", one);
    for (const std::string& one : made.not_here)
        to.add(cli::exit_status::system_error, "cannot be computed here", one);
    for (const std::string& one : made.differs)
        to.add(cli::exit_status::other_version, "DIFFERS", one);
    for (const std::string& one : made.found)
        to.add(cli::exit_status::threshold_not_met, "WRONG", one);
}

bool is_of_account(std::string_view name) {
    return name == "printed/ledgers.txt" || name == "printed/ledgers.csv";
}

// What was printed, against what follows. Words and rules differ between versions.
class comparison {
  public:
    comparison(const bundle::manifest& of, const bundle::files& all, findings_of& to)
        : of_(of), all_(all), to_(to) {}

    void run(const recomputed& made) {
        for (const auto& [name, text] : made.printed)
            compare(name, text);
        const bool account_alone = of_.account && of_.ledgers.empty();
        for (const char* name : {"printed/ledgers.txt", "printed/ledgers.csv"})
            if (account_alone && !all_.contains(name))
                differs(std::string(name) + ": what was printed is not there");
        // What cannot be computed here may follow all the same.
        for (const auto& [name, text] : all_)
            if (made.not_here.empty() && name.starts_with("printed/") &&
                !(account_alone && is_of_account(name)) && !made.printed.contains(name))
                differs(name + ": follows from nothing in the bundle");
        if (!is_same_version_)
            tell("noted", fmt::format("it was made by {}, and this is {}", of_.version,
                                      base::build_version));
    }
    void differs(const std::string& line) {
        to_.add(is_same_version_ ? cli::exit_status::threshold_not_met
                                 : cli::exit_status::other_version,
                is_same_version_ ? "WRONG" : "DIFFERS", line);
    }
    [[nodiscard]] std::string amounts() const {
        return fmt::format("{} of text and {}", base::format_amount(lines_, "line"),
                           base::format_amount(figures_, "figure"));
    }

  private:
    void compare(const std::string& name, const std::string& text) {
        const auto said = all_.find(name);
        if (said == all_.end()) return differs(name + ": what was printed is not there");
        for (const std::string& line : differences(
                 name, said->second, text, is_same_version_ ? maker::this_version : maker::another))
            differs(line);
        (name.ends_with(".csv") ? figures_ : lines_) += amount_in(name, text);
    }

    const bundle::manifest& of_;
    const bundle::files& all_;
    findings_of& to_;
    bool is_same_version_ = of_.version == base::build_version;
    std::size_t lines_ = 0;
    std::size_t figures_ = 0;
};

// Only of what was computed, and where nothing of it is wrong.
cli::exit_status conclude(const findings_of& found, const std::string& what) {
    if (found.worst() == cli::exit_status::done) base::print("Verified: " + what + ".\n");
    if (found.worst() == cli::exit_status::not_recomputed)
        base::print("Verified in part: " + what + "; what is unchecked may say anything.\n");
    return found.worst();
}

cli::exit_status verify_files(const bundle::manifest& of, const bundle::files& all) {
    findings_of found;
    for (const bundle::left_out_file& one : of.left_out)
        tell("left out", one.what + ": " + one.why);
    for (const bundle::faulty_file& one : bundle::check_files(of, all))
        found.add(status_of(one.is), "WRONG", one.line);
    // Nothing is made of files that the manifest, which may be signed, does not stand for.
    if (found.worst() != cli::exit_status::done) return found.worst();
    comparison against(of, all, found);
    const auto made = recompute(of, all);
    if (!made) {
        against.differs("nothing can be computed from it: " + made.error().message);
        return found.worst();
    }
    for (const auto& [name, text] : made->printed)
        if (name.ends_with(".txt")) base::print(text + "\n");
    tell_found(*made, found);
    against.run(*made);
    return conclude(found, fmt::format("{} follow from {} of the bundle", against.amounts(),
                                       base::format_amount(made->used.size(), "file")));
}

// Before anything that is signed is believed.
base::expected<void> check_signature(const options& wanted, const bundle::files& all) {
    const auto signature = all.find(bundle::signature_name);
    const bool is_signed = signature != all.end();
    if (wanted.allowed_signers.empty()) {
        tell("noted", is_signed
                          ? "it is signed, and nobody asked by whom: --allowed-signers FILE"
                          : "it is not signed: whoever changes all of it, and its manifest, is "
                            "not found out");
        return {};
    }
    if (!is_signed) return base::fail("has no signature, and --allowed-signers asks for one");
    const auto signer = bundle::signer_of(all.find(bundle::manifest_name)->second,
                                          signature->second, wanted.allowed_signers, wanted.signer);
    if (!signer) return signer.error();
    base::print(fmt::format("Signed by {}.\n", *signer));
    return {};
}

cli::exit_status verify_archive(const options& wanted) {
    const std::string shown = base::printable(wanted.verify, 300);
    const auto refused = [&](const base::failure& why, cli::exit_status status) {
        return refuse(base::fail("{}: {}", shown, base::printable(why.message, 600)), status);
    };
    bundle::files all;
    {
        const auto octets = base::read_file(wanted.verify, bounds.archive);
        if (!octets) return refuse(octets.error(), cli::exit_status::bad_parameters);
        const bool is_archive = bundle::looks_like_archive(*octets);
        if (!is_archive && !wanted.allowed_signers.empty())
            return refused(base::fail("is no bundle, and carries no signature"),
                           cli::exit_status::not_signed);
        if (!is_archive)
            return refused(base::fail("is neither a bundle nor a folder of results; a record by "
                                      "itself has nothing that it could be held against"),
                           cli::exit_status::bad_parameters);
        auto read = bundle::read_archive(*octets, bounds);
        if (!read) return refused(read.error(), cli::exit_status::bad_parameters);
        all = std::move(*read);
    }
    const auto manifest = all.find(bundle::manifest_name);
    if (manifest == all.end())
        return refused(base::fail("is no bundle: it has no {}", bundle::manifest_name),
                       cli::exit_status::bad_parameters);
    const auto judged = check_signature(wanted, all);
    if (!judged) return refused(judged.error(), cli::exit_status::not_signed);
    const auto parsed = bundle::parse_manifest(manifest->second);
    if (!parsed)
        return refused(base::at(bundle::manifest_name, parsed.error()),
                       cli::exit_status::bad_parameters);
    return verify_files(*parsed, all);
}

cli::exit_status verify_folder(const options& wanted) {
    const auto made = verify_experiment(wanted.verify);
    if (!made) return refuse(made.error(), cli::exit_status::bad_parameters);
    for (const auto& [name, text] : made->printed)
        base::print(text + "\n");
    findings_of found;
    tell_found(*made, found);
    if (made->held == 0 && found.worst() == cli::exit_status::not_recomputed) return found.worst();
    return conclude(found, fmt::format("the verdicts follow from {}, each of which is what "
                                       "experiment.json says of it",
                                       base::format_amount(made->held, "file")));
}

// What cannot carry a signature.
bool is_bundle_file(const std::string& path) {
    std::error_code ignored;
    return !std::filesystem::is_directory(path, ignored);
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

cli::exit_status verify_bundle(const options& wanted) {
    if (is_bundle_file(wanted.verify)) return verify_archive(wanted);
    if (!wanted.allowed_signers.empty())
        return refuse(base::fail("{}: is a folder, which carries no signature, and "
                                 "--allowed-signers asks for one",
                                 base::printable(wanted.verify, 300)),
                      cli::exit_status::not_signed);
    if (!is_experiment(wanted.verify))
        return refuse(base::fail("{}: is neither a bundle nor a folder of results",
                                 base::printable(wanted.verify, 300)),
                      cli::exit_status::bad_parameters);
    return verify_folder(wanted);
}

}  // namespace postal::report
