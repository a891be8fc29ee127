# What is installed beside the programs (shell completions), and the Debian package that cpack makes.
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
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN man EXCLUDE)
install(CODE "set(documents \"${CMAKE_INSTALL_DOCDIR}\")
    cmake_path(ABSOLUTE_PATH documents BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    file(CREATE_LINK examples \"\$ENV{DESTDIR}\${documents}/conf\" SYMBOLIC)")

# What reads run records can be held against.
install(FILES share/postal-record-1.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/postal-suite)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME postal-suite)
set(CPACK_PROJECT_CONFIG_FILE ${POSTAL_VERSION_FOLDER}/package.cmake)  # the version
set(CPACK_PACKAGE_CONTACT "The Postal developers <postal@example.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures mail servers and accounts for every message")
set(CPACK_PACKAGE_DESCRIPTION "postal loads an SMTP or LMTP server and accounts for every message,
rabid reads mail back over POP3 and IMAP and checks it, bhm is a mail
server that throws mail away, lmtp-deliver is an LMTP server that runs
a delivery agent such as dovecot-lda, maildrop or procmail for every
recipient, postal-report turns run records into text, CSV and HTML, and
says what became of every message, postal-compare says which variant of
a mail system is faster, postal-audit which mail a power cut would have
lost.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION mail)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libjs-chart.js)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS eatmydata qemu-system-common)
# The module for MPI is a package of its own: nobody who loads one server needs MPI's libraries.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL suite)
set(CPACK_DEBIAN_SUITE_PACKAGE_NAME postal-suite)
set(CPACK_COMPONENT_SUITE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
if(POSTAL_MPI_VERSION)
    list(APPEND CPACK_COMPONENTS_ALL mpi)
    list(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS postal-suite-mpi)
    set(CPACK_DEBIAN_MPI_PACKAGE_NAME postal-suite-mpi)
    set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
    set(CPACK_DEBIAN_MPI_PACKAGE_SUGGESTS "")
    set(CPACK_DEBIAN_MPI_PACKAGE_CONFLICTS "")
    set(CPACK_DEBIAN_MPI_PACKAGE_REPLACES "")
    set(CPACK_COMPONENT_MPI_DESCRIPTION "makes many machines one run of postal-suite
With this module postal and rabid make one run of all the processes
that mpirun or srun starts.")
endif()
string(REPLACE ";" ", " CPACK_DEBIAN_PACKAGE_SUGGESTS "${CPACK_DEBIAN_PACKAGE_SUGGESTS}")
# Dependencies are read from the programs where Debian's tools for that are installed (scripts/packages.txt).
find_program(SHLIBDEPS dpkg-shlibdeps)
find_program(FILE_COMMAND file)
if(SHLIBDEPS AND FILE_COMMAND)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
# Debian's postal has programs of the same names.
set(CPACK_DEBIAN_PACKAGE_CONFLICTS postal)
set(CPACK_DEBIAN_PACKAGE_REPLACES postal)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Debian's own two documents, for each package (Debian policy 12.5 and 12.7).
find_program(GZIP gzip)
if(GZIP)
    set(changelog ${POSTAL_VERSION_FOLDER}/changelog)
    add_custom_command(OUTPUT ${changelog}.gz COMMAND ${GZIP} -9nkf ${changelog} DEPENDS version ${changelog} VERBATIM)
    add_custom_target(debian_changelog ALL DEPENDS ${changelog}.gz)
    set(debian_documents ${changelog}.gz ${CMAKE_CURRENT_LIST_DIR}/debian/copyright)
    install(FILES ${debian_documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
    if(POSTAL_MPI_VERSION)
        install(FILES ${debian_documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}-mpi COMPONENT mpi)
    endif()
endif()
include(CPack)
