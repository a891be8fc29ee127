// SPDX-License-Identifier: GPL-3.0-or-later
// A file with a text, for tests of what reads files.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace test {

// Gone with its folder when it goes out of scope.
class temporary_file {
  public:
    explicit temporary_file(std::string_view content) {
        std::string folder = (std::filesystem::temp_directory_path() / "postal-XXXXXX").string();
        if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp");
        folder_ = folder;
        std::ofstream(path(), std::ios::binary) << content;
    }
    ~temporary_file() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    std::string path() const { return (folder_ / "some.toml").string(); }

  private:
    std::filesystem::path folder_;
};

}  // namespace test
