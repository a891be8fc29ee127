# Writes what tells this build from others. Runs at each build, and changes files only when they would differ.
#
#   cmake -DSOURCE=folder -DRELEASE=1.0.0 -DOUT=folder -P write_version.cmake
#
# The version is RELEASE for the commit that has this tag (v1.0.0) and where there is no git repository, as in a tarball.
# Everywhere else it is RELEASE+git20260131.0123456789, with the commit's day in UTC, and ".dirty" when tracked files
# differ from the commit: Debian's tools sort that behind RELEASE and by day. What is written depends on the sources
# alone (and SOURCE_DATE_EPOCH), so that a build can be repeated.

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
file(TIMESTAMP ${SOURCE}/CHANGELOG.md seconds "%s" UTC)
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
            set(given "$ENV{SOURCE_DATE_EPOCH}")
            set(ENV{SOURCE_DATE_EPOCH} ${seconds})
            string(TIMESTAMP day "%Y%m%d" UTC)
            set(ENV{SOURCE_DATE_EPOCH} ${given})
            string(APPEND POSTAL_VERSION "+git${day}.${hash}")
        endif()
        if(changes)
            string(APPEND POSTAL_VERSION ".dirty")
        endif()
    endif()
endif()

if("$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
    set(ENV{SOURCE_DATE_EPOCH} ${seconds})
endif()
string(TIMESTAMP POSTAL_DEBIAN_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(file version.cpp package.cmake changelog)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/version/${file}.in ${OUT}/${file} @ONLY)
endforeach()
