// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/mail_queue.hpp"

#include "base/file_descriptor.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "sampling/command.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

namespace postal::sampling {

namespace {

using std::chrono::steady_clock;
using entry_name = std::string_view;

enum class entry_kind : std::uint8_t { file, folder, other };

// How the messages of one folder stand in it.
struct layout {
    entry_kind kind = entry_kind::file;
    bool (*is_message)(entry_name) = nullptr;
    bool (*is_hashed)(entry_name) = nullptr;  // a folder that has more of the same
    unsigned deepest = 0;                     // such folders
    bool hashed_only = false;                 // messages stand in the deepest alone
};

struct queue_folder {
    std::string_view folder;
    bool waits = true;    // for the server to hand it on, not for a person
    bool needed = false;  // servers make the others when they first use them
};

struct server_layout {
    layout entries;
    std::span<const queue_folder> folders;
    std::span<const char* const> places;  // where its queue usually is; the first that is there
};

bool any_name(entry_name) {
    return true;
}
bool one_character(entry_name name) {
    return name.size() == 1;
}
bool is_header_file(entry_name name) {
    return name.size() > 2 && name.ends_with("-H");
}
bool is_item(entry_name name) {
    return name.size() > 2 && name.starts_with("m:");
}
bool digits_only(entry_name name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), base::is_digit);
}
bool is_control_file(entry_name name) {
    return name.starts_with('C') && digits_only(name.substr(1));
}
bool hexadecimal(entry_name name, std::size_t digits) {
    return name.size() == digits && std::all_of(name.begin(), name.end(), [](char c) {
               return base::is_digit(c) || (c >= 'a' && c <= 'f');
           });
}

constexpr std::array postfix_folders{queue_folder{"maildrop"}, queue_folder{"incoming"},
                                     queue_folder{"active", true, true}, queue_folder{"deferred"},
                                     queue_folder{"hold", false}};
constexpr std::array exim_folders{queue_folder{"input", true, true}};
constexpr std::array opensmtpd_folders{queue_folder{"queue", true, true}};
constexpr std::array chasquid_folders{queue_folder{"queue", true, true}};
constexpr std::array courier_folders{queue_folder{"msgs", true, true}};
constexpr std::array<const char*, 0> asked_for{};
constexpr std::array exim_places{"/var/spool/exim4", "/var/spool/exim"};
constexpr std::array opensmtpd_places{"/var/spool/smtpd"};
constexpr std::array chasquid_places{"/var/lib/chasquid"};
constexpr std::array courier_places{"/var/lib/courier", "/var/spool/courier"};

// Indexed by queue_kind.
const std::array<server_layout, 5> servers{{
    {{entry_kind::file, any_name, one_character, 4}, postfix_folders, asked_for},
    {{entry_kind::file, is_header_file, one_character, 1}, exim_folders, exim_places},
    {{entry_kind::folder, [](entry_name name) { return hexadecimal(name, 8); },
      [](entry_name name) { return hexadecimal(name, 2); }, 1, true},
     opensmtpd_folders,
     opensmtpd_places},
    {{entry_kind::file, is_item, one_character, 0}, chasquid_folders, chasquid_places},
    {{entry_kind::file, is_control_file, digits_only, 1, true}, courier_folders, courier_places},
}};

const server_layout& layout_of(queue_kind kind) noexcept {
    return servers[static_cast<std::size_t>(kind)];
}

struct closes_folder {
    void operator()(DIR* open) const noexcept { ::closedir(open); }
};

// One count, from its beginning to its end.
class walk {
  public:
    walk(const layout& entries, steady_clock::time_point until, std::chrono::nanoseconds limit)
        : entries_(entries), until_(until), limit_(limit) {}

    // Nothing in one that is not there.
    base::expected<std::uint64_t> count(const std::string& path) {
        found_ = 0;
        base::file_descriptor folder(
            ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
        if (!folder.is_open() && errno == ENOENT) return found_;
        if (!folder.is_open()) return cannot(path, errno);
        const auto counted = count_in(std::move(folder), path, 0);
        if (!counted) return counted.error();
        return found_;
    }

  private:
    static base::failure cannot(const std::string& path, int error) {
        return base::fail("{}: {}", base::printable(path, 300), base::system_message(error));
    }

    base::expected<void> count_in(base::file_descriptor folder, const std::string& path,
                                  unsigned depth) {
        const std::unique_ptr<DIR, closes_folder> open(::fdopendir(folder.get()));
        if (!open) return cannot(path, errno);
        const int number = folder.release();
        while (true) {
            errno = 0;
            const dirent* const one = ::readdir(open.get());
            if (one == nullptr) break;
            if (const auto in_time = look_at_the_time(path); !in_time) return in_time;
            const entry_name name = one->d_name;
            if (name.starts_with('.')) continue;
            const entry_kind kind = kind_of(number, *one);
            const bool deep_enough = !entries_.hashed_only || depth == entries_.deepest;
            if (kind == entries_.kind && deep_enough && entries_.is_message(name)) {
                ++found_;
                continue;
            }
            const bool hashed = kind == entry_kind::folder && depth < entries_.deepest;
            if (!hashed || !entries_.is_hashed(name)) continue;
            base::file_descriptor inner(::openat(
                number, one->d_name, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
            const std::string inner_path = fmt::format("{}/{}", path, name);
            if (!inner.is_open() && errno == ENOENT) continue;
            if (!inner.is_open()) return cannot(inner_path, errno);
            const auto counted = count_in(std::move(inner), inner_path, depth + 1);
            if (!counted) return counted;
        }
        if (errno != 0 && errno != ENOENT) return cannot(path, errno);
        return {};
    }

    // Not each file system says what a name is.
    static entry_kind kind_of(int folder, const dirent& of) {
        if (of.d_type == DT_REG) return entry_kind::file;
        if (of.d_type == DT_DIR) return entry_kind::folder;
        if (of.d_type != DT_UNKNOWN) return entry_kind::other;
        struct stat about {};
        if (::fstatat(folder, of.d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            return entry_kind::other;
        if (S_ISREG(about.st_mode)) return entry_kind::file;
        return S_ISDIR(about.st_mode) ? entry_kind::folder : entry_kind::other;
    }

    base::expected<void> look_at_the_time(const std::string& path) {
        constexpr unsigned often = 512;
        if (++seen_ % often != 0 || steady_clock::now() < until_) return {};
        return base::fail("{}: counting took longer than {}", base::printable(path, 300),
                          base::format_duration(limit_));
    }

    const layout& entries_;
    steady_clock::time_point until_;
    std::chrono::nanoseconds limit_;
    std::uint64_t found_ = 0;
    unsigned seen_ = 0;
};

// "postconf -h queue_directory" of the Postfix that is installed.
base::expected<std::string> ask_postfix(std::chrono::nanoseconds limit) {
    auto postconf = command::make({"postconf", "-h", "queue_directory"});
    if (!postconf)
        return base::fail("where Postfix has its queue is not known: {}; give postfix:DIRECTORY",
                          postconf.error().message);
    const auto said = postconf->run(limit);
    if (!said)
        return base::fail(
            "postconf does not say where Postfix has its queue: {}; give "
            "postfix:DIRECTORY",
            said.error().message);
    const std::string_view path = base::trim(*said);
    if (!path.starts_with('/') || path.find('\n') != path.npos)
        return base::fail(
            "postconf does not say where Postfix has its queue; give postfix:DIRECTORY");
    return {boost::system::in_place_value, std::string(path)};
}

base::expected<std::string> find_directory(const queue_choice& chosen,
                                           std::chrono::nanoseconds limit) {
    if (!chosen.directory.empty()) return {boost::system::in_place_value, chosen.directory};
    if (chosen.kind == queue_kind::postfix) return ask_postfix(limit);
    const auto places = layout_of(chosen.kind).places;
    for (const char* const one : places)
        if (std::error_code unknown; std::filesystem::is_directory(one, unknown))
            return {boost::system::in_place_value, std::string(one)};
    return base::fail("no {}; give {}:DIRECTORY", fmt::join(places, " and no "), chosen.server());
}

// What would be right.
std::string advice_on(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0)
        return ::access(path.c_str(), F_OK) != 0 && errno == EACCES ? "run as root" : "";
    std::array<char, 4096> room{};
    passwd owner{};
    passwd* found = nullptr;
    ::getpwuid_r(about.st_uid, &owner, room.data(), room.size(), &found);
    if (found == nullptr) return fmt::format("run as root, or as user {}", about.st_uid);
    return fmt::format("run as root, or as {}", found->pw_name);
}

}  // namespace

base::expected<mail_queue> mail_queue::open(const queue_choice& chosen, std::string name,
                                            std::chrono::nanoseconds limit) {
    auto directory = find_directory(chosen, limit);
    if (!directory) return directory.error();
    mail_queue made(chosen.kind, std::move(name), std::move(*directory));
    for (const queue_folder& each : layout_of(made.kind_).folders) {
        const std::string path = fmt::format("{}/{}", made.directory_, each.folder);
        if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT && !each.needed) continue;
        if (::access(path.c_str(), F_OK) != 0 && errno != EACCES)
            return base::fail("{}: {}; give the directory that has {} in it",
                              base::printable(path, 300), base::system_message(errno), each.folder);
        if (::access(path.c_str(), R_OK | X_OK) != 0)
            return base::fail("{}: {}; {}", base::printable(path, 300),
                              base::system_message(EACCES), advice_on(path));
    }
    const auto counted = made.count(limit);
    if (!counted) return counted.error();
    return made;
}

std::vector<std::string> mail_queue::figures(queue_kind kind, const std::string& name) {
    std::vector<std::string> made{name};
    const server_layout& server = layout_of(kind);
    for (const queue_folder& each : server.folders)
        if (server.folders.size() > 1) made.push_back(fmt::format("{} {}", name, each.folder));
    return made;
}

base::expected<std::vector<stats::sampled_value>> mail_queue::count(
    std::chrono::nanoseconds limit) const {
    const server_layout& server = layout_of(kind_);
    walk through(server.entries, steady_clock::now() + limit, limit);
    std::vector<stats::sampled_value> made{{name_, "messages", 0, true}};
    for (const queue_folder& each : server.folders) {
        const auto counted = through.count(fmt::format("{}/{}", directory_, each.folder));
        if (!counted) return counted.error();
        const auto number = static_cast<double>(*counted);
        if (each.waits) made.front().value += number;
        if (server.folders.size() > 1)
            made.push_back({fmt::format("{} {}", name_, each.folder), "messages", number, false});
    }
    return made;
}

}  // namespace postal::sampling
