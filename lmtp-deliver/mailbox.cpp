// See mailbox.hpp.
#include "lmtp-deliver/mailbox.hpp"

namespace postal::lmtp_deliver {

mailbox make_mailbox(const proto::path& path, std::string_view delimiters) {
    const std::string local_part = unquoted_local_part(path);
    const std::size_t split = local_part.find_first_of(delimiters, 1);
    mailbox made;
    made.user = local_part.substr(0, split);
    if (split != std::string::npos) made.detail = local_part.substr(split + 1);
    made.domain = path.domain;
    made.written = path.mailbox;
    made.address = local_part;
    if (!path.domain.empty()) made.address.append("@").append(path.domain);
    return made;
}

std::string unquoted_local_part(const proto::path& path) {
    if (!path.quoted) return std::string(path.local_part);
    const std::string_view inside = path.local_part.substr(1, path.local_part.size() - 2);
    std::string text;
    for (std::size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] == '\\') ++i;
        text += inside[i];
    }
    return text;
}

bool leaves_folder(std::string_view local_part) noexcept {
    return local_part.find('/') != std::string_view::npos ||
           local_part.find("..") != std::string_view::npos;
}

}  // namespace postal::lmtp_deliver
