// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/identity_reader.hpp"

#include "mail/canonical.hpp"

namespace postal::rabid {

namespace {

constexpr std::size_t most_field = 4096;

}  // namespace

void identity_reader::take(const proto::imap_step& step) {
    using proto::imap_event;
    switch (step.event) {
        case imap_event::fetch:
            field_.clear();
            within_ = heard_ = false;
            break;
        case imap_event::body_begin:
            within_ = !heard_ && step.text.starts_with("HEADER.FIELDS");
            heard_ = heard_ || within_;
            break;
        case imap_event::body_piece:
            if (within_ && field_.size() < most_field)
                field_.append(step.text.substr(0, most_field - field_.size()));
            break;
        case imap_event::body_end:
            within_ = false;
            break;
        case imap_event::body_nil:
            heard_ = true;
            break;
        case imap_event::fetch_end:
            if (heard_) finish();
            break;
        default:
            break;
    }
}

void identity_reader::finish() {
    ++came_;
    heard_ = false;
    const mail::header_section section = mail::scan_headers(field_);
    mail::identity id;
    const bool read = section.has_identity &&
                      mail::parse_identity(section.identity, id) == mail::identity_parse::ok;
    listener_(read ? &id : nullptr);
}

}  // namespace postal::rabid
