// SPDX-License-Identifier: GPL-3.0-or-later
// The terminal of a build without ncurses. None is opened, so that nothing else here is ever
// called.
#include "screen/terminal.hpp"

namespace postal::screen {

struct terminal::state {};

base::expected<void> check_terminal() {
    return base::fail("this build has no screen; --progress shows a line without one");
}

base::expected<std::unique_ptr<terminal>> terminal::open() {
    return check_terminal().error();
}

terminal::~terminal() = default;

bool terminal::takes_output() const {
    return false;
}

paper terminal::size() const {
    return {};
}

void terminal::draw(const std::vector<line>&) {}

void terminal::leave() {}

}  // namespace postal::screen
