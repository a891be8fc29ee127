// SPDX-License-Identifier: GPL-3.0-or-later
// What a file seems to be, by its beginning, for a message that keeps it from being overwritten. A
// guess in words; nothing depends on it.
#pragma once

#include <string_view>

namespace postal::cli {

// "a user list", "a mail", "a program"; "text" or "binary data" where nothing better fits.
std::string_view content_look(std::string_view beginning);

}  // namespace postal::cli
