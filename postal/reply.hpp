// A reply of the server as its consequences need it (RFC 5321 4.2).
#pragma once

#include <string_view>

namespace postal {

struct reply {
    int code = 0;  // 0: there was none
    std::string_view enhanced;
    std::string_view text;

    bool positive() const noexcept { return code / 100 == 2; }
    bool negative() const noexcept { return code >= 400; }
    bool permanent() const noexcept { return code >= 500; }
};

}  // namespace postal
