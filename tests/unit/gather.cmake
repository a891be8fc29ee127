# SPDX-License-Identifier: GPL-3.0-or-later
# Writes one source of several test files, so that headers, and what is made of their templates, are compiled once for all.
#
#   cmake "-DSOURCES=a_test.cpp;b_test.cpp" [-DFUNCTION=name] -DOUT=file -P gather.cmake
#
# Each file stands in a namespace of its own, where its names meet nobody else's. What the files include comes before
# them; each header, which says #pragma once or the like, is nothing where it is included again. FUNCTION is one of C
# that each file has: as a namespace does not tell such functions apart, it becomes name_a_test, and so is the namespace
# called then.
set(includes "")
set(files "")
foreach(source ${SOURCES})
    file(STRINGS ${source} lines REGEX "^#include ")
    list(APPEND includes ${lines})
    cmake_path(GET source STEM name)
    string(MAKE_C_IDENTIFIER ${name} name)
    if(FUNCTION)
        string(PREPEND name ${FUNCTION}_)
        string(APPEND files "#define ${FUNCTION} ${name}\n")
    endif()
    string(APPEND files "namespace ${name} {\n#include \"${source}\"\n}\n")
    if(FUNCTION)
        string(APPEND files "#undef ${FUNCTION}\n")
    endif()
endforeach()
list(REMOVE_DUPLICATES includes)
list(JOIN includes "\n" includes)
file(WRITE ${OUT} "${includes}\n${files}")
