// SPDX-License-Identifier: GPL-3.0-or-later
// The standard headers and Catch2, for the unit tests (see standard.hpp).
#pragma once

#include "standard.hpp"

#include <catch2/catch.hpp>
