// Where postal's numbers are counted: one small function for each thing that can happen.
//
// Every unit that is started (SMTP: a transaction, LMTP: a recipient of one) is ended once, by
// accepted(), refused() or lost(). What went wrong is counted once more by kind in the error table.
// All of it goes into the worker's own tally.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "load/worker.hpp"
#include "net/fault.hpp"
#include "postal/phases.hpp"

namespace postal {

// A reply that says no.
struct refusal {
    int code = 0;
    std::string_view enhanced;
    std::string_view text;

    bool permanent() const noexcept { return code >= 500; }
};

class books {
  public:
    explicit books(load::worker& own) noexcept : own_(&own) {}

    void started(std::uint64_t units) noexcept { own_->tally().started += units; }

    void accepted(std::uint64_t recipients, std::uint64_t octets) noexcept {
        stats::tally& tally = own_->tally();
        tally.messages += 1;
        tally.recipients += recipients;
        tally.bytes += octets;
    }

    void refused(std::uint64_t units, bool permanent) noexcept {
        stats::tally& tally = own_->tally();
        (permanent ? tally.rejected : tally.deferred) += units;
    }

    // After the data was complete, nobody knows whether the server has taken the message.
    void lost(std::uint64_t units, bool data_complete) noexcept {
        stats::tally& tally = own_->tally();
        (data_complete ? tally.in_doubt : tally.failed) += units;
    }

    void error(stage where, const refusal& said) {
        own_->tally().errors.add(to_text(where), said.code, said.enhanced, said.text);
    }
    void error(stage where, std::string_view reason, std::string_view sample) {
        own_->tally().errors.add(to_text(where), 0, reason, sample);
    }

    void took(phase what, std::chrono::nanoseconds time) noexcept {
        own_->tally().latency[static_cast<std::size_t>(what)].record(time);
    }

    void authenticated(std::string_view mechanism) { own_->tally().authentications.add(mechanism); }

    void connected() noexcept {
        ++own_->tally().connections;
        ++own_->open_connections();
    }
    void disconnected() noexcept { --own_->open_connections(); }

  private:
    load::worker* own_;
};

}  // namespace postal
