#include "bhm/host_names.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/text.hpp"
#include "proto/address.hpp"

namespace postal::bhm {
namespace {

namespace ip = boost::asio::ip;

// Connections to a dual-stack socket name IPv4 addresses in IPv6 form.
ip::address plain(const ip::address& any) {
    if (any.is_v6() && any.to_v6().is_v4_mapped()) {
        return ip::make_address_v4(ip::v4_mapped, any.to_v6());
    }
    return any;
}

bool is_host_name(std::string_view name) {
    return proto::parse_mailbox("x@" + std::string(name), proto::bare_local_part::postmaster_only)
        .ok();
}

}  // namespace

base::expected<host_names> host_names::parse(std::string_view text, std::string_view file) {
    host_names result;
    std::size_t number = 0;
    for (const std::string_view line : base::split(text, '\n')) {
        ++number;
        const auto words = base::fields(base::trim(line.substr(0, line.find('#'))));
        if (words.empty()) continue;
        boost::system::error_code error;
        const ip::address address = ip::make_address(std::string(words[0]), error);
        if (error) {
            return base::fail("{}:{}: \"{}\" is not an IP address", file, number,
                              base::printable(words[0], 80));
        }
        if (words.size() < 2)
            return base::fail("{}:{}: a name must follow the address", file, number);
        if (!is_host_name(words[1])) {
            return base::fail("{}:{}: \"{}\" is not a host name", file, number,
                              base::printable(words[1], 80));
        }
        result.names_.emplace(plain(address), words[1]);
    }
    if (result.names_.empty()) return base::fail("{}: no line with an address and a name", file);
    return result;
}

base::expected<host_names> host_names::load(const std::string& path) {
    if (std::filesystem::is_directory(path)) return base::fail("{}: is a directory", path);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (file) text << file.rdbuf();
    if (!file) return base::fail("{}: cannot be read: {}", path, base::system_message(errno));
    return parse(text.str(), path);
}

std::string_view host_names::name_of(const ip::address& local) const {
    const auto found = names_.find(plain(local));
    return found == names_.end() ? otherwise : std::string_view(found->second);
}

std::string_view host_names::name_of_socket(int descriptor) const {
    if (names_.empty()) return otherwise;
    sockaddr_storage local{};
    socklen_t size = sizeof local;
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &size) != 0) return otherwise;
    if (local.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(local);
        return name_of(ip::address_v4(ntohl(v4.sin_addr.s_addr)));
    }
    if (local.ss_family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(local);
        ip::address_v6::bytes_type octets;
        std::memcpy(octets.data(), &v6.sin6_addr, octets.size());
        return name_of(ip::address_v6(octets));
    }
    return otherwise;
}

}  // namespace postal::bhm
