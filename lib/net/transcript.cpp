// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/transcript.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace postal::net {

namespace {

constexpr std::size_t longest_line = 4096;

struct first_failure {
    std::mutex mutex{};
    std::string file{};
    int error = 0;  // 0: none
};

first_failure& first_failed() {
    static first_failure one;
    return one;
}

void note_failure(const std::string& path, int error) noexcept {
    first_failure& noted = first_failed();
    const std::scoped_lock lock(noted.mutex);
    if (noted.error != 0) return;
    noted.error = error;
    try {
        noted.file = path;
    } catch (const std::bad_alloc&) {
    }
}

// Its name can be guessed, and its folder may be everybody's (/tmp): a link there that is not this
// user's own is not followed, whatever the kernel does (protected_symlinks, proc(5)). Null with
// errno as fopen().
std::FILE* open_own(const std::string& path, bool appends) noexcept {
    const int how = O_WRONLY | O_CREAT | O_CLOEXEC | (appends ? O_APPEND : O_TRUNC);
    int number = ::open(path.c_str(), how | O_NOFOLLOW, 0666);
    struct stat link {};
    if (number < 0 && errno == ELOOP && ::lstat(path.c_str(), &link) == 0) {
        errno = ELOOP;
        if (link.st_uid == ::geteuid()) number = ::open(path.c_str(), how, 0666);
    }
    if (number < 0) return nullptr;
    std::FILE* const file = ::fdopen(number, appends ? "a" : "w");
    if (file == nullptr) ::close(number);
    return file;
}

}  // namespace

std::optional<std::string> transcript_failure() {
    first_failure& noted = first_failed();
    const std::scoped_lock lock(noted.mutex);
    if (noted.error == 0) return std::nullopt;
    return fmt::format("{}: cannot write the transcript: {}", noted.file,
                       base::system_message(noted.error));
}

transcript::file::file(const std::string& path) : opened_(open_own(path, false)), path_(path) {
    if (opened_ == nullptr) note_failure(path_, errno);
}

transcript::file& transcript::file::operator=(file&& other) noexcept {
    close();
    opened_ = std::exchange(other.opened_, nullptr);
    path_ = std::move(other.path_);
    return *this;
}

void transcript::file::write(std::string_view octets) noexcept {
    if (std::fwrite(octets.data(), 1, octets.size(), opened_) != octets.size())
        note_failure(path_, errno);
}

void transcript::file::close() noexcept {
    if (opened_ == nullptr) return;
    if (std::fclose(std::exchange(opened_, nullptr)) != 0) note_failure(path_, errno);
}

base::expected<void> check_transcripts(const transcript_options& options) {
    const std::pair<std::string_view, const std::string&> bases[] = {
        {"--transcript", options.session_base},
        {"--connection-transcript", options.connection_base}};
    for (const auto& [option, name] : bases) {
        if (name.empty()) continue;
        const std::string path = name + ":0";
        const bool was_there = ::access(path.c_str(), F_OK) == 0;
        std::FILE* file = open_own(path, true);
        if (file == nullptr) {
            return base::fail("{}: {}: cannot write the transcript: {}", option, path,
                              base::system_message(errno));
        }
        std::fclose(file);
        if (!was_there) std::remove(path.c_str());
    }
    return {};
}

// "    0.000123 -> "
bool is_transcript(std::string_view beginning) noexcept {
    constexpr std::size_t narrowest = 12;
    constexpr std::size_t decimals = 6;
    std::size_t at = std::min(beginning.find_first_not_of(' '), beginning.size());
    while (at < beginning.size() && base::is_digit(beginning[at]))
        ++at;
    const std::string_view rest = beginning.substr(at);
    if (at + 1 + decimals < narrowest || !rest.starts_with('.')) return false;
    const std::string_view behind = rest.substr(std::min(rest.size(), 1 + decimals));
    return std::all_of(rest.begin() + 1, rest.begin() + (rest.size() - behind.size()),
                       base::is_digit) &&
           (behind.starts_with(" -- ") || behind.starts_with(" -> ") || behind.starts_with(" <- "));
}

transcript::transcript(transcript_options options, unsigned session)
    : options_(std::move(options)), session_(session) {
    if (!options_.session_base.empty()) {
        session_file_ = file(fmt::format("{}:{}", options_.session_base, session_));
    }
}

void transcript::begin_connection(std::string_view peer) {
    flush_count();
    ++connection_;
    if (!options_.connection_base.empty()) {
        connection_file_ =
            file(fmt::format("{}:{}:{}", options_.connection_base, session_, connection_));
        if (options_.session_base.empty() && !session_file_) {
            session_file_ = file(fmt::format("{}:{}", options_.connection_base, session_));
        }
    }
    note(fmt::format("connection {} with {}", connection_, peer));
}

// One line of the transcript for each line of the dialogue.
void transcript::write(std::string_view arrow, std::string_view octets) {
    flush_count();
    while (!octets.empty()) {
        const std::size_t end = std::min(octets.find('\n'), octets.size() - 1) + 1;
        std::string_view line = octets.substr(0, end);
        octets.remove_prefix(end);
        while (line.ends_with('\n') || line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        const auto now = std::chrono::steady_clock::now() - began_;
        write_line(fmt::format("{:12.6f} {} {}\n", base::seconds_of(now), arrow,
                               base::printable(line, longest_line)));
    }
}

void transcript::write_data(std::string_view arrow, std::string_view octets) {
    if (options_.everything) return write(arrow, octets);
    if (counted_arrow_ != arrow) flush_count();
    counted_arrow_ = arrow;
    counted_ += octets.size();
}

void transcript::flush_count() {
    if (counted_ == 0) return;
    const std::string text = fmt::format("[{} octets of message]", std::exchange(counted_, 0));
    write(counted_arrow_, text);
}

void transcript::write_line(std::string_view line) {
    const bool any_file = session_file_ || connection_file_;
    if (session_file_) session_file_.write(line);
    if (connection_file_) connection_file_.write(line);
    if (!any_file && options_.everything) {
        const std::string whole = fmt::format("{}: {}", session_, line);
        std::fwrite(whole.data(), 1, whole.size(), stderr);
    }
}

}  // namespace postal::net
