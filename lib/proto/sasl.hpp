// What a client says to authenticate, for AUTH and AUTHENTICATE of every protocol (RFC 4422).
//
// Passwords are copied into the result and nowhere else. Nothing here fails.
#pragma once

#include <string>
#include <string_view>

namespace postal::proto {

// RFC 4648 4, with padding and without line ends.
std::string to_base64(std::string_view octets);

// The one message of PLAIN in base64 (RFC 4616 2), without an authorization identity.
std::string sasl_plain(std::string_view user, std::string_view password);

}  // namespace postal::proto
