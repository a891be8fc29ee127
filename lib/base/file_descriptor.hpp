// SPDX-License-Identifier: GPL-3.0-or-later
// A file descriptor that is closed with its owner.
//
// Move-only; -1 stands for none. What is opened may have failed: ask is_open(), errno says why.
#pragma once

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace postal::base {

class file_descriptor {
  public:
    file_descriptor() = default;
    explicit file_descriptor(int number) noexcept : number_(number) {}
    file_descriptor(file_descriptor&& other) noexcept : number_(other.release()) {}
    file_descriptor& operator=(file_descriptor&& other) noexcept {
        const int taken = other.release();
        close();
        number_ = taken;
        return *this;
    }
    ~file_descriptor() { close(); }

    int get() const noexcept { return number_; }
    bool is_open() const noexcept { return number_ >= 0; }
    int release() noexcept { return std::exchange(number_, -1); }
    // 0 or an errno value: some file systems say only now that a write has failed.
    int close() noexcept { return is_open() && ::close(release()) != 0 ? errno : 0; }

  private:
    int number_ = -1;
};

}  // namespace postal::base
