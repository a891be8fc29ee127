// SPDX-License-Identifier: GPL-3.0-or-later
// The standard headers, what the sessions use of Asio, and Catch2, for the unit tests (see
// standard.hpp).
#pragma once

#include "asio.hpp"

#include <catch2/catch.hpp>
