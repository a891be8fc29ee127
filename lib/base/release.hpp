// SPDX-License-Identifier: GPL-3.0-or-later
// Giving memory back.
//
// An assignment of an empty string, or of {}, keeps the room of the old value with libstdc++.
#pragma once

namespace postal::base {

// Leaves it empty and without room of its own. Of strings and the standard's containers.
template <class Container>
void release(Container& one) noexcept {
    Container().swap(one);
}

}  // namespace postal::base
