// SPDX-License-Identifier: GPL-3.0-or-later
// The one main of all unit test programs.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
