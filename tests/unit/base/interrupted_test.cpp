// SPDX-License-Identifier: GPL-3.0-or-later
// Interrupted calls are made again, but not for ever; and which errors are the machine's.
#include "base/interrupted.hpp"

#include <catch2/catch.hpp>

#include "base/machine_trouble.hpp"
#include "base/result.hpp"

using namespace postal;

namespace {

// Fails so often before it gives 7.
struct call {
    unsigned fails;
    int with;
    unsigned made = 0;

    int operator()() {
        if (made++ >= fails) return 7;
        errno = with;
        return -1;
    }
};

}  // namespace

TEST_CASE("interrupted: a call that a signal interrupts is made again", "[base]") {
    call one{3, EINTR};
    CHECK(base::uninterrupted([&] { return one(); }) == 7);
    CHECK(one.made == 4);
}

TEST_CASE("interrupted: not for ever", "[base]") {
    call one{1'000'000, EINTR};
    CHECK(base::uninterrupted([&] { return one(); }) == -1);
    CHECK(errno == EINTR);
    CHECK(one.made == base::most_interruptions + 1);
}

TEST_CASE("interrupted: other failures are the caller's", "[base]") {
    call one{1, EAGAIN};
    CHECK(base::uninterrupted([&] { return one(); }) == -1);
    CHECK(errno == EAGAIN);
    CHECK(one.made == 1);
}

TEST_CASE("trouble: a full disk is the machine's, a missing file is not, whatever failed before",
          "[base]") {
    for (const int error : {ENOMEM, ENOSPC, EDQUOT, EIO, EMFILE, ENFILE})
        CHECK(
            base::is_machine_trouble(base::fail("book: {}", base::system_message(error)).message));
    for (const int error : {ENOENT, EACCES, EISDIR, ELOOP})
        CHECK_FALSE(
            base::is_machine_trouble(base::fail("book: {}", base::system_message(error)).message));
    CHECK_FALSE(base::is_machine_trouble("--sessions: -1 is below 1"));
}
