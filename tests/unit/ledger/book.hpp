// SPDX-License-Identifier: GPL-3.0-or-later
// A ledger that is written row by row in the words of a test, and reported.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "support.hpp"

namespace ledger_test {

class book {
  public:
    explicit book(const std::string& path) : path_(path), writer_(open(path, run_of(1))) {
        row_buffer_ = std::make_unique<row_buffer>(*writer_);
    }

    book& sent(std::uint64_t sequence, const std::string& to, outcome what = outcome::accepted,
               std::uint64_t session = 0, std::uint64_t octets = 0) {
        sent_row row;
        row.octets = octets;
        row.session = session;
        row.sequence = sequence;
        row.recipient = row_buffer_->address(to);
        row.sender = row_buffer_->address("from");
        row.what = what;
        row.time_us = 1000 + sequence;
        row_buffer_->add(row);
        return *this;
    }
    seen_row& seen(std::uint64_t sequence, const std::string& in) {
        seen_row row;
        row.run = 1;
        row.sequence = sequence;
        row.mailbox = row_buffer_->address(in);
        row.sent_us = 100;
        row.time_us = ++clock_;
        waiting_.push_back(row);
        return waiting_.back();
    }
    book& returned(std::uint64_t sequence, const std::string& to, action what,
                   const std::string& status, std::uint64_t time_us = 50'000) {
        returned_row row;
        row.run = 1;
        row.sequence = sequence;
        row.time_us = time_us;
        row.recipient = row_buffer_->address(to);
        row.mailbox = row_buffer_->address("from");
        row.what = what;
        row.status = short_text(status);
        row.detail = "550 no";
        row_buffer_->add(row);
        return *this;
    }
    address_id address(const std::string& text) { return row_buffer_->address(text); }
    told report(discrepancy list = discrepancy::lost) {
        for (seen_row& row : waiting_) {
            if (row.what == condition::foreign || row.what == condition::unreadable) row.run = 0;
            row_buffer_->add(row);
        }
        row_buffer_.reset();
        REQUIRE(writer_->close().has_value());
        return ledger_test::report(path_, list);
    }

  private:
    std::string path_;
    std::unique_ptr<writer> writer_;
    std::unique_ptr<row_buffer> row_buffer_;
    std::deque<seen_row> waiting_;
    std::uint64_t clock_ = 10'000;
};

}  // namespace ledger_test
