// SPDX-License-Identifier: GPL-3.0-or-later
// A rank's way to the others, which it leaves once, and together with them where all are still
// there.
//
// Nothing here fails: whoever cannot leave in time ends without.
#pragma once

#include <memory>
#include <utility>

#include "cli/main.hpp"
#include "cluster/transport.hpp"

namespace postal::program {

class rank_link {
  public:
    explicit rank_link(std::unique_ptr<cluster::transport> way) noexcept : way_(std::move(way)) {}

    cluster::transport& operator*() const noexcept { return *way_; }
    cluster::transport* operator->() const noexcept { return way_.get(); }

    // `together`: with all others, who do so too; ends the program where that takes too long.
    void close(bool together, cli::exit_status status);

  private:
    const std::unique_ptr<cluster::transport> way_;
    bool left_ = false;
};

}  // namespace postal::program
