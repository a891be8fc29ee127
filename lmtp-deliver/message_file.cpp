// SPDX-License-Identifier: GPL-3.0-or-later
// Notes: a second reader's own offset comes from opening /proc/self/fd/N anew (proc(5)); dup(2)
// would share the offset. Everything is written with pwrite(2), so the first descriptor stays at
// offset 0 for an only reader.
#include "lmtp-deliver/message_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/interrupted.hpp"
#include "base/write_file.hpp"

namespace postal::lmtp_deliver {
namespace {

base::file_descriptor open_in_memory() noexcept {
    return base::file_descriptor(::memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

// Copies all of `from` to `to` from `begin` on; 0 or an errno value.
int copy_all(int from, int to, std::uint64_t size, std::uint64_t begin) noexcept {
    if (::lseek(to, static_cast<off_t>(begin), SEEK_SET) < 0) return errno;
    off_t at = 0;
    while (static_cast<std::uint64_t>(at) < size) {
        const auto left = static_cast<std::size_t>(size - static_cast<std::uint64_t>(at));
        const ssize_t copied = base::uninterrupted([&] { return ::sendfile(to, from, &at, left); });
        if (copied < 0) return errno;
        if (copied == 0) return EIO;
    }
    return ::lseek(to, 0, SEEK_SET) < 0 ? errno : 0;
}

}  // namespace

base::expected<base::file_descriptor> open_unlinked(const std::string& folder) {
    base::file_descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file.is_open() && (errno == EOPNOTSUPP || errno == EISDIR)) {
        // Not every file system has O_TMPFILE (open(2)).
        std::string name = folder + "/lmtp-deliver-XXXXXX";
        file = base::file_descriptor(::mkostemp(name.data(), O_CLOEXEC));
        if (file.is_open()) ::unlink(name.c_str());
    }
    if (!file.is_open()) {
        return base::fail("{}: cannot make a file: {}", folder, base::system_message(errno));
    }
    // It has no name: only who holds it can open it again, such as an agent of another user's by
    // /dev/stdin. For writing nobody can but root, so that the next agent reads the same.
    ::fchmod(file.get(), 0444);
    return file;
}

bool has_room(const storage_rules& rules, std::uint64_t octets) noexcept {
    struct statvfs there {};
    if (rules.least_free == 0 || ::statvfs(rules.folder.c_str(), &there) != 0) return true;
    const std::uint64_t free = std::uint64_t{there.f_bavail} * there.f_frsize;
    return free >= octets && free - octets >= rules.least_free;
}

void message_file::give_up() noexcept {
    if (error_ == 0) error_ = ENOSPC;
    file_ = {};
}

void message_file::append(std::string_view octets) {
    if (rules_->ends == mail::line_ends::lf) return append_lf(octets);
    store(octets);
}

void message_file::append_lf(std::string_view octets) {
    std::array<char, 16 * 1024> text;
    std::size_t used = 0;
    const auto put = [&](std::string_view piece) {
        while (!piece.empty()) {
            if (used == text.size()) store({text.data(), std::exchange(used, 0)});
            const std::size_t fits = std::min(piece.size(), text.size() - used);
            std::memcpy(text.data() + used, piece.data(), fits);
            used += fits;
            piece.remove_prefix(fits);
        }
    };
    lines_.feed(octets, put);
    if (used > 0) store({text.data(), used});
}

void message_file::store(std::string_view octets) {
    if (error_ != 0) return;
    if (!file_.is_open()) {
        file_ = open_in_memory();
        if (!file_.is_open()) error_ = errno;
    }
    if (in_memory_ && size_ + octets.size() > rules_->memory_limit) move_to_disk();
    write(octets);
}

void message_file::write(std::string_view octets) noexcept {
    constexpr std::uint64_t octets_a_look = std::uint64_t{8} << 20U;
    if (error_ == 0 && !in_memory_ && size_ >= look_again_at_) {
        look_again_at_ = size_ + octets_a_look;
        no_room_ = !has_room(*rules_, octets.size());
        if (no_room_) error_ = ENOSPC;
    }
    if (error_ == 0) error_ = base::write_all(file_.get(), octets, size_);
    if (error_ == 0) size_ += octets.size();
}

void message_file::move_to_disk() {
    in_memory_ = false;
    if (error_ != 0) return;
    errno = 0;
    auto on_disk = open_unlinked(rules_->folder);
    if (!on_disk) {
        error_ = errno != 0 ? errno : EIO;
        return;
    }
    error_ = copy_all(file_.get(), on_disk->get(), size_, 0);
    file_ = std::move(*on_disk);
}

base::expected<void> message_file::finish() {
    lines_.finish([this](std::string_view piece) { store(piece); });
    if (!file_.is_open() && error_ == 0) store({});  // an empty message is a file too
    if (error_ == 0 && in_memory_) {
        const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
        if (::fcntl(file_.get(), F_ADD_SEALS, seals) != 0) error_ = errno;
    }
    if (error_ == 0) return {};
    return base::fail("cannot store the message: {}", base::system_message(error_));
}

bool message_file::may_copy(std::string_view head) const noexcept {
    return !copy_goes_to_disk(head.size()) || has_room(*rules_, head.size() + size_);
}

base::expected<base::file_descriptor> message_file::open_copy(std::string_view head) const {
    if (head.empty()) {
        const std::string path = fmt::format("/proc/self/fd/{}", file_.get());
        base::file_descriptor again(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!again.is_open()) {
            return base::fail("cannot open the message: {}", base::system_message(errno));
        }
        return again;
    }
    message_file copy(*rules_);
    copy.append(head);
    if (copy.in_memory_ && copy_goes_to_disk(head.size())) copy.move_to_disk();
    if (copy.error_ == 0) {
        copy.error_ = copy_all(file_.get(), copy.file_.get(), size_, copy.size_);
    }
    copy.size_ += size_;
    auto done = copy.finish();
    if (!done) return done.error();
    return copy.take();
}

}  // namespace postal::lmtp_deliver
