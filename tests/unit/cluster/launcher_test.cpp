// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/launcher.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

using postal::cluster::launched_here;

namespace {

constexpr const char* all_variables[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
    "SLURM_NTASKS"};

struct variable {
    std::string name;
    std::string value;
};

// "RANK/RANKS" that the environment says, or "alone".
std::string said_by(const std::vector<variable>& environment) {
    for (const char* name : all_variables)
        unsetenv(name);
    for (const auto& [name, value] : environment)
        setenv(name.c_str(), value.c_str(), 1);
    const auto found = launched_here();
    for (const char* name : all_variables)
        unsetenv(name);
    if (!found) return "alone";
    return std::to_string(found->rank) + "/" + std::to_string(found->ranks);
}

std::string said_by_open_mpi(const std::string& rank, const std::string& ranks) {
    return said_by({{"OMPI_COMM_WORLD_RANK", rank}, {"OMPI_COMM_WORLD_SIZE", ranks}});
}

}  // namespace

TEST_CASE("a launcher is known by its environment") {
    CHECK(said_by({}) == "alone");
    CHECK(said_by_open_mpi("2", "4") == "2/4");
    CHECK(said_by_open_mpi("0", "1") == "0/1");
    CHECK(said_by({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}) == "1/2");
    CHECK(said_by({{"PMIX_RANK", "3"}, {"SLURM_NTASKS", "8"}}) == "3/8");
    CHECK(said_by({{"SLURM_NTASKS", "8"}}) == "alone");
    CHECK(said_by({{"PMIX_RANK", "0"}}) == "alone");
}

TEST_CASE("what is not a rank of so many is no launcher") {
    for (const char* rank : {"", " 1", "1 ", "+1", "-1", "0x1", "1.0", "4", "4294967297", "one"}) {
        INFO(rank);
        CHECK(said_by_open_mpi(rank, "4") == "alone");
    }
    for (const char* ranks : {"", "0", "-4", "4x", "65537", "99999999999999999999"}) {
        INFO(ranks);
        CHECK(said_by_open_mpi("0", ranks) == "alone");
    }
}
