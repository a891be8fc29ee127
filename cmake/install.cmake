# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed beside the programs: shell completions and documents. The Debian packages are made from debian/.
# Manual pages are installed by docs/, sample configurations by conf/.

# The completions are printed by the programs themselves, from the rows that their options are. What was built for
# another machine is not run: programs of the same version that were built for this one print them then, if there are any.
# Each shell looks for a file of the program's name in a folder that it shares with other packages.
set(POSTAL_NATIVE_BIN "" CACHE PATH "Folder of the programs built for this machine, whose completions a cross build takes")
foreach(shell bash zsh fish)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completions/${shell})
endforeach()
set(completed ${POSTAL_PROGRAMS})
if(CMAKE_CROSSCOMPILING AND NOT POSTAL_NATIVE_BIN)
    message(STATUS "Shell completions are left out: POSTAL_NATIVE_BIN names no programs that run here")
    set(completed "")
endif()
foreach(program ${completed})
    set(printer ${POSTAL_NATIVE_BIN}/${program})
    if(NOT POSTAL_NATIVE_BIN)
        set(printer $<TARGET_FILE:${program}>)
    endif()
    set(name_bash ${program})
    set(name_zsh _${program})
    set(name_fish ${program}.fish)
    foreach(shell bash zsh fish)
        set(completion ${PROJECT_BINARY_DIR}/completions/${shell}/${name_${shell}})
        add_custom_command(OUTPUT ${completion}
            COMMAND ${printer} --completion ${shell} > ${completion}
            DEPENDS ${program} VERBATIM)
        list(APPEND completions_${shell} ${completion})
    endforeach()
endforeach()
add_custom_target(completions ALL DEPENDS ${completions_bash} ${completions_zsh} ${completions_fish})
install(FILES ${completions_bash} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completions_zsh} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${completions_fish} DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# README.md and the documents that it links to, beside each other as in the repository.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN man EXCLUDE PATTERN site EXCLUDE)
install(CODE "set(documents \"${CMAKE_INSTALL_DOCDIR}\")
    cmake_path(ABSOLUTE_PATH documents BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    file(CREATE_LINK examples \"\$ENV{DESTDIR}\${documents}/conf\" SYMBOLIC)")

# What reads run records can be held against.
install(FILES share/postal-record-1.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/postal)
