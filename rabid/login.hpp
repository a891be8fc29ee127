// What POP3 and IMAP sessions share when they authenticate with SASL (--auth).
//
// The dialogues themselves are pop3_login.cpp and imap_login.cpp. Every authentication that fails
// is one error of the stage login, whose sample begins with the mechanism's name; one that succeeds
// is counted by its mechanism. What is said is shown to no transcript.
#pragma once

#include <optional>
#include <string_view>

#include "rabid/visit_context.hpp"
#include "sasl/conversation.hpp"

namespace postal::rabid {

// What a client proves who he is with. `channel_binding` must outlive it.
sasl::credentials credentials_of(const visit_context& who, std::string_view service,
                                 std::string_view channel_binding);

// Nothing when there is none for this connection, which is counted.
std::optional<sasl::mechanism> choose_mechanism(const visit_context& who,
                                                sasl::mechanism_set offered);

// The server has agreed: whether that is to be believed. Counts.
bool agreed(const visit_context& who, sasl::conversation& talk);
// It has not, or we gave up; `reply` is what it said. Counts.
void refused(const visit_context& who, const sasl::conversation& talk, std::string_view reply);

}  // namespace postal::rabid
