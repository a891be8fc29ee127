// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a run reach each other through MPI's C functions.
//
// A parcel is one message with one tag in a communicator of our own: MPI keeps those in order
// between two ranks. Failures of MPI that concern one rank are that rank's silence.
#include "cluster/mpi/mpi_transport.hpp"

#include <mpi.h>

#include <algorithm>
#include <list>
#include <set>
#include <string>
#include <utility>

namespace postal::cluster {

namespace {

constexpr int parcel_tag = 1;
constexpr std::size_t most_arriving = 4 * transport::largest_parcel;

std::string reason(int code) {
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "unknown error";
    text.resize(static_cast<std::size_t>(length));
    return text;
}

class mpi_transport final : public transport {
  public:
    mpi_transport(MPI_Comm group, unsigned rank, unsigned ranks)
        : group_(group), rank_(rank), ranks_(ranks) {}

    unsigned rank() const noexcept override { return rank_; }
    unsigned ranks() const noexcept override { return ranks_; }

    void send(unsigned to, std::string octets) override {
        if (to >= ranks_ || octets.size() > transport::largest_parcel) return;
        auto& one = leaving_.emplace_back(departure{std::move(octets), MPI_REQUEST_NULL});
        const int code = MPI_Isend(one.octets.data(), static_cast<int>(one.octets.size()), MPI_BYTE,
                                   static_cast<int>(to), parcel_tag, group_, &one.request);
        if (code != MPI_SUCCESS) leaving_.pop_back();
    }

    std::optional<parcel> receive() override {
        forget_what_left();
        take_next();
        return arrived();
    }

    std::size_t unsent() override {
        forget_what_left();
        return leaving_.size();
    }

    void close(bool together) override {
        if (!together) return;  // the process ends without MPI_Finalize, which would wait
        for (auto& one : leaving_)
            MPI_Wait(&one.request, MPI_STATUS_IGNORE);
        leaving_.clear();
        MPI_Comm_free(&group_);
        MPI_Finalize();
    }

  private:
    // MPI reads and writes the octets until the request is done: they must not move.
    struct departure {
        std::string octets;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct arrival {
        parcel what;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    void forget_what_left() {
        leaving_.remove_if([](departure& one) {
            int left = 0;
            return MPI_Test(&one.request, &left, MPI_STATUS_IGNORE) != MPI_SUCCESS || left != 0;
        });
    }

    // MPI_Recv would wait for ever for the rest of a long parcel whose sender was killed.
    void take_next() {
        int waiting = 0;
        MPI_Status status;
        int length = 0;
        if (arriving_octets_ >= most_arriving) return;
        if (MPI_Iprobe(MPI_ANY_SOURCE, parcel_tag, group_, &waiting, &status) != MPI_SUCCESS ||
            waiting == 0 || MPI_Get_count(&status, MPI_BYTE, &length) != MPI_SUCCESS)
            return;
        // Our ranks send none longer; what is longer fails as truncated and is dropped.
        length = std::clamp(length, 0, static_cast<int>(transport::largest_parcel));
        const auto octets = static_cast<std::size_t>(length);
        auto& one = arriving_.emplace_back();
        one.what = {static_cast<unsigned>(status.MPI_SOURCE), std::string(octets, '\0')};
        if (MPI_Irecv(one.what.octets.data(), length, MPI_BYTE, status.MPI_SOURCE, parcel_tag,
                      group_, &one.request) == MPI_SUCCESS)
            arriving_octets_ += octets;
        else
            arriving_.pop_back();
    }

    // The first that is here and is not behind another of the same rank.
    std::optional<parcel> arrived() {
        std::set<unsigned> held_up;
        for (auto one = arriving_.begin(); one != arriving_.end();) {
            const unsigned from = one->what.from;
            int here = 0;
            const int code = held_up.contains(from)
                                 ? MPI_SUCCESS
                                 : MPI_Test(&one->request, &here, MPI_STATUS_IGNORE);
            if (code == MPI_SUCCESS && here == 0) {
                held_up.insert(from);
                ++one;
                continue;
            }
            parcel what = std::move(one->what);
            arriving_octets_ -= what.octets.size();
            one = arriving_.erase(one);
            if (code == MPI_SUCCESS) return what;
        }
        return {};
    }

    MPI_Comm group_;
    unsigned rank_;
    unsigned ranks_;
    std::list<departure> leaving_;
    std::list<arrival> arriving_;
    std::size_t arriving_octets_ = 0;
};

base::expected<std::unique_ptr<transport>> make() {
    int level = MPI_THREAD_SINGLE;
    if (const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
        code != MPI_SUCCESS)
        return base::fail("MPI does not start: {}", reason(code));
    if (level < MPI_THREAD_FUNNELED) {
        MPI_Finalize();
        return base::fail("this MPI library does not allow threads (MPI_THREAD_FUNNELED)");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm group = MPI_COMM_NULL;
    if (const int code = MPI_Comm_dup(MPI_COMM_WORLD, &group); code != MPI_SUCCESS)
        return base::fail("MPI makes no communicator: {}", reason(code));
    MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &ranks);
    return std::unique_ptr<transport>(std::make_unique<mpi_transport>(
        group, static_cast<unsigned>(rank), static_cast<unsigned>(ranks)));
}

}  // namespace

}  // namespace postal::cluster

extern "C" __attribute__((visibility("default"))) void postal_make_mpi_transport(
    postal::base::expected<std::unique_ptr<postal::cluster::transport>>& made) {
    made = postal::cluster::make();
}
