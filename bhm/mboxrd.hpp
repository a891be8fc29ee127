// SPDX-License-Identifier: GPL-3.0-or-later
// A message as it stands in an mbox file, of the kind mboxrd: a line "From SENDER DATE", the
// message with LF line ends, a blank line. A line of the message that begins with "From ", behind
// any number of ">", gets one more ">", so that it can be taken back and never separates messages.
//
// Flow: text = separator(...); mboxrd_quoter q; q.feed(piece, text)...; q.finish(text)
// Nothing here fails. At most five octets are held between two pieces.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace postal::bhm {

// With its LF. The date is that of asctime(3), in UTC.
[[nodiscard]] std::string mbox_separator(std::string_view reverse_path,
                                         std::chrono::system_clock::time_point when);

class mboxrd_quoter {
  public:
    // Appends what is known of it by now; lines end in LF.
    void feed(std::string_view piece, std::string& to);
    // What was held, the end of a last line without one, and the blank line.
    void finish(std::string& to);

  private:
    bool at_start_ = true;     // of a line, but for ">"
    bool line_begun_ = false;  // something stands on it
    std::size_t matched_ = 0;  // octets of "From ", held
};

}  // namespace postal::bhm
