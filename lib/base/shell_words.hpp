// SPDX-License-Identifier: GPL-3.0-or-later
// shell_words: splits one line as a POSIX shell splits a plain command, and refuses the rest.
//
//   line  = *blank [ word *(1*blank word) ] *blank             ; blank: SP or TAB
//   word  = 1*( plain / "\" octet / "'" *octet "'" / DQUOTE *( octet / "\" escapable ) DQUOTE )
//   escapable = DQUOTE / "\" / "$" / "`"      ; before others in double quotes "\" means itself
//
// Refused wherever a shell would do more than split (POSIX 2.2, 2.3, 2.6): $ and ` outside single
// quotes; | & ; < > ( ) * ? [ { outside quotes; # and ~ where a word begins, ~ behind = and : too
// (bash); ! where the line begins, and NAME= there. Control characters but TAB are refused
// everywhere. So a line that is accepted means in a shell what it means here. Fails with
// "column N: why; what would be right", N counting octets from 1. Limits: the shell's reserved
// words ("if", "while") are words like others.
//
// split_command() is for commands without anything to put in: an argv, or the same refusals.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace postal::base {

// An octet of a word, without the quoting, and where it stood.
struct shell_octet {
    char value = 0;
    std::size_t column = 0;
};
using shell_word = std::vector<shell_octet>;

[[nodiscard]] expected<std::vector<shell_word>> split_as_shell(std::string_view line);
// A program and its arguments; not empty.
[[nodiscard]] expected<std::vector<std::string>> split_command(std::string_view line);

}  // namespace postal::base
