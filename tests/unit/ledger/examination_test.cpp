// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/examination.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "../mail/support.hpp"

using namespace postal;

namespace {

std::string made(std::uint64_t octets, std::uint64_t sequence) {
    const auto plan = mail::message_plan::create(test::options_for(mail::body_kind::ascii, octets));
    mail::message_factory factory(plan.value());
    mail::message one;
    factory.make(test::request(1, sequence), one);
    return test::joined(one.raw_parts());
}

struct bench {
    ledger::evidence_memory all{};
    ledger::examination one{all};
    mail::body_rebuilder rebuilder{ledger::evidence::most_remade};

    ledger::seen_row look_at(const std::string& text) {
        ledger::seen_row row;
        one.feed(text);
        one.describe(one.finish(), row, rebuilder);
        one.reset();
        return row;
    }
};

}  // namespace

TEST_CASE("examination: the ledger is told whose message it is and what became of it") {
    bench b;
    const std::string whole = made(900, 7);
    const ledger::seen_row fine = b.look_at(whole);
    CHECK(fine.what == ledger::condition::verified);
    CHECK(fine.sequence == 7);
    CHECK(fine.detail.empty());
    const ledger::seen_row cut = b.look_at(whole.substr(0, whole.size() - 100));
    CHECK(cut.what == ledger::condition::truncated);
    CHECK(cut.sequence == 7);
    CHECK(b.look_at("Subject: another's\r\n\r\nbody\r\n").what == ledger::condition::foreign);
}

TEST_CASE("examination: what was seen before takes no room from a message") {
    bench b;
    const std::string large = made(ledger::evidence::most_kept / 2, 1);
    for (int i = 0; i < 3; ++i)
        CHECK(b.look_at(large).what == ledger::condition::verified);
    const std::string cut = made(900, 2).substr(0, 800);
    CHECK(b.look_at(cut).what == ledger::condition::truncated);
    b.look_at(large + large + large);
    CHECK(b.look_at(cut).what == ledger::condition::truncated);
}
