// SPDX-License-Identifier: GPL-3.0-or-later
// How the ranks of a run reach each other: parcels of octets, in order between any two of them.
//
// One thread's own (MPI_THREAD_FUNNELED); nothing here waits or spins, so whoever owns it calls
// receive() now and then. Implemented by the MPI module (mpi/mpi_transport.cpp) and, in unit tests,
// in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace postal::cluster {

struct parcel {
    unsigned from = 0;
    std::string octets;
};

class transport {
  public:
    static constexpr std::size_t largest_parcel = 64U << 20U;

    virtual ~transport() = default;

    virtual unsigned rank() const noexcept = 0;
    virtual unsigned ranks() const noexcept = 0;

    // The octets are kept until they have left. To a rank that is gone they are lost, which is no
    // error: its silence tells.
    virtual void send(unsigned to, std::string octets) = 0;
    // The next that has come; moves along what leaves, too.
    virtual std::optional<parcel> receive() = 0;
    // Parcels that have not left yet.
    virtual std::size_t unsent() = 0;

    // The last call. With `together` it waits until all ranks have called it; when one of them was
    // lost that would be for ever.
    virtual void close(bool together) = 0;
};

}  // namespace postal::cluster
