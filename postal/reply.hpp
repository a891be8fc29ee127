// A reply of the server as its consequences need it (RFC 5321 4.2).
#pragma once

#include <string_view>

#include "proto/smtp/reply_parser.hpp"

namespace postal {

struct reply {
    int code = 0;  // 0: there was none
    std::string_view text;
    std::string_view said{};  // what the server said, where the text is not that alone

    // Read only where it is shown: most replies are not.
    std::string_view enhanced() const noexcept {
        return proto::enhanced_status(said.empty() ? text : said);
    }
    bool positive() const noexcept { return code / 100 == 2; }
    bool negative() const noexcept { return code >= 400; }
    bool permanent() const noexcept { return code >= 500; }
};

}  // namespace postal
