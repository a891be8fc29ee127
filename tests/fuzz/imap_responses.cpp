// SPDX-License-Identifier: GPL-3.0-or-later
// proto/imap/responses.hpp and imap/mailbox.hpp: what a server says, fed whole and in pieces, is
// the same, and so is what the mailbox makes of it, with and without QRESYNC.
#include "proto/imap/responses.hpp"

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "proto/imap/mailbox.hpp"
#include "support.hpp"

namespace {

using namespace postal::proto;

struct listener {
    imap_responses responses{};
    imap_mailbox mailbox{5};
    std::string seen{};
    imap_tag tag = 1;

    // Whether more can be read.
    bool take(const imap_step& step) {
        const std::string_view wrong = mailbox.apply(step);
        if (step.event == imap_event::body_piece) {
            seen += step.text;  // however it was cut
            return true;
        }
        seen += {'\n', static_cast<char>('a' + static_cast<int>(step.event)), ' '};
        seen.append(step.text).append(step.tag).append(step.arguments).append(wrong);
        seen += std::to_string(step.number + step.range.last);
        if (step.event == imap_event::tagged) next_command();
        return step.event != imap_event::broken;
    }

    void next_command() {
        constexpr imap_verb verbs[] = {imap_verb::noop, imap_verb::fetch, imap_verb::uid_search};
        ++tag;
        const bool room = mailbox.running() < imap_mailbox::max_running;
        if (mailbox.sent(tag, verbs[tag % 3]) != room) std::abort();
    }

    bool feed(std::string_view bytes) {
        while (true) {
            const imap_step step = responses.next(bytes);
            bytes.remove_prefix(step.consumed);
            if (step.event != imap_event::need_more) {
                if (!take(step)) return false;
                continue;
            }
            if (!bytes.empty()) std::abort();
            return true;
        }
    }
};

// With QRESYNC, and what is remembered of an earlier session; or without.
template <class Pieces>
std::string read_all(Pieces input, const imap_memory& remembered) {
    listener one;
    if (remembered.usable()) one.mailbox.qresync_enabled();
    if (!one.mailbox.select("INBOX", one.tag, imap_verb::select, remembered)) std::abort();
    while (!input.empty() && one.feed(input.next())) {
    }
    one.mailbox.remember().append_uids(one.seen);
    return one.seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    static const imap_memory before{7, 20, {{3, 5}, {8, 9}}, true};
    static const imap_memory nothing{};
    for (const imap_memory& one : {std::cref(nothing), std::cref(before)}) {
        fuzz::require(read_all(fuzz::whole(input), one) == read_all(fuzz::pieces(input), one));
    }
    return 0;
}
