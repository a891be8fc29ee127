// SPDX-License-Identifier: GPL-3.0-or-later
// See corpus_factory.hpp.
#include "mail/corpus_factory.hpp"

#include "base/text.hpp"
#include "mail/text_writer.hpp"

#include <algorithm>
#include <utility>

namespace postal::mail {
namespace {

constexpr std::size_t most_identity_octets = 1024;

std::size_t header_octets(const corpus_mail& mail) noexcept {
    return std::min(header_end(mail.raw), mail.raw.size());
}

digest_value digest_of_mail(const corpus_mail& mail, digest_kind kind, body_digester& digester) {
    const std::string_view text(mail.raw);
    const std::size_t head = header_octets(mail);
    std::string canonical;
    append_canonical(scan_headers(text.substr(0, head)), all_covered, canonical);
    digester.begin(kind, canonical);
    digester.feed(text.substr(head));
    return digester.finish();
}

// id.size and id.head count themselves; more digits make both larger, so this ends after a few
// rounds.
void settle_corpus_sizes(std::size_t fixed, std::size_t body, identity& id) noexcept {
    std::uint64_t head = 0;
    do {
        head = id.head;
        id.head = fixed + decimal_digits(id.size) + decimal_digits(id.head);
        id.size = id.head + body;
    } while (head != id.head);
}

}  // namespace

base::expected<std::shared_ptr<const corpus_plan>> corpus_plan::create(
    const message_options& options, std::vector<corpus_mail> mails) {
    if (mails.empty()) return base::fail("the corpus has no mail");
    // The rules for host and version are the same, and so is the line that says what is wrong.
    message_options checked = options;
    checked.bodies = body_mix();
    const auto valid = message_plan::create(std::move(checked));
    if (!valid) return valid.error();
    return std::shared_ptr<const corpus_plan>(new corpus_plan(options, std::move(mails)));
}

corpus_plan::corpus_plan(const message_options& options, std::vector<corpus_mail> mails)
    : options_(options), mails_(std::move(mails)), given_fields_(joined_fields(options.fields)) {
    body_digester digester;
    for (const corpus_mail& mail : mails_) {
        digests_.push_back(digest_of_mail(mail, options_.digest, digester));
        heads_.push_back(header_octets(mail));
        largest_ = std::max<std::uint64_t>(
            largest_, mail.raw.size() + 2 + most_identity_octets + given_fields_.size());
    }
    postal_field_ = "X-Postal: postal/" + options_.version + "\r\n";
    postal_field_ += identity_field;
    postal_field_ += ": ";
}

void corpus_factory::make(const message_request& request, message& into) {
    const std::size_t index =
        static_cast<std::size_t>((request.session + request.sequence) % plan_->mails_.size());
    const corpus_mail& mail = plan_->mails_[index];
    into.clear();

    identity& id = into.id_;
    id.run = plan_->options_.run;
    id.session = request.session;
    id.sequence = request.sequence;
    id.seed = plan_->options_.seed;
    id.kind = body_kind::corpus;
    id.time_us = static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::microseconds>(request.now.time_since_epoch()).count());
    id.covers = mail.present;
    id.digest = plan_->digests_[index];
    id.size = 0;
    id.head = 0;
    // Both figures are one digit now, and behind the field comes CRLF.
    const std::size_t fixed =
        plan_->postal_field_.size() + identity_octets(id) - 2 + 2 + plan_->given_fields_.size();
    const std::size_t own_head = plan_->heads_[index];
    settle_corpus_sizes(fixed + own_head, mail.raw.size() - own_head, id);

    into.headers_.resize(plan_->postal_field_.size() + identity_octets(id) + 2 +
                         plan_->given_fields_.size());
    text_writer out(into.headers_.data());
    out.put(std::string_view(plan_->postal_field_));
    write_identity(id, out);
    out.put("\r\n");
    out.put(std::string_view(plan_->given_fields_));

    into.needs_8bit_ = mail.needs_8bit;
    for (const std::string_view recipient : request.recipients) {
        into.needs_smtputf8_ = into.needs_smtputf8_ || !is_ascii(recipient);
    }
    into.needs_smtputf8_ = into.needs_smtputf8_ || !is_ascii(request.from);
    into.body_.raw.assign({std::string_view(into.headers_), std::string_view(mail.raw)});
    into.body_.stuffed.assign({std::string_view(into.headers_), mail.stuffed_text()});
    into.body_.final_newline = mail.final_newline;
    into.count_octets();
}

}  // namespace postal::mail
