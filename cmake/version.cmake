# SPDX-License-Identifier: GPL-3.0-or-later
# The version of a build, in the one source that a commit compiles anew: see write_version.cmake.
set(POSTAL_VERSION_FOLDER ${PROJECT_BINARY_DIR}/version)
add_custom_target(version
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DRELEASE=${PROJECT_VERSION} -DOUT=${POSTAL_VERSION_FOLDER}
        -P ${CMAKE_CURRENT_LIST_DIR}/write_version.cmake
    BYPRODUCTS ${POSTAL_VERSION_FOLDER}/version.cpp COMMENT "Looking which version this is" VERBATIM)
