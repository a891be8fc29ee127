// SPDX-License-Identifier: GPL-3.0-or-later
// Names of folders as people give them: levels with "/" between, of letters, digits, blanks, "-"
// and "_", which no server's separator can be in; and what a server calls them.
//
// What is wrong is one line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace postal::rabid {

// INBOX, in whatever case (RFC 3501 5.1), in capitals, also as the first of several levels.
base::expected<std::string> folder_name(std::string_view given);

// Puts such a name behind those that there are. None may be there twice, nor one that differs in
// case alone: ledgers have addresses in lower case, and many servers take them for one.
base::expected<void> add_folder(std::string_view given, std::vector<std::string>& to);

// A level below INBOX is below it whatever the prefix of other mailboxes is (RFC 2342). Without a
// delimiter, 0, levels become one name.
std::string mailbox_name(std::string_view folder, std::string_view prefix, char delimiter);

// --watch-folders: the mail of which address of an account lies in a folder, in lower case: of
// user@domain the subaddress user+folder@domain (RFC 5233).
std::string folder_address(std::string_view account, std::string_view folder);

// "lists,archive/2026": folders that are watched beside INBOX.
base::expected<std::vector<std::string>> parse_watched_folders(std::string_view given);

}  // namespace postal::rabid
