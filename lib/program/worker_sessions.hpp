// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's share of a client's sessions, with what they have in common; they live as long as its
// loop. A session's number is that in the whole run, whichever rank and worker carries it.
#pragma once

#include <memory>
#include <vector>

#include "ledger/writer.hpp"
#include "load/worker.hpp"

namespace postal::program {

template <class Plan, class Context, class Session>
class worker_sessions {
  public:
    // Spawns them. Without a ledger `book` is null.
    worker_sessions(Plan& of, load::worker& own, ledger::writer* book) : context_(of, own, book) {
        for (unsigned index = own.index(); index < of.load.sessions; index += own.of()) {
            sessions_.push_back(std::make_unique<Session>(
                context_, static_cast<unsigned>(of.load.share.number(index))));
            own.spawn(sessions_.back()->run());
        }
    }

  private:
    Context context_;
    std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace postal::program
