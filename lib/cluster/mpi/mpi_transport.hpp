// SPDX-License-Identifier: GPL-3.0-or-later
// What the module postal_mpi.so exports: MPI as a transport.
//
// Looked up by name with dlsym(3), once in a process. MPI's own header stays in mpi_transport.cpp.
#pragma once

#include "base/result.hpp"
#include "cluster/transport.hpp"

#include <memory>

namespace postal::cluster {

inline constexpr const char* mpi_maker_name = "postal_make_mpi_transport";
// Stores a transport, or fails with one line; for the process's only thread that speaks MPI.
using mpi_maker = void(base::expected<std::unique_ptr<transport>>& made);

}  // namespace postal::cluster
