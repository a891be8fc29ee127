// The command line as it was written: which row got which texts. Knows nothing of what the texts
// mean.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"

#include <string>
#include <vector>

namespace postal::cli {

struct written_option {
    const option* row = nullptr;
    std::vector<std::string> values = {};  // empty when it was not given; "true" for a flag
};

struct command_line {
    std::vector<written_option> options;   // one for each row of each group, in order
    std::vector<std::string> positionals;  // as many as were given, in order
    bool help = false;
    bool version = false;
    std::string completion = {};  // the shell whose completion script is wanted
    std::string config = {};
};

// Fails on unknown options (and names a near one), options without their value and too many
// positionals. Missing positionals are not looked at. The rows' addresses are kept: `description`
// must outlive the result.
base::expected<command_line> read_command_line(const program& description, int argc,
                                               const char* const* argv);

}  // namespace postal::cli
