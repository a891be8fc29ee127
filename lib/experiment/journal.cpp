#include "experiment/journal.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "os/process.hpp"
#include "stats/json_fields.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

namespace postal::experiment {
namespace {

using stats::json;

constexpr std::string_view schema = "postal-journal/1";
constexpr std::array<std::string_view, 7> kinds{"process", "stop", "command", "mount",
                                                "loop",    "file", "setting"};
template <class Value, std::size_t size>
void read_name(const std::array<std::string_view, size>& names, const stats::json_fields& from,
               std::string_view key, Value& to) {
    std::string name;
    from.read(key, name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return from.complain(key, "a word that is known here");
    to = static_cast<Value>(found - names.begin());
}

std::string dump(const json& line) {
    return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// What JSON cannot hold could not be undone by who reads it.
bool can_be_kept(const undo_entry& one) {
    return base::is_valid_utf8(one.path) && base::is_valid_utf8(one.device) &&
           base::is_valid_utf8(one.log) &&
           std::all_of(one.words.begin(), one.words.end(), base::is_valid_utf8);
}

// Without what is empty.
json to_json(const undo_entry& one) {
    json line{{"undo", one.number}, {"kind", kinds[static_cast<std::size_t>(one.kind)]}};
    const auto limit_ms = std::chrono::ceil<std::chrono::milliseconds>(one.limit).count();
    if (!one.path.empty()) line["path"] = one.path;
    if (!one.device.empty()) line["device"] = one.device;
    if (!one.words.empty()) line["words"] = one.words;
    if (!one.where.empty()) line["where"] = one.where;
    if (!one.log.empty()) line["log"] = one.log;
    if (one.pid != 0) line["pid"] = one.pid;
    if (one.started != 0) line["started"] = one.started;
    if (limit_ms != 0) line["limit_ms"] = limit_ms;
    line["boot"] = one.boot;
    return line;
}

undo_entry entry_from(const stats::json_fields& line) {
    undo_entry one;
    std::uint64_t limit_ms = 0;
    line.read("undo", one.number, "path", one.path, "device", one.device, "words", one.words,
              "where", one.where, "log", one.log, "pid", one.pid, "started", one.started,
              "limit_ms", limit_ms, "boot", one.boot);
    read_name(kinds, line, "kind", one.kind);
    one.limit = std::chrono::milliseconds(std::min<std::uint64_t>(limit_ms, 86'400'000));
    return one;
}

bool strike(std::vector<undo_entry>& from, std::uint64_t number) {
    return std::erase_if(from, [&](const undo_entry& one) { return one.number == number; }) == 1;
}

// One whole line behind the first.
void take_line(journal_content& to, const json& line, stats::complaint& problems) {
    const stats::json_fields fields(line, "", problems);
    if (fields.has("undone")) {
        std::uint64_t number = 0;
        fields.read("undone", number);
        if (!problems && !strike(to.left, number)) fields.complain("undone", "announced above");
    } else if (fields.has("undo")) {
        to.left.push_back(entry_from(fields));
        if (to.left.back().number <= to.last_number)
            fields.complain("undo", "larger than those above");
        to.last_number = std::max(to.last_number, to.left.back().number);
    } else if (fields.has("making")) {
        std::string device;
        fields.read("making", device);
        to.making.insert(device);
    } else if (fields.has("made")) {
        std::string device;
        fields.read("device", device);
        to.making.erase(device);
        fields.read("made", to.made[device]);
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
        const json line = json::parse(lines[i], nullptr, false);
        stats::complaint problems;
        if (i > 0)
            take_line(result, line, problems);
        else if (!line.is_object() || line.value("journal", json()) != schema)
            problems.add("the first line", fmt::format("{{\"journal\":\"{}\"}}", schema));
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
        const auto begun = made.append(dump({{"journal", schema}}));
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
    const auto written = append(dump(to_json(how)));
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
                     .limit = limit});
}

base::expected<void> journal::strike_out(std::uint64_t number) {
    if (number == 0) return {};
    const auto written = append(dump({{"undone", number}}));
    if (written) strike(content_.left, number);
    return written;
}

std::string journal::made_on(const std::string& device) const {
    const auto found = content_.made.find(device);
    return found == content_.made.end() ? std::string{} : found->second;
}

base::expected<void> journal::note_making(const std::string& device) {
    content_.making.insert(device);
    return append(dump({{"making", device}}));
}

base::expected<void> journal::note_made(const std::string& device, const std::string& uuid) {
    content_.making.erase(device);
    content_.made[device] = uuid;
    return append(dump({{"made", uuid}, {"device", device}}));
}

}  // namespace postal::experiment
