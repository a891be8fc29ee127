// SPDX-License-Identifier: GPL-3.0-or-later
// Where users' mail lies, as a path in which names stand for users and domains; see
// stored_mail.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace postal::audit {

struct mailbox_owner {
    std::string user;
    std::string domain;
};

class folder_template {
  public:
    // Fails with one line that says what a template is to be.
    static base::expected<folder_template> parse(std::string_view text);

    // One name of the path; `stands_for` is 'u' or 'd', or 0 where `before` is the whole name.
    struct element {
        std::string before;
        char stands_for = 0;
        std::string behind;

        // What stands for the placeholder in a folder's name; nothing when it does not fit.
        std::optional<std::string> match(std::string_view name) const;
    };
    // Below "/".
    const std::vector<element>& elements() const noexcept { return elements_; }
    // In lower case.
    std::string address_of(const mailbox_owner& who) const;

  private:
    std::string address_ = "%u";
    std::vector<element> elements_;
};

}  // namespace postal::audit
