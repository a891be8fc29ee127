// SPDX-License-Identifier: GPL-3.0-or-later
// An envelope as --envelope gives it, to ask a behaviour about.
//
//   client=192.0.2.1 helo=mx.example.com from=a@example.org to=b@example.com size=10K tls=yes
//   session=1 message=1 time=10s listener=127.0.0.1:25
//
// In any order, each at most once; what is not given is not known. from=<> is the null
// reverse-path. Fails with one line that names the word.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "behaviour/engine.hpp"
#include "bhm/recipients.hpp"

namespace postal::bhm {

// Whose views the situation has.
struct envelope {
    behaviour::situation here{};
    std::optional<net::ip_address> client{};
    proto::path sender{};
    proto::path recipient{};
};

// `text` must outlive what is made, which stays where it is. Recipients are known as the list has
// them.
base::expected<std::unique_ptr<envelope>> parse_envelope(std::string_view text,
                                                         const recipients& list);

}  // namespace postal::bhm
