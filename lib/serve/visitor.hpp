// A client that was let in: its socket and its place among the sessions.
#pragma once

#include "net/connection.hpp"
#include "serve/reception.hpp"

namespace postal::serve {

struct visitor {
    net::accepted socket;
    place where;
    bool tls = false;  // from the first octet
};

}  // namespace postal::serve
