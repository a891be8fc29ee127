// SPDX-License-Identifier: GPL-3.0-or-later
#include "mailboxes.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>

#include "mail/size_spec.hpp"
#include "must.hpp"

namespace clients {

namespace {

using namespace postal;
using simulation::must;

struct kind_of_messages {
    std::string_view sizes;
    std::string_view bodies;
};

// Of one read, of a few, and what is special about lines.
constexpr kind_of_messages kinds[]{{"uniform:0,1K", "ascii"},
                                   {"uniform:1K,3K", "crlf-edge,dots,8bit"},
                                   {"lognormal:4K,1,60K", "ascii,multipart"}};

constexpr std::uint64_t run_of_messages = 7;

// One octet of the body is another one; false where there is none.
bool change(std::string& text, base::random_source& random) {
    const std::size_t body = text.find("\r\n\r\n");
    std::vector<std::size_t> places;
    for (std::size_t i = body + 4; body != std::string::npos && i < text.size(); ++i)
        if (std::isalnum(static_cast<unsigned char>(text[i])) != 0) places.push_back(i);
    if (places.empty()) return false;
    char& octet = text[places[random.below(places.size())]];
    octet = octet == 'x' ? 'y' : 'x';
    return true;
}

}  // namespace

press::press() {
    for (const kind_of_messages& one : kinds) {
        mail::message_options wanted;
        wanted.seed = 1;
        wanted.run = run_of_messages;
        wanted.host = "sender.example";
        wanted.sizes = must(mail::size_spec::parse(one.sizes));
        wanted.bodies = must(mail::body_mix::parse(one.bodies));
        factories_.push_back(std::make_unique<mail::message_factory>(
            must(mail::message_plan::create(std::move(wanted)))));
    }
}

std::string press::make(content what, std::string_view address, base::random_source& random) {
    if (what == content::foreign)
        return "From: someone@example.org\r\nSubject: lunch\r\n\r\n..at noon?\r\n.\r\n";
    std::string text;
    do {
        factories_[random.below(factories_.size())]->make({.session = 1,
                                                           .sequence = made_before_++,
                                                           .from = "sender@example.org",
                                                           .recipients = {&address, 1},
                                                           .now = std::chrono::system_clock::now()},
                                                          made_);
        text.clear();
        for (const std::string_view part : made_.raw_parts())
            text += part;
        if (!text.ends_with("\r\n")) text += "\r\n";
    } while (what == content::changed && !change(text, random));
    return text;
}

void mailbox::put(content what, std::string text) {
    messages.push_back(
        {uid_next++, what, std::make_shared<const std::string>(std::move(text)), false, false});
}

stored* mailbox::find(std::uint32_t uid) noexcept {
    const auto found =
        std::lower_bound(messages.begin(), messages.end(), uid,
                         [](const stored& one, std::uint32_t wanted) { return one.uid < wanted; });
    return found == messages.end() || found->uid != uid ? nullptr : &*found;
}

void mailbox::remove(std::uint32_t uid) {
    removed += std::erase_if(messages, [uid](const stored& one) { return one.uid == uid; });
}

}  // namespace clients
