// SPDX-License-Identifier: GPL-3.0-or-later
// Names for the banner by local address, from a file in the format of /etc/hosts (-r).
//
// A line is ADDRESS NAME [ALIAS...]; `#` starts a comment. The first name counts, and of several
// lines for one address the first. An address without a line is called "bhm". Fails with one line
// "FILE:LINE: reason". Made before the run, then only read.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/ip_address.hpp"

namespace postal::bhm {

class host_names {
  public:
    host_names() = default;
    static base::expected<host_names> load(const std::string& path);
    static base::expected<host_names> parse(std::string_view text, std::string_view file);

    // Valid as long as this object.
    std::string_view name_of(const net::ip_address& local) const;
    // By the local end of a connected socket.
    std::string_view name_of_socket(int descriptor) const;

    static constexpr std::string_view otherwise = "bhm";

  private:
    std::map<net::ip_address, std::string> names_;
};

}  // namespace postal::bhm
