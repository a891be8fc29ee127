# SPDX-License-Identifier: GPL-3.0-or-later
# Writes what tells this build from others. Runs at each build, and changes files only when they would differ.
#
#   cmake -DSOURCE=folder -DRELEASE=1.0.0 -DOUT=folder -P write_version.cmake
#
# The version is RELEASE for the commit that has this tag (v1.0.0). Where there is no git repository, as in a tarball of
# scripts/release, it is what that wrote into .version, or RELEASE. Everywhere else it is
# RELEASE+git20260131.0123456789, with the commit's day in UTC, and ".dirty" when tracked files differ from the commit:
# Debian's tools sort that behind RELEASE and by day. What is written depends on the sources alone, so that a build can
# be repeated.

# Set where a build runs from a git hook, and then of another repository perhaps.
foreach(variable GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX)
    unset(ENV{${variable}})
endforeach()

# git(OUTPUT argument...): fails without a word; who builds as root has another user's repository.
function(git output)
    execute_process(
        COMMAND ${GIT} -c safe.directory=* --no-optional-locks -C ${SOURCE} ${ARGN}
        OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed)
        set(said "")
    endif()
    set(${output} "${said}" PARENT_SCOPE)
endfunction()

set(POSTAL_VERSION ${RELEASE})
find_program(GIT git)
# A repository of its own: the sources may have been unpacked within another one.
if(GIT AND EXISTS ${SOURCE}/.git)
    git(commit log -1 --abbrev=10 "--format=%ct %h %D")
    git(changes status --porcelain --untracked-files=no)
    string(REPLACE "." "\\." tag "${RELEASE}")
    if(commit MATCHES "^([0-9]+) ([0-9a-f]+) ?(.*)$")
        set(seconds ${CMAKE_MATCH_1})
        set(hash ${CMAKE_MATCH_2})
        set(names "${CMAKE_MATCH_3}")
        if(changes OR NOT names MATCHES "(^|, )tag: v?${tag}(,|$)")
            set(ENV{SOURCE_DATE_EPOCH} ${seconds})
            string(TIMESTAMP day "%Y%m%d" UTC)
            string(APPEND POSTAL_VERSION "+git${day}.${hash}")
        endif()
        if(changes)
            string(APPEND POSTAL_VERSION ".dirty")
        endif()
    endif()
elseif(EXISTS ${SOURCE}/.version)
    file(STRINGS ${SOURCE}/.version POSTAL_VERSION LIMIT_COUNT 1)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version/version.cpp.in ${OUT}/version.cpp @ONLY)
