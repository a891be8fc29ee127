// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of accepted mail, looked up before the run: the store, the greylists, the way for
// bounces. A part of the plan; store and greylists have locks of their own, the rest is only read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "behaviour/gates.hpp"
#include "bhm/bounce_route.hpp"
#include "bhm/mail_store.hpp"

namespace postal::bhm {

struct options;
class recipients;

struct delivery_plan {
    std::string host_name;                            // of this machine
    std::unique_ptr<mail_store> store;                // null: mail is not kept
    std::unique_ptr<behaviour::greylists> greylists;  // null: nobody has g
    std::optional<bounce_route> bounces;              // nothing: nobody has b

    // Whether something becomes of what is accepted.
    bool wanted() const noexcept { return store || bounces; }
};

// Fails with one line on what cannot be, such as users with b and no --bounce-via. `run` is the
// run's number.
base::expected<void> prepare(delivery_plan& into, const options& chosen, const recipients& users,
                             std::uint64_t run);

}  // namespace postal::bhm
