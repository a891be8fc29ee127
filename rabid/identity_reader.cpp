// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/identity_reader.hpp"

#include "mail/canonical.hpp"
#include "proto/imap/date.hpp"

namespace postal::rabid {

namespace {

constexpr std::size_t most_field = 4096;

}  // namespace

void identity_reader::expect(std::uint32_t first, std::uint32_t last) {
    first_ = first;
    left_ = std::size_t{last} - first + 1;
    came_.assign(left_, false);
}

bool identity_reader::take(const proto::imap_step& step) {
    using proto::imap_event;
    switch (step.event) {
        case imap_event::fetch:
            begin(step.number);
            break;
        case imap_event::fetch_size:
            octets_ = step.number;
            break;
        case imap_event::fetch_date:
            arrived_us_ = proto::read_imap_date(step.text);
            break;
        case imap_event::fetch_flags:
            flags_ = step.text;
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
            return heard_ && finish();
        default:
            break;
    }
    return false;
}

void identity_reader::begin(std::uint64_t number) {
    number_ = number;
    octets_ = arrived_us_ = 0;
    field_.clear();
    flags_.clear();
    within_ = heard_ = false;
}

bool identity_reader::finish() {
    heard_ = false;
    if (number_ < first_ || number_ - first_ >= came_.size() || came_[number_ - first_])
        return false;
    came_[number_ - first_] = true;
    --left_;
    const mail::header_section section = mail::scan_headers(field_);
    mail::identity id;
    const bool read = section.has_identity &&
                      mail::parse_identity(section.identity, id) == mail::identity_parse::ok;
    if (listener_) listener_({static_cast<std::uint32_t>(number_), read ? &id : nullptr, octets_});
    return true;
}

}  // namespace postal::rabid
