// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps what is there from being overwritten by mistake, for every option that names a file to be
// written. It guards against mistakes, not against somebody who changes the files meanwhile.
//
// Such a file must be none that another value on the command line or in the configuration file
// names, whatever the path (a link, another spelling, /dev/fd/3, "-"), and none that standard
// output or standard error go to; these must be none of the inputs. When it exists, it must be
// empty or of the kind that is written there, unless the user wants it replaced. Where numbers are
// put behind the value (transcripts), that is asked of every file that has such a name. Devices and
// pipes may be anything, and so may "-" but for being an input. A folder is left to whoever writes.
//
// What a file seems to be is told by content_look.hpp.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace postal::cli {

struct given_value {
    std::string where;  // "--record", "USER-LIST"
    std::string value;
    const file_kind* writes = nullptr;
};

// What is to be done with files of another kind: refuse them, or --force.
enum class existing_files : std::uint8_t { keep, replace };

// Fails with "--record: users.txt: ...".
base::expected<void> check_outputs(const std::vector<given_value>& all, existing_files others);

// The second half of it, for one file whose name follows from a value.
base::expected<void> check_kind(const given_value& output);

}  // namespace postal::cli
