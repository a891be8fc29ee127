// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/verified.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/read_file.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "bundle/archive.hpp"
#include "bundle/manifest.hpp"
#include "bundle/signature.hpp"
#include "postal-report/folder.hpp"
#include "postal-report/recomputed.hpp"
#include "postal-report/shown.hpp"

namespace postal::report {

namespace {

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
        const auto octets = base::read_file(wanted.verify, bundle::archive_bounds{}.archive);
        if (!octets) return refuse(octets.error(), cli::exit_status::bad_parameters);
        const bool is_archive = bundle::looks_like_archive(*octets);
        if (!is_archive && !wanted.allowed_signers.empty())
            return refused(base::fail("is no bundle, and carries no signature"),
                           cli::exit_status::not_signed);
        if (!is_archive)
            return refused(base::fail("is neither a bundle nor a folder of results; a record by "
                                      "itself has nothing that it could be held against"),
                           cli::exit_status::bad_parameters);
        auto read = bundle::read_archive(*octets);
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
