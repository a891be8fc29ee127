// SPDX-License-Identifier: GPL-3.0-or-later
// Makes each CRLF an LF, as files of Unix systems have it, whatever pieces the text comes in; a CR
// that no LF follows stays.
//
// Flow: crlf_to_lf lines; lines.feed(piece, put)...; lines.finish(put)
// `put` gets views into what was fed, or "\r". Nothing here fails; nothing is kept but whether the
// last octet so far was a CR.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace postal::mail {

class crlf_to_lf {
  public:
    template <class Put>
    void feed(std::string_view octets, Put&& put) {
        while (!octets.empty()) {
            if (held_cr_ && octets.front() != '\n') put(std::string_view("\r"));
            const std::size_t cr = std::min(octets.find('\r'), octets.size());
            put(octets.substr(0, cr));
            held_cr_ = cr < octets.size();
            octets.remove_prefix(std::min(cr + 1, octets.size()));
        }
    }
    template <class Put>
    void finish(Put&& put) {
        if (std::exchange(held_cr_, false)) put(std::string_view("\r"));
    }

  private:
    bool held_cr_ = false;
};

}  // namespace postal::mail
