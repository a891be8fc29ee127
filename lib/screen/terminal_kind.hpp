// SPDX-License-Identifier: GPL-3.0-or-later
// What terminfo knows of the terminal that standard error is. By itself, since <term.h> makes
// macros of hundreds of ordinary words.
#pragma once

namespace postal::screen {

// Whether the cursor can be put anywhere on it; false where the kind (TERM) is not known.
bool can_be_drawn_on() noexcept;

}  // namespace postal::screen
