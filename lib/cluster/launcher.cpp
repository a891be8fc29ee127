// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/launcher.hpp"

#include "cluster/mpi/mpi_transport.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace postal::cluster {

namespace {

constexpr unsigned most_ranks = 65536;

struct variables {
    const char* rank;
    const char* ranks;
};
constexpr std::array known_launchers{variables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                     variables{"PMI_RANK", "PMI_SIZE"},
                                     variables{"PMIX_RANK", "SLURM_NTASKS"}};

// Digits alone, not more than most_ranks.
std::optional<unsigned> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return {};
    const std::string_view digits = text;
    unsigned number = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (wrong != std::errc{} || end != digits.data() + digits.size() || number > most_ranks)
        return {};
    return number;
}

#ifdef POSTAL_MPI_VERSION

// Beside the programs, as they were built or installed.
base::expected<std::string> module_path() {
    std::error_code wrong;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", wrong);
    if (wrong) return base::fail("/proc/self/exe: {}", wrong.message());
    return {boost::system::in_place_value,
            (program.parent_path() / POSTAL_MPI_MODULE).lexically_normal().string()};
}

base::failure not_loaded() {
    const char* why = dlerror();
    return base::fail(
        "the MPI module cannot be loaded: {}; install it (Debian: postal-mpi), or start "
        "the program without a launcher",
        why == nullptr ? "unknown reason" : why);
}

#endif

}  // namespace

std::optional<launched> launched_here() {
    for (const auto& [rank_variable, ranks_variable] : known_launchers) {
        const auto rank = number_in(rank_variable);
        const auto ranks = number_in(ranks_variable);
        if (rank && ranks && *rank < *ranks) return launched{*rank, *ranks};
    }
    return {};
}

#ifdef POSTAL_MPI_VERSION

base::expected<std::unique_ptr<transport>> open_transport() {
    const auto path = module_path();
    if (!path) return path.error();
    void* module = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) return not_loaded();
    auto* make = reinterpret_cast<mpi_maker*>(dlsym(module, mpi_maker_name));
    if (make == nullptr) return not_loaded();
    base::expected<std::unique_ptr<transport>> made = base::fail("MPI does not start");
    make(made);
    return made;
}

std::string_view mpi_version() noexcept {
    return POSTAL_MPI_VERSION;
}

#else

base::expected<std::unique_ptr<transport>> open_transport() {
    return base::fail(
        "this program was built without MPI and cannot be one of many; build it where Open MPI's "
        "headers are, or start it without a launcher");
}

std::string_view mpi_version() noexcept {
    return "no";
}

#endif

}  // namespace postal::cluster
