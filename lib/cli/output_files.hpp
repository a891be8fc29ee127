// Keeps what is there from being overwritten by mistake, for every option that names a file to be
// written.
//
// Such a file must be none that another value on the command line or in the configuration file
// names, whatever the path (a link, another spelling), and when it exists, it must be empty or of
// the kind that is written there. Where numbers are put behind the value (transcripts), no file that
// would be written may be named elsewhere, and those that exist are overwritten. "-", devices and pipes may be anything. A folder, and what cannot
// be read, is left to whoever writes.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"

#include <string>
#include <vector>

namespace postal::cli {

struct given_value {
    std::string where;  // "--record", "USER-LIST"
    std::string value;
    const file_kind* writes = nullptr;
};

// Fails with "--record: users.txt: ...".
base::expected<void> check_outputs(const std::vector<given_value>& all);

}  // namespace postal::cli
