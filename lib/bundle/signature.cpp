// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/signature.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "os/child.hpp"
#include "os/find_program.hpp"
#include "os/printing_child.hpp"
#include "os/temporary_folder.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::bundle {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds patience{60};
constexpr std::uint64_t most_printed = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_allowed = std::uint64_t{16} << 20U;
constexpr std::size_t most_principals = 100;  // that are tried
constexpr std::string_view begins = "-----BEGIN SSH SIGNATURE-----";
constexpr std::string_view ends = "-----END SSH SIGNATURE-----";

struct ended_keygen {
    bool well = false;
    std::string printed{};
};

bool wait_for(int descriptor, steady_clock::time_point until) {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
        pollfd asked{descriptor, POLLIN, 0};
        const int found = ::poll(&asked, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
        if (found > 0) return true;
        if (found == 0 || errno != EINTR) return false;
    }
}

base::expected<ended_keygen> keygen(std::vector<std::string> words, const std::string& input) {
    const auto program = os::find_program("ssh-keygen");
    if (!program)
        return base::fail("{}; signatures need it (Debian: openssh-client)",
                          program.error().message);
    auto children = os::spawner::create();
    if (!children) return children.error();
    const base::file_descriptor text(::memfd_create("signed", MFD_CLOEXEC));
    if (!text.is_open()) return base::fail("no file in memory: {}", base::system_message(errno));
    if (const int problem = base::write_all(text.get(), input, 0); problem != 0)
        return base::fail("no file in memory: {}", base::system_message(problem));
    words.insert(words.begin(), "ssh-keygen");
    auto started = os::start_printing(*children, *program, words, most_printed, true, text.get());
    if (!started) return started.error();
    const bool in_time = wait_for(started->ended.get(), steady_clock::now() + patience);
    os::signal_group(started->running, SIGKILL);
    wait_for(started->ended.get(), steady_clock::now() + patience);
    const auto end = os::reap(started->running);
    if (!in_time) return base::fail("ssh-keygen took longer than a minute and was killed");
    const auto printed = os::read_printed(*started, "ssh-keygen", most_printed);
    if (!printed) return printed.error();
    return ended_keygen{end && !end->signalled && end->status_or_signal == 0, *printed};
}

// Its last line, where it says why.
std::string said(const ended_keygen& by) {
    const std::string_view all = base::trim(by.printed);
    const std::size_t line = all.rfind('\n');
    return base::printable(base::trim(line == std::string_view::npos ? all : all.substr(line)),
                           300);
}

// The principals of a line of allowed signers, "ada@example.com,bob@example.com ssh-ed25519 ...".
std::vector<std::string_view> principals_of(std::string_view line) {
    line = base::trim(line);
    if (line.empty() || line.front() == '#') return {};
    std::string_view names = line.substr(0, line.find_first_of(" \t"));
    if (line.front() == '"') names = line.substr(1, line.find('"', 1) - 1);
    return base::split(names, ',');
}

// Who may have made this signature by some line of `allowed`, which is a file's text: no line that
// ssh-keygen prints is believed that is not one of its principals, since it warns on the same way.
std::vector<std::string> principals_in(std::string_view printed, std::string_view allowed) {
    std::vector<std::string> to;
    for (const std::string_view line : base::split(allowed, '\n')) {
        for (const std::string_view name : principals_of(line)) {
            const auto lines = base::split(printed, '\n');
            const bool is_said = std::find(lines.begin(), lines.end(), name) != lines.end();
            if (is_said && std::find(to.begin(), to.end(), name) == to.end()) to.emplace_back(name);
        }
        if (to.size() >= most_principals) break;
    }
    return to;
}

// `allowed` without the first line that has one of these.
std::string without_line_of(std::string_view allowed, const std::vector<std::string>& names) {
    std::string to;
    bool is_left_out = false;
    for (const std::string_view line : base::split(allowed, '\n')) {
        const auto principals = principals_of(line);
        const bool is_theirs =
            !is_left_out && std::any_of(principals.begin(), principals.end(), [&](const auto& one) {
                return std::find(names.begin(), names.end(), one) != names.end();
            });
        is_left_out = is_left_out || is_theirs;
        if (!is_theirs) to += std::string(line) + "\n";
    }
    return to;
}

// `Good "postal-bundle" signature for ada@example.com with ED25519 key SHA256:...`: who it is.
std::string good_signer(std::string_view printed) {
    const std::string begin = fmt::format("Good \"{}\" signature for ", signature_namespace);
    for (const std::string_view line : base::split(printed, '\n')) {
        const std::size_t end = line.rfind(" with ");
        if (line.starts_with(begin) && end != line.npos && end >= begin.size())
            return std::string(line.substr(begin.size(), end - begin.size()));
    }
    return {};
}

struct asked_signature {
    const std::string& text;
    const std::string& file;  // of the signature
    const std::string& allowed;
};

base::expected<std::string> judge(const asked_signature& of, const std::string& signer) {
    const auto judged = keygen(
        {"-Y", "verify", "-f", of.allowed, "-I", signer, "-n", signature_namespace, "-s", of.file},
        of.text);
    if (!judged) return judged.error();
    const std::string named = judged->well ? good_signer(judged->printed) : std::string();
    if (named.empty())
        return base::fail("its signature is not a good one of {}: {}", base::printable(signer, 200),
                          said(*judged));
    return {boost::system::in_place_value, base::printable(named, 200)};
}

// ssh-keygen names those of one line that has the key, whether that line is for this namespace or
// not; so it is asked again without it.
base::expected<std::string> find_signer(const asked_signature& of,
                                        const os::temporary_folder& folder) {
    auto left = base::read_file(of.allowed, most_allowed);
    if (!left) return left.error();
    base::failure why = base::fail("nobody in {} has signed it", base::printable(of.allowed, 300));
    std::set<std::string> judged;
    for (std::size_t tries = 0; tries < most_principals; ++tries) {
        const auto lines = folder.keep("allowed", *left);
        if (!lines) return lines.error();
        const auto found = keygen({"-Y", "find-principals", "-f", *lines, "-s", of.file}, {});
        if (!found) return found.error();
        const auto names =
            found->well ? principals_in(found->printed, *left) : std::vector<std::string>();
        if (names.empty()) {
            if (tries == 0) why.message += ": " + said(*found);
            return why;
        }
        for (const std::string& name : names) {
            if (!judged.insert(name).second) continue;
            if (judged.size() > most_principals) return why;
            auto signer = judge(of, name);
            if (signer) return signer;
            why = signer.error();
        }
        *left = without_line_of(*left, names);
    }
    return why;
}

}  // namespace

base::expected<std::string> sign(const std::string& text, const std::string& key) {
    const auto made = keygen({"-Y", "sign", "-f", key, "-n", signature_namespace}, text);
    if (!made) return made.error();
    const std::string_view all = made->printed;
    const std::size_t from = all.find(begins);
    const std::size_t to = all.find(ends);
    if (!made->well || from == all.npos || to == all.npos || to < from)
        return base::fail("{}: nothing could be signed with it: {}", base::printable(key, 300),
                          said(*made));
    return {boost::system::in_place_value,
            std::string(all.substr(from, to - from + ends.size())) + "\n"};
}

base::expected<std::string> signer_of(const std::string& text, const std::string& signature,
                                      const std::string& allowed, const std::string& identity) {
    const auto folder = os::temporary_folder::make();
    if (!folder) return folder.error();
    const auto file = folder->keep("signature", signature);
    if (!file) return file.error();
    const asked_signature of{text, *file, allowed};
    auto signer = identity.empty() ? find_signer(of, *folder) : judge(of, identity);
    if (signer) return signer;
    // Where our files lie is nobody's business, and another place each time.
    std::string why = signer.error().message;
    const std::string ours = folder->at("");
    for (std::size_t at = why.find(ours); at != why.npos; at = why.find(ours, at))
        why.erase(at, ours.size());
    return base::failure{std::move(why)};
}

}  // namespace postal::bundle
