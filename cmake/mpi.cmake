# SPDX-License-Identifier: GPL-3.0-or-later
# MPI, for runs on many machines: in a module that the programs load where a launcher started them, so that a program
# that runs alone neither needs the library nor pays for it. POSTAL_MPI_VERSION is what --version says; empty: without.

option(POSTAL_MPI "Runs on many machines, where an MPI library is found" ON)
set(POSTAL_MPI_VERSION "")
if(POSTAL_MPI)
    pkg_check_modules(ompi IMPORTED_TARGET ompi-c)
    if(ompi_FOUND)
        set(POSTAL_MPI_VERSION "Open MPI ${ompi_VERSION}")
        add_library(postal_mpi_library ALIAS PkgConfig::ompi)
    else()
        enable_language(C)
        find_package(MPI COMPONENTS C)
        if(MPI_C_FOUND)
            set(POSTAL_MPI_VERSION "MPI ${MPI_C_VERSION}")
            add_library(postal_mpi_library ALIAS MPI::MPI_C)
        endif()
    endif()
endif()
# From the folder of the programs, in the build tree as where they are installed.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE POSTAL_MPI_FOLDER)
set(POSTAL_MPI_FOLDER ${POSTAL_MPI_FOLDER}/postal/modules)
