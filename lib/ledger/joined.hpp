// SPDX-License-Identifier: GPL-3.0-or-later
// Several ledgers as one, such as those that the ranks of a run have written.
//
// Runs are the same where their numbers are: of a run that stands in several files the sessions lie
// apart, and it has ended when it has in each of them. Rows keep their order within a file. The
// files are only read; what is made of them lies in a temporary file of about their size. Fails
// with one line that names the file, as open_to_read() does, or where one is given twice.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "ledger/database.hpp"

namespace postal::ledger {

base::expected<database> join(const std::vector<std::string>& paths);

}  // namespace postal::ledger
