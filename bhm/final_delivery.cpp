// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/final_delivery.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/main.hpp"
#include "mail/delivery_status.hpp"
#include "mail/trace_header.hpp"

namespace postal::bhm {
namespace {

// What a bounce says of the delivery that failed; RFC 3463: the mailbox takes no messages.
constexpr std::string_view bounce_status = "5.2.1";
constexpr std::string_view bounce_diagnostic = "550 5.2.1 Bounced on request";

constexpr std::size_t most_kept = mail::delivery_status::most_of_original;

}  // namespace

final_delivery::final_delivery(worker_context& context, const proto::path& reverse_path,
                               std::uint64_t session, std::uint64_t message)
    : context_(context), session_(session), message_(message), reverse_path_(reverse_path.mailbox) {
    const auto& store = context_.of_run.delivery.store;
    keeps_copy_ = store && store->wants(session, message);
}

void final_delivery::add(const proto::path& forward_path, fate what) {
    if (keeps_copy_) recipients_.emplace_back(forward_path.mailbox);
    if (what == fate::bounced && !reverse_path_.empty()) {
        bounced_.emplace_back(forward_path.mailbox);
        bounced_places_.push_back(added_);
    }
    ++added_;
}

void final_delivery::withdraw(std::size_t recipient) {
    const auto place = std::find(bounced_places_.begin(), bounced_places_.end(), recipient);
    if (place == bounced_places_.end()) return;
    bounced_.erase(bounced_.begin() + (place - bounced_places_.begin()));
    bounced_places_.erase(place);
}

void final_delivery::begin(const origin& from) {
    copy_ = std::make_unique<stored_message>(*context_.of_run.delivery.store, reverse_path_);
    copy_->append(headers(from));
}

std::string final_delivery::headers(const origin& from) const {
    std::string text = fmt::format("Return-Path: <{}>\r\n", reverse_path_);
    for (const std::string& one : recipients_)
        text += fmt::format("Delivered-To: {}\r\n", one);
    const std::string id = fmt::format("{}.{}", session_, message_);
    return text + mail::received_header(
                      {.helo = from.helo,
                       .client = from.client,
                       .by = context_.of_run.delivery.host_name,
                       .how = from.how,
                       .id = id,
                       .recipient = recipients_.size() == 1 ? std::string_view(recipients_[0]) : "",
                       .when = std::chrono::system_clock::now()});
}

void final_delivery::take(std::string_view content) {
    if (copy_) copy_->append(content);
    if (bounced_.empty()) return;
    const std::size_t room = most_kept - original_.size();
    original_.append(content.substr(0, room));
}

void final_delivery::accept() {
    if (keeps_copy_ && copy_) accept_copy();
    if (!bounced_.empty()) bounce_it();
}

bool final_delivery::keep_now() {
    return accept_copy();
}

bool final_delivery::accept_copy() {
    mail_store& store = *context_.of_run.delivery.store;
    const store_options& chosen = context_.of_run.chosen.delivery.store;
    stats::tally& counts = context_.own.tally();
    const auto copy = std::move(copy_);
    const store_outcome how = copy->keep();
    (how == store_outcome::kept ? counts.stored : counts.not_stored) += 1;
    if (how == store_outcome::failed) {
        counts.errors.add(
            "end", 0, "not_stored",
            fmt::format("{}: {}", chosen.folder, base::system_message(copy->error())));
    }
    if (how == store_outcome::full && store.says_full()) {
        cli::complain("bhm",
                      fmt::format("--store: {} is full; nothing more is kept", chosen.folder));
    }
    return how == store_outcome::kept;
}

void final_delivery::bounce_it() {
    bouncer& sender = *context_.bounces;
    sender.add({.forward_path = reverse_path_,
                .text = mail::make_delivery_status({.host = sender.route().host_name,
                                                    .reverse_path = reverse_path_,
                                                    .recipients = bounced_,
                                                    .status = bounce_status,
                                                    .diagnostic = bounce_diagnostic,
                                                    .original = original_,
                                                    .number = sender.fresh_number(),
                                                    .now = std::chrono::system_clock::now()})});
}

}  // namespace postal::bhm
