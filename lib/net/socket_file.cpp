// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/socket_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/random.hpp"

namespace postal::net {

namespace {

using base::expected;
using base::file_descriptor;

base::failure failed(int error) {
    return base::fail("{}", base::system_message(error));
}

sockaddr_un address_of(const std::string& path) noexcept {
    sockaddr_un result{};
    result.sun_family = AF_UNIX;
    std::memcpy(result.sun_path, path.data(), std::min(path.size(), sizeof result.sun_path - 1));
    return result;
}

// What an open file is called as long as it is open.
std::string name_of(const file_descriptor& file) {
    return fmt::format("/proc/self/fd/{}", file.get());
}

// Whether somebody listens there; 0, or the errno value that says why not.
int connect_error(const std::string& path) noexcept {
    const file_descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!probe.is_open()) return errno;
    const sockaddr_un to = address_of(path);
    return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 ? 0
                                                                                          : errno;
}

bool is_still(int folder, const std::string& name, dev_t device, ino_t inode) noexcept {
    struct stat now {};
    return ::fstatat(folder, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_dev == device && now.st_ino == inode;
}

// A leftover of a server that died may be replaced, a living one's socket may not.
expected<void> make_way(int folder, const std::string& name) {
    const file_descriptor found(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!found.is_open() && errno == ENOENT) return {};
    struct stat is {};
    if (!found.is_open() || ::fstat(found.get(), &is) != 0) return failed(errno);
    if (!S_ISSOCK(is.st_mode)) return base::fail("a file that is not a socket is there");
    const int error = connect_error(name_of(found));
    if (error == 0 || error == EAGAIN) return base::fail("another server does");
    // Only a refusal says that nobody listens any more.
    if (error != ECONNREFUSED) return failed(error);
    if (is_still(folder, name, is.st_dev, is.st_ino)) ::unlinkat(folder, name.c_str(), 0);
    return {};
}

// A folder in which nobody else can make, change or move anything, while its owner can at most move
// it as a whole. Gone at the end, with the file that is still in it.
class own_room {
  public:
    own_room(int folder, std::string file) : folder_(folder), file_(std::move(file)) {}
    own_room(const own_room&) = delete;
    own_room& operator=(const own_room&) = delete;
    ~own_room() {
        if (room_.is_open()) ::unlinkat(room_.get(), file_.c_str(), 0);
        if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), AT_REMOVEDIR);
    }

    // `alone`: it matters that nobody else can write to it.
    expected<void> make(bool alone) {
        name_ = fmt::format(".listen-{:016x}", base::fresh_entropy());
        if (::mkdirat(folder_, name_.c_str(), 0700) != 0) {
            name_.clear();
            return failed(errno);
        }
        room_ = file_descriptor(
            ::openat(folder_, name_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat is {};
        if (!room_.is_open() || ::fstat(room_.get(), &is) != 0) return failed(errno);
        // Whoever owns the folder may have put another in its place.
        if (alone && (is.st_uid != ::geteuid() || (is.st_mode & 077U) != 0)) {
            return base::fail("a folder that was made in the socket's folder is another one now");
        }
        return {};
    }

    int get() const noexcept { return room_.get(); }
    const char* file() const noexcept { return file_.c_str(); }
    std::string path_of_file() const { return name_of(room_) + "/" + file_; }

  private:
    int folder_;
    std::string file_;
    std::string name_;
    file_descriptor room_;
};

// 0, or an errno value. Once the owner is another, the mode could only be set with a capability.
int set_rights(const own_room& in, const socket_rights& wanted) noexcept {
    if (::fchmodat(in.get(), in.file(), wanted.mode, 0) != 0) return errno;
    return ::fchownat(in.get(), in.file(), wanted.user, wanted.group, AT_SYMLINK_NOFOLLOW) == 0
               ? 0
               : errno;
}

// Never over another file; 0, or an errno value.
int move_out(const own_room& from, int folder, const std::string& name) noexcept {
    if (::renameat2(from.get(), from.file(), folder, name.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // Not every file system can; the other name goes with the room.
    return ::linkat(from.get(), from.file(), folder, name.c_str(), 0) == 0 ? 0 : errno;
}

}  // namespace

expected<socket_file> socket_file::listen(int socket, const std::string& path,
                                          const std::optional<socket_rights>& rights, int queue) {
    socket_file made;
    const std::size_t slash = path.rfind('/');
    made.name_ = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (made.name_.empty()) return failed(EISDIR);
    made.folder_ = file_descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.folder_.is_open()) return failed(errno);
    if (::access(name_of(made.folder_).c_str(), F_OK) != 0)
        return base::fail("a Unix socket needs /proc, which is not mounted");
    auto way = make_way(made.folder_.get(), made.name_);
    if (!way) return way.error();

    // Tools show the name that it was bound by; a long one does not fit.
    constexpr std::size_t longest_shown = 80;
    own_room room(made.folder_.get(), made.name_.size() > longest_shown ? "socket" : made.name_);
    auto there = room.make(rights.has_value());
    if (!there) return there.error();
    const sockaddr_un at = address_of(room.path_of_file());
    struct stat is {};
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::fstatat(room.get(), room.file(), &is, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed(errno);
    }
    if (const int error = rights ? set_rights(room, *rights) : 0; error != 0) return failed(error);
    if (::listen(socket, queue) != 0) return failed(errno);
    const int moved = move_out(room, made.folder_.get(), made.name_);
    if (moved == EEXIST) return base::fail("another server has just begun to");
    if (moved != 0) return failed(moved);
    made.device_ = is.st_dev;
    made.inode_ = is.st_ino;
    return made;
}

socket_file& socket_file::operator=(socket_file&& other) noexcept {
    if (this == &other) return *this;
    remove();
    folder_ = std::move(other.folder_);
    name_ = std::move(other.name_);
    device_ = other.device_;
    inode_ = other.inode_;
    return *this;
}

void socket_file::remove() noexcept {
    if (!folder_.is_open()) return;
    if (is_still(folder_.get(), name_, device_, inode_))
        ::unlinkat(folder_.get(), name_.c_str(), 0);
    folder_.close();
}

}  // namespace postal::net
