// SPDX-License-Identifier: GPL-3.0-or-later
// A folder of a test's own, with what it puts there.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace test {

// Gone with all that is in it when it goes out of scope.
class temporary_folder {
  public:
    temporary_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "postal-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
        path_ = name;
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    std::string operator/(std::string_view name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }
    long files() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

    // Writes a file, with the folders that it needs, and gives its path.
    std::string write(std::string_view name, std::string_view content) const {
        const auto path = path_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
        return path.string();
    }

  private:
    std::filesystem::path path_;
};

}  // namespace test
