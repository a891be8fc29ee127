// SPDX-License-Identifier: GPL-3.0-or-later
// Whether this process is one of many: what mpirun and srun leave in the environment, and the way
// to the others.
//
// MPI's library is loaded (a module beside the programs, postal_mpi.so) where a launcher says that
// there are others, and nowhere else: a program that runs alone does not pay for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cluster/transport.hpp"

namespace postal::cluster {

// This process among those that were launched together. One of one is launched, too.
struct launched {
    unsigned rank = 0;
    unsigned ranks = 1;
};

// From OMPI_COMM_WORLD_RANK and _SIZE (Open MPI), PMI_RANK and PMI_SIZE (MPICH, srun --mpi=pmi2),
// or PMIX_RANK with SLURM_NTASKS (srun --mpi=pmix); nothing where there is no launcher.
std::optional<launched> launched_here();

// Loads the module and calls MPI_Init_thread; takes some tenths of a second. Fails with one line
// where the programs were built without MPI, or the module or its library is missing.
base::expected<std::unique_ptr<transport>> open_transport();

// For --version: "Open MPI 4.1.4", or "no" where the programs were built without.
std::string_view mpi_version() noexcept;

}  // namespace postal::cluster
