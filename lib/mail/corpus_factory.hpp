// SPDX-License-Identifier: GPL-3.0-or-later
// Makes messages of real mail: the mail as it is, with our X-Postal and identity headers, and
// those that were asked for, on top.
//
// Flow: auto plan = corpus_plan::create(options, load_corpus(path).value())   once, then only read
//       corpus_factory factory(plan)                                          one a worker
//       factory.make(request, message)
// Session s sends mail (s + n) modulo the corpus's size as its message n, so that one session goes
// through the corpus in order and many start at different mails. From and recipients of the request
// are the envelope's only: the mail keeps its own fields. Digests are computed when the plan is
// made.
//
// create() fails on an empty corpus or on a version that would break a header; make() cannot fail.
#pragma once

#include "mail/corpus.hpp"
#include "mail/message.hpp"
#include "mail/message_factory.hpp"

#include <memory>
#include <vector>

namespace postal::mail {

class corpus_plan {
  public:
    // Of the options seed, run, version, digest and fields are used.
    [[nodiscard]] static base::expected<std::shared_ptr<const corpus_plan>> create(
        const message_options& options, std::vector<corpus_mail> mails);

    [[nodiscard]] const std::vector<corpus_mail>& mails() const noexcept { return mails_; }
    // Octets of the largest message, our headers included, to compare with a server's SIZE.
    [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }

  private:
    friend class corpus_factory;
    corpus_plan(const message_options& options, std::vector<corpus_mail> mails);

    message_options options_;
    std::vector<corpus_mail> mails_;
    std::vector<digest_value> digests_;
    std::vector<std::size_t> heads_;  // octets of each mail's own header section
    std::string postal_field_;        // up to the value of X-Postal-Id
    std::string given_fields_;        // behind that field
    std::uint64_t largest_ = 0;
};

class corpus_factory final : public message_source {
  public:
    explicit corpus_factory(std::shared_ptr<const corpus_plan> plan) : plan_(std::move(plan)) {}

    void make(const message_request& request, message& into) override;

  private:
    std::shared_ptr<const corpus_plan> plan_;
};

}  // namespace postal::mail
