// SPDX-License-Identifier: GPL-3.0-or-later
// See mailbox.hpp.
#include "lmtp-deliver/mailbox.hpp"

namespace postal::lmtp_deliver {

mailbox make_mailbox(const proto::path& path, std::string_view delimiters) {
    const std::string local_part = proto::unquoted_local_part(path);
    const std::size_t split = local_part.find_first_of(delimiters, 1);
    mailbox made;
    made.user = local_part.substr(0, split);
    if (split != std::string::npos) made.detail = local_part.substr(split + 1);
    made.domain = path.domain;
    made.written = path.mailbox;
    made.address = proto::unquoted_mailbox(path);
    return made;
}

bool leaves_folder(std::string_view local_part) noexcept {
    return local_part.find('/') != std::string_view::npos ||
           local_part.find("..") != std::string_view::npos;
}

}  // namespace postal::lmtp_deliver
