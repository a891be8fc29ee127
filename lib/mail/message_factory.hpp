// SPDX-License-Identifier: GPL-3.0-or-later
// Makes random messages: headers, identity, digest, and a body of slices of a pool.
//
// Flow: auto plan = message_plan::create(options)   once, shared by all threads, read only
//       message_factory factory(plan)               one a worker: scratch, contexts, cached Date
//       factory.make(request, message)
// Kind, size, Subject and body follow from (seed, session, sequence) alone; Date and t= are the
// time given, From and To the addresses given, Message-ID is <run.session.sequence@host>. The size
// is that of the whole message and exact whenever it exceeds the headers; else the body is empty
// and the size that of the headers. One crlf-edge body in 16 is empty whatever size was asked.
//
// A request may bring a Subject and more fields of its own; who remakes the message cannot know
// these.
//
// A body's source says which fields of the header section describe it, and they count in the head.
//
// create() fails on a host or version that would break a header. make() cannot fail; addresses must
// have been checked when the user list was loaded, and given fields when the options were read. RFC
// 5322 (fields, folding), RFC 2047 (Subject, of multipart mail only), RFC 6532 (UTF-8 addresses as
// they are).
#pragma once

#include "mail/message.hpp"
#include "mail/size_spec.hpp"
#include "mail/subject_words.hpp"

#include <array>
#include <memory>

namespace postal::mail {

// -b netscape and nonetscape; RFC 5322 gives leading blanks of a value no meaning.
enum class subject_blanks : std::uint8_t { none, leading };

struct message_options {
    std::uint64_t seed = 0;
    std::uint64_t run = 0;           // base::fresh_entropy() for each run
    std::string host = "localhost";  // right side of Message-ID
    std::string version = "0";       // X-Postal: postal/VERSION
    size_spec sizes;
    body_mix bodies;
    digest_kind digest = digest_kind::xxh3;
    subject_blanks subject = subject_blanks::none;
    std::string subject_text = {};         // in place of the words that are drawn; empty: these
    std::vector<std::string> fields = {};  // more of the header, without CRLF (given_fields.hpp)
};

// More fields as they stand in a header section.
[[nodiscard]] std::string joined_fields(const std::vector<std::string>& fields);

class message_plan {
  public:
    [[nodiscard]] static base::expected<std::shared_ptr<const message_plan>> create(
        message_options options);

    [[nodiscard]] const message_options& options() const noexcept { return options_; }
    [[nodiscard]] const body_source& source_of(body_kind kind) const noexcept;
    [[nodiscard]] const subject_words& subjects() const noexcept { return subjects_; }

    // What does not change within a run, prepared once; for message_factory.
    struct constants {
        std::string message_id_start;   // "<RUN."
        std::string message_id_end;     // "@host>"
        std::string postal_field;       // "X-Postal: postal/VERSION\r\nX-Postal-Id: "
        std::string subject_field;      // with --subject, and CRLF
        std::string canonical_subject;  // the same as the digest covers it
        std::string given_fields;       // each with CRLF
    };
    [[nodiscard]] const constants& prepared() const noexcept { return constants_; }

  private:
    explicit message_plan(message_options options);

    message_options options_;
    constants constants_;
    subject_words subjects_;
    std::array<std::unique_ptr<const body_source>, generated_kinds> sources_;
};

// What the body of a message with this identity is cut with.
[[nodiscard]] base::random_source body_random(const identity& id) noexcept;

// The text of Date, rewritten only when the second changes.
class date_text {
  public:
    // "Fri, 20 Nov 2026 16:00:00 +0000" (RFC 5322 3.3)
    [[nodiscard]] std::string_view at(std::chrono::system_clock::time_point now);

  private:
    std::chrono::sys_seconds second_{std::chrono::sys_seconds::min()};
    std::array<char, 32> text_{};
};

class message_factory final : public message_source {
  public:
    explicit message_factory(std::shared_ptr<const message_plan> plan);

    void make(const message_request& request, message& into) override;

  private:
    std::size_t begin_headers(const message_request& request, base::random_source& random,
                              message& into);
    void add_body(identity& id, message& into);
    void end_headers(const message_request& request, std::size_t begun, std::size_t padding,
                     message& into);

    std::shared_ptr<const message_plan> plan_;
    std::string canonical_;  // scratch; of it the first canonical_octets_ count
    std::size_t canonical_octets_ = 0;
    body_digester digester_;
    date_text date_;
};

}  // namespace postal::mail
