// SPDX-License-Identifier: GPL-3.0-or-later
// A folder that nobody else may look into, for what other libraries and programs read as files; it
// goes with its owner. Names in it are ours, never those of an archive.
//
// One such folder at a time, which has files alone, goes as well where SIGHUP, SIGINT or SIGTERM
// ends the process; for main's thread.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace postal::os {

class temporary_folder {
  public:
    // In $TMPDIR, or /tmp.
    [[nodiscard]] static base::expected<temporary_folder> make();
    temporary_folder(temporary_folder&& other) noexcept
        : path_(std::exchange(other.path_, std::string())) {}
    temporary_folder& operator=(temporary_folder&&) = delete;
    ~temporary_folder();

    // The path of a file in it.
    [[nodiscard]] std::string at(std::string_view name) const;
    // That file with that content; its path.
    [[nodiscard]] base::expected<std::string> keep(std::string_view name,
                                                   std::string_view content) const;

  private:
    explicit temporary_folder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

}  // namespace postal::os
