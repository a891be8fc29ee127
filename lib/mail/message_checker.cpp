// SPDX-License-Identifier: GPL-3.0-or-later
// See message_checker.hpp. A header section that comes in one piece is parsed where it lies; only
// one that is split between two feeds is copied.
#include "mail/message_checker.hpp"

#include "base/release.hpp"

namespace postal::mail {
namespace {

constexpr std::size_t most_header_octets = std::size_t{64} << 10U;
constexpr std::size_t kept_octets = 8192;  // what reset() lets a header buffer keep

}  // namespace

struct checker_digest {
    body_digester digester;
    std::string canonical;
    identity true_id;  // as Message-ID has it
    bool id_is_true = true;
};

message_checker::message_checker(line_ends ends) noexcept : ends_(ends) {}
message_checker::~message_checker() = default;
message_checker::message_checker(message_checker&&) noexcept = default;
message_checker& message_checker::operator=(message_checker&&) noexcept = default;

void message_checker::feed(std::string_view octets) {
    if (octets.empty() || part_ == part::skip) return;
    if (part_ == part::body) {
        digest_->digester.feed(octets);
    } else {
        feed_headers(octets);
    }
}

void message_checker::feed_headers(std::string_view octets) {
    if (headers_.empty()) {
        const std::size_t end = header_end(octets);
        if (end != std::string_view::npos && end <= most_header_octets) {
            headers_complete(octets.substr(0, end));
            return feed(octets.substr(end));
        }
    }
    // The blank line may have begun in what came before: CR LF CR | LF.
    const std::size_t before = headers_.size();
    headers_.append(octets.substr(0, most_header_octets + 1 - before));
    const std::size_t end = header_end(headers_, before > 3 ? before - 3 : 0);
    if (end != std::string_view::npos && end <= most_header_octets) {
        headers_complete(std::string_view(headers_).substr(0, end));
        return feed(octets.substr(end - before));
    }
    if (headers_.size() > most_header_octets) part_ = part::skip;
}

void message_checker::headers_complete(std::string_view section) {
    part_ = part::skip;
    const header_section found = scan_headers(section);
    if (!found.has_identity) return;
    const identity_parse parsed = parse_identity(found.identity, id_);
    if (parsed == identity_parse::other_version) return;
    if (parsed == identity_parse::unreadable) {
        integrity_ = integrity::corrupt;
        return;
    }
    if (!is_available(id_.digest.kind)) return;
    has_identity_ = true;
    if (!digest_) digest_ = std::make_unique<checker_digest>();
    digest_->canonical.clear();
    append_canonical(found, id_.covers, digest_->canonical);
    digest_->true_id = id_;
    digest_->id_is_true = !correct_by_message_id(
        found.values[static_cast<std::size_t>(covered::message_id)], digest_->true_id);
    digest_->digester.begin(id_.digest.kind, digest_->canonical, ends_);
    part_ = part::body;
}

check_result message_checker::finish() {
    if (part_ == part::headers) headers_complete(headers_);
    if (part_ == part::body) {
        const bool matches = digest_->digester.finish() == id_.digest;
        integrity_ = matches && digest_->id_is_true ? integrity::verified : integrity::corrupt;
        if (matches) id_ = digest_->true_id;
        part_ = part::skip;
    }
    return {integrity_, has_identity_ ? &id_ : nullptr};
}

void message_checker::reset() noexcept {
    part_ = part::headers;
    integrity_ = integrity::foreign;
    has_identity_ = false;
    if (headers_.capacity() > kept_octets) {
        base::release(headers_);
    } else {
        headers_.clear();
    }
}

}  // namespace postal::mail
