#include "cluster/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace postal::cluster {

namespace {

constexpr unsigned most_ranks = 1U << 20U;

std::optional<unsigned> number_in(const char* name) {
    const char* const text = std::getenv(name);
    if (text == nullptr) return std::nullopt;
    const std::string_view digits = text;
    unsigned number = 0;
    const auto [end, problem] = std::from_chars(digits.begin(), digits.end(), number);
    if (problem != std::errc{} || end != digits.end() || number > most_ranks) return std::nullopt;
    return number;
}

struct words {
    const char* rank;
    const char* ranks;
};
constexpr words launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               {"PMI_RANK", "PMI_SIZE"},
                               {"PMIX_RANK", "SLURM_NTASKS"}};

// Of this program; empty where the kernel does not say.
std::string own_folder() {
    char path[4096];
    const auto size = ::readlink("/proc/self/exe", path, sizeof path);
    if (size <= 0) return {};
    const std::string_view name(path, static_cast<std::size_t>(size));
    return std::string(name.substr(0, name.rfind('/')));
}

}  // namespace

std::optional<launched> launched_here() {
    for (const words& one : launchers) {
        const auto rank = number_in(one.rank), ranks = number_in(one.ranks);
        if (rank && ranks && *rank < *ranks) return launched{*rank, *ranks};
    }
    return std::nullopt;
}

std::string_view mpi_version() noexcept {
    return POSTAL_MPI_VERSION;
}

base::expected<std::unique_ptr<transport>> open_transport() {
    if (mpi_version() == "no")
        return base::fail(
            "a launcher has started several ranks, and this program was built without MPI; "
            "build it where MPI's development files are installed");
    const std::string path = own_folder() + "/" POSTAL_MPI_MODULE;
    // Global: MPI's own modules look for its symbols.
    void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr)
        return base::fail("a launcher has started several ranks, and MPI cannot be loaded: {}",
                          ::dlerror());
    using opener = transport* (*)();
    const auto open = reinterpret_cast<opener>(::dlsym(module, "postal_open_mpi_transport"));
    if (open == nullptr) return base::fail("{} is not of this version", path);
    std::unique_ptr<transport> made(open());
    if (!made) return base::fail("MPI_Init_thread has failed");
    return made;
}

}  // namespace postal::cluster
