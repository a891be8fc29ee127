// SPDX-License-Identifier: GPL-3.0-or-later
// Folders and files are opened below the one before, without following links, so that names which
// change meanwhile lead nowhere else.
#include "postal-audit/stored_mail.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "base/interrupted.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "ledger/examination.hpp"
#include "ledger/row_buffer.hpp"
#include "ledger/writer.hpp"
#include "mail/rebuild.hpp"
#include "postal-audit/folder_template.hpp"
#include "postal-audit/log_watch.hpp"

namespace postal::audit {
namespace {

using base::expected;
using base::file_descriptor;

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// Without waiting for the writer of a pipe that stands where a file was expected.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

// Calls put with the text of a stored file with CRLF line ends, in views of what was fed.
class crlf_lines {
  public:
    template <class Put>
    void feed(std::string_view octets, Put&& put) {
        while (!octets.empty()) {
            const std::size_t end = octets.find('\n');
            const std::string_view line = octets.substr(0, end);
            if (!line.empty()) {
                put(line);
                last_ = line.back();
            }
            if (end == std::string_view::npos) return;
            put(std::string_view(last_ == '\r' ? "\n" : "\r\n"));
            last_ = '\n';
            octets.remove_prefix(end + 1);
        }
    }

  private:
    char last_ = 0;
};

class mail_files {
  public:
    mail_files(ledger::writer& book, const stored_mail_options& chosen)
        : book_(book), rows_(book), chosen_(chosen) {}

    void read(const folder_template& where) {
        where_ = &where;
        owner_ = {};
        descend(file_descriptor(::open("/", folder_flags)), "/", 0);
    }
    const stored_mail_read& result() const noexcept { return result_; }

  private:
    using visitor = std::function<void(const std::string& name, const std::string& path)>;

    void descend(file_descriptor folder, const std::string& path, std::size_t depth);
    void enter(int within, const std::string& name, const std::string& path, std::size_t depth);
    void read_folder(file_descriptor folder, const std::string& path, int depth);
    void read_file(int within, const std::string& name, const std::string& path);
    bool examine(int file, const std::string& path);
    void note();
    void for_names(file_descriptor folder, const std::string& path, const visitor& visit);
    void unopened(const std::string& path, std::string_view why) {
        if (result_.unopened++ == 0)
            result_.first_unopened = fmt::format("{}: {}", base::printable(path, 300), why);
    }

    ledger::writer& book_;
    ledger::row_buffer rows_;
    const stored_mail_options& chosen_;
    ledger::evidence_memory memory_{};
    ledger::examination message_{memory_};
    mail::body_rebuilder rebuilder_{ledger::evidence::most_remade};
    const folder_template* where_ = nullptr;
    mailbox_owner owner_{};
    ledger::address_id mailbox_ = 0;
    stored_mail_read result_{};
};

std::string below(const std::string& path, const std::string& name) {
    return path.ends_with('/') ? path + name : path + "/" + name;
}

void mail_files::for_names(file_descriptor folder, const std::string& path, const visitor& visit) {
    const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(folder.get()), ::closedir);
    if (!names) return unopened(path, base::system_message(errno));
    folder.release();
    for (;;) {
        errno = 0;
        const dirent* one = ::readdir(names.get());
        if (one == nullptr) break;
        const std::string name = one->d_name;
        if (name != "." && name != "..") visit(name, below(path, name));
    }
    if (errno != 0) unopened(path, base::system_message(errno));
}

// To the folders that fit the template, from its element `depth` on.
void mail_files::descend(file_descriptor folder, const std::string& path, std::size_t depth) {
    if (depth == where_->elements().size()) {
        ++result_.mailboxes;
        mailbox_ = rows_.address(where_->address_of(owner_));
        return read_folder(std::move(folder), path, 0);
    }
    const folder_template::element& wanted = where_->elements()[depth];
    if (wanted.stands_for == 0)
        return enter(folder.get(), wanted.before, below(path, wanted.before), depth);
    const int within = folder.get();
    for_names(std::move(folder), path, [&](const std::string& name, const std::string& at) {
        auto fits = wanted.match(name);
        if (!fits) return;
        (wanted.stands_for == 'u' ? owner_.user : owner_.domain) = std::move(*fits);
        enter(within, name, at, depth);
    });
}

void mail_files::enter(int within, const std::string& name, const std::string& path,
                       std::size_t depth) {
    file_descriptor found(::openat(within, name.c_str(), folder_flags));
    if (found.is_open()) return descend(std::move(found), path, depth + 1);
    const bool none = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if (!none) unopened(path, base::system_message(errno));
}

bool has_folder(int within, const char* name) {
    struct stat found {};
    return ::fstatat(within, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

void mail_files::read_folder(file_descriptor folder, const std::string& path, int depth) {
    const int within = folder.get();
    const bool maildir = has_folder(within, "cur") || has_folder(within, "new");
    for_names(std::move(folder), path, [&](const std::string& name, const std::string& at) {
        struct stat about {};
        if (::fstatat(within, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno != ENOENT) unopened(at, base::system_message(errno));
            return;
        }
        if (S_ISREG(about.st_mode) && !maildir) return read_file(within, name, at);
        if (!S_ISDIR(about.st_mode) || name == "tmp") return;
        if (depth == chosen_.most_depth) return unopened(at, "lies too deep");
        file_descriptor next(::openat(within, name.c_str(), folder_flags));
        if (!next.is_open()) return unopened(at, base::system_message(errno));
        read_folder(std::move(next), at, depth + 1);
    });
}

void mail_files::read_file(int within, const std::string& name, const std::string& path) {
    const file_descriptor file(::openat(within, name.c_str(), file_flags));
    if (!file.is_open()) return unopened(path, base::system_message(errno));
    message_.reset();
    if (!examine(file.get(), path)) return;
    ++result_.files;
    note();
}

bool mail_files::examine(int file, const std::string& path) {
    std::array<char, std::size_t{64} * 1024> chunk;
    crlf_lines lines;
    std::uint64_t octets = 0;
    for (;;) {
        const ssize_t got =
            base::uninterrupted([&] { return ::read(file, chunk.data(), chunk.size()); });
        if (got == 0) return true;
        if (got < 0) {
            unopened(path, base::system_message(errno));
            return false;
        }
        octets += static_cast<std::uint64_t>(got);
        if (octets > chosen_.most_octets) {
            unopened(path, "is too large for a message");
            return false;
        }
        lines.feed({chunk.data(), static_cast<std::size_t>(got)},
                   [this](std::string_view piece) { message_.feed(piece); });
    }
}

void mail_files::note() {
    ledger::seen_row row;
    message_.describe(message_.finish(), row, rebuilder_);
    row.time_us = static_cast<std::uint64_t>(wall_clock_us());
    row.mailbox = mailbox_;
    // No word of the ledger is nearer: a mailbox in which each stored message is one of its own.
    row.through = ledger::way::imap;
    rows_.add(std::move(row));
    rows_.flush_if_due(std::chrono::steady_clock::now());
    while (!rows_.keeps_up() && !book_.has_failed())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

expected<stored_mail_read> read_stored_mail(const std::vector<std::string>& folders,
                                            const std::string& ledger,
                                            const stored_mail_options& chosen) {
    std::vector<folder_template> templates;
    for (const std::string& text : folders) {
        auto one = folder_template::parse(text);
        if (!one) return one.error();
        templates.push_back(std::move(*one));
    }
    auto book = ledger::writer::open(ledger, {.run = base::fresh_entropy(),
                                              .is = ledger::role::reader,
                                              .program = "postal-audit",
                                              .started = std::chrono::system_clock::now(),
                                              .seed = 0,
                                              .argv = chosen.argv});
    if (!book) return book.error();
    stored_mail_read result;
    {
        mail_files files(**book, chosen);
        for (const folder_template& one : templates)
            files.read(one);
        result = files.result();
    }
    const auto closed = (*book)->close();
    if (!closed) return closed.error();
    return result;
}

}  // namespace postal::audit
