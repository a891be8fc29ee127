// Who keeps a mount from being unmounted, for the line that says so.
//
// Limits: sees the processes that this one may look at, their folders and open files; memory that
// is mapped from closed files, swap files and loop devices on the mount are not found.
#pragma once

#include <string>

namespace postal::testbed {

// "1234 (dovecot), 1236 (imap)", "the mount on /mnt/mail/spool", or that none was found.
[[nodiscard]] std::string mount_holders(const std::string& folder);

}  // namespace postal::testbed
