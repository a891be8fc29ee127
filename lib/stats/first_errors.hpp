// SPDX-License-Identifier: GPL-3.0-or-later
// The first error of each kind, which a person is shown at once.
//
// A kind is stage, code and detail here, whatever the text, so that a server with many words is not
// many lines. Bounded: after `most` kinds nothing is a first one any more, and all is only counted
// (error_table.hpp). Nothing here fails.
#pragma once

#include "stats/error_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace postal::stats {

// As it was counted, with the peer that it was about; `peer` may be empty.
struct first_error {
    error_entry what;
    std::string peer;
};

class first_errors {
  public:
    static constexpr std::size_t most = 32;

    // Whether the entry's kind is new here.
    bool add(const error_entry& one);

  private:
    std::vector<error_entry> known_;  // without counts and samples
};

// "connect refused at 127.0.0.1:25", "rcpt 550 5.1.1 at 127.0.0.1:25: no such user"; fit for a
// terminal.
[[nodiscard]] std::string describe_first(const first_error& error);

}  // namespace postal::stats
