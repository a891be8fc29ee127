// SPDX-License-Identifier: GPL-3.0-or-later
// Real mail to send: loaded and checked once before a run, then shared by all threads.
//
// PATH is a directory of mails (every regular file in it whose name does not begin with a dot), a
// Maildir (it has cur/ and new/), an mbox file, or one mail. Of each mail the line ends become CRLF
// (CRLF, LF and a lone CR each end a line); nothing else is changed, 8-bit included.
// In an mbox a line "From " at the start or behind an empty line begins a mail, that empty line
// belongs to the separator, and ">From ", ">>From " lose one ">" (mboxrd). A "From " line on top of
// a single mail is dropped.
//
// Loading fails with one line naming the first file (for an mbox: the mail's number and line) and
// the reason: it cannot be read, is empty, has a NUL, does not start with a header field (RFC 5322
// 2.2), or has a line of more than 998 octets, which servers may refuse or wrap (RFC 5321
// 4.5.3.1.6); how many more there are is said too. Also when there is no mail at all. Symbolic
// links are followed, special files skipped. Limits: all mail is kept in memory.
#pragma once

#include "base/result.hpp"
#include "mail/canonical.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

struct corpus_mail {
    std::string name;     // file, or "file#number" in an mbox
    std::string raw;      // CRLF lines
    std::string stuffed;  // for DATA, ends in CRLF; empty when it would equal raw
    coverage present = 0;
    bool needs_8bit = false;
    bool final_newline = true;
    [[nodiscard]] std::string_view stuffed_text() const noexcept {
        return stuffed.empty() ? std::string_view(raw) : std::string_view(stuffed);
    }
};

[[nodiscard]] base::expected<std::vector<corpus_mail>> load_corpus(const std::string& path);

// One mail from its octets; the failure is the reason alone.
[[nodiscard]] base::expected<corpus_mail> read_mail(std::string_view octets, std::string name);

}  // namespace postal::mail
