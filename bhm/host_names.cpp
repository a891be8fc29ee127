// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/host_names.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "proto/address.hpp"

namespace postal::bhm {

base::expected<host_names> host_names::parse(std::string_view text, std::string_view file) {
    host_names result;
    std::size_t number = 0;
    for (const std::string_view line : base::split(text, '\n')) {
        ++number;
        const auto words = base::fields(base::trim(line.substr(0, line.find('#'))));
        if (words.empty()) continue;
        // Which interface a link-local address is at (RFC 4007 11) does not tell a name from
        // another.
        const auto address = net::parse_ip(words[0].substr(0, words[0].find('%')));
        if (!address) {
            return base::fail("{}:{}: \"{}\" is not an IP address", file, number,
                              base::printable(words[0], 80));
        }
        if (words.size() < 2)
            return base::fail("{}:{}: a name must follow the address", file, number);
        if (!proto::is_host_name(words[1])) {
            return base::fail("{}:{}: \"{}\" is not a host name", file, number,
                              base::printable(words[1], 80));
        }
        result.names_.emplace(*address, words[1]);
    }
    if (result.names_.empty()) return base::fail("{}: no line with an address and a name", file);
    return result;
}

base::expected<host_names> host_names::load(const std::string& path) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    return parse(*text, path);
}

std::string_view host_names::name_of(const net::ip_address& local) const {
    const auto found = names_.find(local);
    return found == names_.end() ? otherwise : std::string_view(found->second);
}

std::string_view host_names::name_of_socket(int descriptor) const {
    const auto local = names_.empty() ? std::nullopt : net::own_end_of(descriptor);
    return local ? name_of(local->address) : otherwise;
}

}  // namespace postal::bhm
