// SPDX-License-Identifier: GPL-3.0-or-later
// What the session that runs says, until it is sent: one for all sessions of a worker.
//
// A session reaches it through its own loan, and by no other way. The loan leaves it empty when it
// ends, however the session comes to its end, and takes nothing over from the one before: replies
// of one client cannot come to another. Between two turns a session has nothing in it. One thread's
// own; nothing here fails or allocates.
#pragma once

#include <string>
#include <vector>

#include "load/watched.hpp"
#include "net/gather.hpp"

namespace postal::serve {

class shared_output {
  public:
    struct contents {
        std::string text;
        net::gather parts;                        // of it, what is being written
        std::vector<load::steady_time> answered;  // when the messages answered in it were begun

        void clear() noexcept {
            text.clear();
            parts.clear();
            answered.clear();
        }
    };

    class loan {
      public:
        explicit loan(shared_output& from) noexcept : from_(from) {}
        loan(const loan&) = delete;
        loan& operator=(const loan&) = delete;
        ~loan() { give_back(); }

        contents* operator->() noexcept { return &**this; }
        contents& operator*() noexcept {
            if (from_.borrower_ != this) {
                from_.contents_.clear();
                from_.borrower_ = this;
            }
            return from_.contents_;
        }
        // Whatever is in it is never said.
        void give_back() noexcept {
            if (from_.borrower_ != this) return;
            from_.contents_.clear();
            from_.borrower_ = nullptr;
        }

      private:
        shared_output& from_;
    };

    shared_output() = default;
    shared_output(const shared_output&) = delete;
    shared_output& operator=(const shared_output&) = delete;

  private:
    contents contents_;
    const loan* borrower_ = nullptr;
};

}  // namespace postal::serve
