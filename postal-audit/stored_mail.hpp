// SPDX-License-Identifier: GPL-3.0-or-later
// Mail of servers that keep one message in a file (Maildir and the like), read from the files
// themselves into a ledger.
//
// A folder is given as a template in which an element of the path has `%u` or `%d`: each name that
// fits there is a user's or a domain's ("/mnt/mail/%u/Maildir", "/mnt/mail/%d/%u", "/mnt/box-%u").
// Whose mail is found is the address, in lower case: "%u@%d" where there is a domain, else "%u";
// another one stands in front of the folder, "%u@example.org=/mnt/mail/%u". `%%` is a percent sign.
//
// Below each such folder all regular files are read, whatever they are called; what is not mail of
// ours is foreign in the ledger and does no harm. Not read: folders called tmp, which in Maildirs
// hold what was never delivered; files beside the folders cur or new, which are a server's own;
// what symbolic links point to. Lines may end in LF or CRLF. Messages are judged as rabid judges
// them.
//
// A file or folder that is there and cannot be read, is larger than most_octets or lies deeper than
// most_depth is counted as unopened, and is no failure: a power cut may have damaged it. A folder
// that is missing holds nothing. Fails with one line on a template that is none and a ledger that
// cannot be written. Bounded memory, whatever the number of files. Blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace postal::audit {

struct stored_mail_options {
    std::uint64_t most_octets = std::uint64_t{256} << 20U;  // of a file
    int most_depth = 16;                                    // folders below a mailbox
    std::vector<std::string> argv{};                        // for the ledger
};

struct stored_mail_read {
    std::uint64_t mailboxes = 0;   // folders that fit a template
    std::uint64_t files = 0;       // read
    std::uint64_t unopened = 0;    // files and folders
    std::string first_unopened{};  // with the reason, in one line; empty when there is none
};

// Adds a run of a reader to the ledger, which is made where there is none.
[[nodiscard]] base::expected<stored_mail_read> read_stored_mail(
    const std::vector<std::string>& folders, const std::string& ledger,
    const stored_mail_options& chosen = {});

}  // namespace postal::audit
