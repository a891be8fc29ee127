// SPDX-License-Identifier: GPL-3.0-or-later
// The file of a Unix socket that a server listens on: made, given its rights and removed in a
// folder that may belong to somebody else (Postfix's `private`, say), who can change every name in
// it at any moment.
//
// So no name of that folder is ever changed through: the folder is opened once, and the socket is
// bound, given mode and owner, and set to listen in a folder of its own within, which only this
// process's user can write to. Then it is moved to its place, where there must be nothing. What
// others do with it there cannot make this process change another file. bind(2) has no descriptor
// of a folder: it goes through /proc/self/fd, which must be there.
//
// A socket that nobody listens on any more is replaced, one that is in use is refused. The file
// goes with its owner, or earlier by remove(), and only as long as it is this one. Failures are one
// line without the endpoint.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

namespace postal::net {

// Who may connect to a Unix socket: the file's mode and owner, set before anybody can.
struct socket_rights {
    mode_t mode = 0666;
    uid_t user = static_cast<uid_t>(-1);  // -1 leaves it as it is
    gid_t group = static_cast<gid_t>(-1);
};

class socket_file {
  public:
    socket_file() = default;
    socket_file(socket_file&&) noexcept = default;
    socket_file& operator=(socket_file&& other) noexcept;
    ~socket_file() { remove(); }

    // Binds a new stream socket and makes it listen, with as long a queue as `queue` says.
    static base::expected<socket_file> listen(int socket, const std::string& path,
                                              const std::optional<socket_rights>& rights,
                                              int queue);
    void remove() noexcept;

  private:
    base::file_descriptor folder_;
    std::string name_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace postal::net
