# SPDX-License-Identifier: GPL-3.0-or-later
# Writes one source of several test files, so that headers, and what is made of their templates, are compiled once for all.
#
#   cmake "-DSOURCES=a_test.cpp;b_test.cpp" -DOUT=file -P gather.cmake
#
# Each file stands in a namespace of its own, where its names meet nobody else's. What the files include comes before
# them; each header, which says #pragma once or the like, is nothing where it is included again.
set(includes "")
set(files "")
foreach(source ${SOURCES})
    file(STRINGS ${source} lines REGEX "^#include ")
    list(APPEND includes ${lines})
    cmake_path(GET source STEM name)
    string(MAKE_C_IDENTIFIER ${name} name)
    string(APPEND files "namespace ${name} {\n#include \"${source}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES includes)
list(JOIN includes "\n" includes)
file(WRITE ${OUT} "${includes}\n${files}")
