// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/signature.hpp"

#include "base/text.hpp"
#include "base/write_file.hpp"
#include "bundle/temporary_folder.hpp"
#include "os/child.hpp"
#include "os/find_program.hpp"
#include "os/printing_child.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <vector>

namespace postal::bundle {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds patience{60};
constexpr std::uint64_t most_printed = std::uint64_t{1} << 20U;
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
    const auto folder = temporary_folder::make();
    if (!folder) return folder.error();
    const auto file = folder->keep("signature", signature);
    if (!file) return file.error();
    std::string signer = identity;
    if (signer.empty()) {
        const auto found = keygen({"-Y", "find-principals", "-f", allowed, "-s", *file}, {});
        if (!found) return found.error();
        if (!found->well)
            return base::fail("nobody in {} has signed it: {}", base::printable(allowed, 300),
                              said(*found));
        signer = std::string(base::split(found->printed, '\n').front());
    }
    const auto judged = keygen(
        {"-Y", "verify", "-f", allowed, "-I", signer, "-n", signature_namespace, "-s", *file},
        text);
    if (!judged) return judged.error();
    if (!judged->well)
        return base::fail("its signature is not a good one of {}: {}", base::printable(signer, 200),
                          said(*judged));
    return {boost::system::in_place_value, base::printable(signer, 200)};
}

}  // namespace postal::bundle
