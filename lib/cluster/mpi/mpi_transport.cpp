// The module that reaches other ranks by MPI: the only file that knows MPI.
//
// One thread's alone (MPI_THREAD_FUNNELED). Everything that is sent is its own MPI_Isend; the
// octets are kept until it has completed. A rank that is gone is no error here (MPI_ERRORS_RETURN):
// what was sent to it never completes, or is lost.
#include "cluster/transport.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <list>
#include <memory>
#include <new>
#include <utility>

namespace postal::cluster {

namespace {

constexpr int parcels = 1;  // the tag of all

class mpi_transport final : public transport {
  public:
    // Null where MPI cannot be had.
    static mpi_transport* open() {
        int level = MPI_THREAD_SINGLE;
        if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
            return nullptr;
        auto* made = new mpi_transport;
        MPI_Comm_dup(MPI_COMM_WORLD, &made->ours_);
        MPI_Comm_set_errhandler(made->ours_, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(made->ours_, &made->rank_);
        MPI_Comm_size(made->ours_, &made->ranks_);
        return made;
    }

    unsigned rank() const noexcept override { return static_cast<unsigned>(rank_); }
    unsigned ranks() const noexcept override { return static_cast<unsigned>(ranks_); }

    void send(unsigned to, std::string octets) override {
        if (octets.size() > largest_parcel) return;
        sent& one = leaving_.emplace_back();
        one.octets = std::move(octets);
        const int size = static_cast<int>(one.octets.size());
        if (MPI_Isend(one.octets.data(), size, MPI_BYTE, static_cast<int>(to), parcels, ours_,
                      &one.request) != MPI_SUCCESS)
            leaving_.pop_back();
    }

    std::optional<parcel> receive() override {
        let_go();
        int there = 0;
        MPI_Status status;
        if (MPI_Iprobe(MPI_ANY_SOURCE, parcels, ours_, &there, &status) != MPI_SUCCESS ||
            there == 0)
            return std::nullopt;
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        if (size < 0 || static_cast<std::size_t>(size) > largest_parcel) return std::nullopt;
        parcel got;
        got.from = static_cast<unsigned>(status.MPI_SOURCE);
        got.octets.resize(static_cast<std::size_t>(size));
        if (MPI_Recv(got.octets.data(), size, MPI_BYTE, status.MPI_SOURCE, parcels, ours_,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return std::nullopt;
        return got;
    }

    std::size_t unsent() override {
        let_go();
        return leaving_.size();
    }

    void close(bool together) override {
        if (std::exchange(closed_, true) || !together) return;
        MPI_Finalize();
    }

  private:
    struct sent {
        std::string octets;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    // Forgets what has left.
    void let_go() {
        for (auto one = leaving_.begin(); one != leaving_.end();) {
            int left = 0;
            const int result = MPI_Test(&one->request, &left, MPI_STATUS_IGNORE);
            one = left != 0 || result != MPI_SUCCESS ? leaving_.erase(one) : std::next(one);
        }
    }

    MPI_Comm ours_ = MPI_COMM_NULL;
    int rank_ = 0;
    int ranks_ = 1;
    std::list<sent> leaving_;
    bool closed_ = false;
};

}  // namespace

}  // namespace postal::cluster

// What the launcher looks up (launcher.cpp); the caller owns what it gives.
extern "C" postal::cluster::transport* postal_open_mpi_transport() {
    return postal::cluster::mpi_transport::open();
}
