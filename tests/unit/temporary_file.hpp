// SPDX-License-Identifier: GPL-3.0-or-later
// A file with a text, for tests of what reads files.
#pragma once

#include <string>
#include <string_view>

#include "temporary_folder.hpp"

namespace test {

// Gone with its folder when it goes out of scope.
class temporary_file {
  public:
    explicit temporary_file(std::string_view content) { folder_.write("some.toml", content); }

    std::string path() const { return folder_ / "some.toml"; }

  private:
    temporary_folder folder_;
};

}  // namespace test
