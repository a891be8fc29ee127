// How long a client waits for each kind of step of a dialogue.
#pragma once

#include <chrono>

#include "client/stage.hpp"

namespace postal::client {

struct timeouts {
    using time = std::chrono::nanoseconds;

    time connect = std::chrono::seconds(60);
    time tls = std::chrono::seconds(60);  // the handshake
    time greeting = std::chrono::seconds(60);
    time command = std::chrono::seconds(60);
    time data = std::chrono::seconds(60);         // to take the message
    time final_reply = std::chrono::seconds(60);  // after it

    static timeouts all(time one) { return {one, one, one, one, one, one}; }

    time of(stage where) const noexcept {
        switch (where) {
            case stage::connect:
                return connect;
            case stage::tls:
                return tls;
            case stage::banner:
                return greeting;
            case stage::data:
                return data;
            case stage::end:
                return final_reply;
            default:
                return command;
        }
    }
};

}  // namespace postal::client
