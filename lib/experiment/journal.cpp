// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/journal.hpp"

#include <nlohmann/json.hpp>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "experiment/record_fields.hpp"
#include "os/process.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

namespace postal::experiment {
namespace {

constexpr std::string_view journal_schema = "postal-journal/1";
constexpr std::chrono::hours longest_limit{24};
// A run has some twenty steps.
constexpr std::size_t most_left = 1000;
constexpr stats::json_bounds line_bounds{
    .octets = std::uint64_t{1} << 20U, .depth = 8, .members = 100, .values = 100000};

// line_of("undone", 3): {"undone":3}
template <class... Members>
std::string line_of(const Members&... members) {
    stats::json_writer to(-1);
    stats::plain_fields(to, members...);
    return to.take() + "\n";
}
std::string line_of(const undo_entry& one) {
    stats::json_writer to(-1);
    fields<stats::json_writer>(to, one);
    return to.take() + "\n";
}

// What JSON cannot hold could not be undone by who reads it.
bool can_be_kept(const undo_entry& one) {
    return base::is_valid_utf8(one.path) && base::is_valid_utf8(one.device) &&
           base::is_valid_utf8(one.log) &&
           std::all_of(one.words.begin(), one.words.end(), base::is_valid_utf8);
}

bool strike(std::vector<undo_entry>& from, std::uint64_t number) {
    return std::erase_if(from, [&](const undo_entry& one) { return one.number == number; }) == 1;
}

// One whole line behind the first.
void take_line(journal_content& to, const stats::json& line, stats::complaint& problems) {
    const stats::json_fields from(line, "", problems);
    if (from.has("undone")) {
        std::uint64_t number = 0;
        from.read("undone", number);
        if (!problems && !strike(to.left, number)) from.complain("undone", "announced above");
    } else if (from.has("undo")) {
        if (to.left.size() >= most_left)
            return problems.add("this line", "one of few to be undone");
        undo_entry& one = to.left.emplace_back();
        fields<const stats::json_fields>(from, one);
        one.limit = std::min<std::chrono::milliseconds>(one.limit, longest_limit);
        if (one.number <= to.last_number) from.complain("undo", "larger than those above");
        to.last_number = std::max(to.last_number, one.number);
    } else if (from.has("making")) {
        std::string device;
        from.read("making", device);
        to.making.insert(device);
    } else if (from.has("made")) {
        std::string device;
        from.read("device", device);
        to.making.erase(device);
        from.read("made", to.made[device]);
    } else {
        problems.add("this line", "one that is known here");
    }
}

base::failure cannot(const std::string& path, std::string_view what) {
    return base::fail("{}: cannot be {}: {}", base::printable(path, 300), what,
                      base::system_message(errno));
}

// What is in it is run as who we are: nobody else may have written it.
base::expected<void> check_ours(const base::file_descriptor& opened, mode_t type,
                                const std::string& path) {
    struct stat is {};
    if (::fstat(opened.get(), &is) != 0) return cannot(path, "opened");
    const std::string shown = base::printable(path, 300);
    if ((is.st_mode & S_IFMT) != type) return base::fail("{} is not a regular file", shown);
    if (is.st_uid != ::geteuid()) return base::fail("{} belongs to another user", shown);
    if ((is.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return base::fail("{} can be written by other users; if nobody has: chmod go-w {}", shown,
                          shown);
    return {};
}

}  // namespace

base::expected<journal_content> parse_journal(std::string_view text, const std::string& path) {
    journal_content result;
    const std::size_t end = text.rfind('\n');
    result.octets = end == text.npos ? 0 : end + 1;
    if (result.octets == 0) return result;
    const auto lines = base::split(text.substr(0, end), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        // What is no JSON is no object either.
        const auto parsed = stats::parse_foreign(lines[i], line_bounds);
        const stats::json line = parsed ? *parsed : stats::json();
        stats::complaint problems;
        if (i > 0)
            take_line(result, line, problems);
        else if (!line.is_object() || line.value("journal", stats::json()) != journal_schema)
            problems.add("the first line", fmt::format("{{\"journal\":\"{}\"}}", journal_schema));
        if (problems)
            return base::fail("{}:{}: {}", base::printable(path, 300), i + 1, problems.first);
    }
    return result;
}

base::expected<journal> journal::open(const std::string& folder) {
    journal made;
    made.path_ = (std::filesystem::path(folder) / "journal.jsonl").string();
    const base::file_descriptor within(
        ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!within.is_open()) return cannot(folder, "opened");
    if (const auto ours = check_ours(within, S_IFDIR, folder); !ours) return ours.error();
    made.file_ = base::file_descriptor(
        ::openat(within.get(), "journal.jsonl", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!made.file_.is_open()) return cannot(made.path_, "opened");
    if (const auto ours = check_ours(made.file_, S_IFREG, made.path_); !ours) return ours.error();
    if (::flock(made.file_.get(), LOCK_EX | LOCK_NB) != 0)
        return base::fail("{}: another program is at this experiment",
                          base::printable(made.path_, 300));
    const auto text = base::read_descriptor(made.file_.get(), made.path_);
    if (!text) return text.error();
    auto content = parse_journal(*text, made.path_);
    if (!content) return content.error();
    made.content_ = std::move(*content);
    made.boot_ = os::boot_id();
    const auto whole = static_cast<off_t>(made.content_.octets);
    if (::ftruncate(made.file_.get(), whole) != 0 || ::lseek(made.file_.get(), whole, SEEK_SET) < 0)
        return cannot(made.path_, "written");
    if (whole == 0) {
        const auto begun = made.append(line_of("journal", journal_schema));
        if (!begun) return begun.error();
    }
    // Its name has to be on the disk as well.
    if (::fsync(within.get()) != 0) return cannot(folder, "written");
    return made;
}

// Whole or not at all: half a line would make the next one unreadable.
base::expected<void> journal::append(std::string line) {
    const off_t before = ::lseek(file_.get(), 0, SEEK_CUR);
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size()) && ::fdatasync(file_.get()) == 0) return {};
    if (written >= 0 && written < static_cast<ssize_t>(line.size())) errno = ENOSPC;
    auto why = cannot(path_, "written");
    if (::ftruncate(file_.get(), before) == 0) ::lseek(file_.get(), before, SEEK_SET);
    return why;
}

base::expected<std::uint64_t> journal::announce(undo_entry how) {
    if (!can_be_kept(how))
        return base::fail("{}: {} is not UTF-8, so it cannot be kept here",
                          base::printable(path_, 300),
                          base::printable(how.path + base::join(how.words, " "), 300));
    how.number = content_.last_number + 1;
    how.boot = boot_;
    const auto written = append(line_of(how));
    if (!written) return written.error();
    content_.left.push_back(std::move(how));
    return ++content_.last_number;
}

base::expected<std::uint64_t> journal::announce_process(pid_t pid, const std::string& where,
                                                        std::chrono::nanoseconds limit) {
    const auto found = os::find_process(pid);
    if (!found) return 0;
    return announce({.kind = undo_kind::process,
                     .where = where,
                     .pid = pid,
                     .started = found->start,
                     .limit = std::chrono::ceil<std::chrono::milliseconds>(limit)});
}

base::expected<void> journal::strike_out(std::uint64_t number) {
    if (number == 0) return {};
    const auto written = append(line_of("undone", number));
    if (written) strike(content_.left, number);
    return written;
}

std::string journal::made_on(const std::string& device) const {
    const auto found = content_.made.find(device);
    return found == content_.made.end() ? std::string{} : found->second;
}

base::expected<void> journal::note_making(const std::string& device) {
    content_.making.insert(device);
    return append(line_of("making", device));
}

base::expected<void> journal::note_made(const std::string& device, const std::string& uuid) {
    content_.making.erase(device);
    content_.made[device] = uuid;
    return append(line_of("made", uuid, "device", device));
}

}  // namespace postal::experiment
