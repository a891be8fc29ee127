# SPDX-License-Identifier: GPL-3.0-or-later
# The few functions that every CMakeLists.txt of the project is written with.

# Objects are kept by ccache, between checkouts and kinds of builds, where it is asked for: the scripts do. With
# precompiled headers it must not look at the time of files and at macros that only the header defines (its manual,
# "Precompiled headers").
find_program(CCACHE ccache)
if(POSTAL_CCACHE AND CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

include(CheckCXXSourceCompiles)
add_library(postal_options INTERFACE)
target_compile_options(postal_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    # GCC 12 takes std::string's own copies for overlapping ones (GCC bug 105651), and members of coroutine frames for
    # uninitialised or overrun ones; GCC 14 sums of strings for copies beyond them.
    target_compile_options(postal_options INTERFACE
        -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread
        -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # A tenth less time for a tenth more memory: GCC collects garbage from 256 MiB on, not from 128.
    target_compile_options(postal_options INTERFACE "SHELL:--param ggc-min-heapsize=262144")
endif()
# What is drawn from a seed is the same wherever it is: no a * b + c that is rounded once, as compilers make it where the
# processor can. x86-64 without options of its own cannot.
check_cxx_source_compiles("#ifndef __FP_FAST_FMA\n#error none\n#endif\nint main() {}" POSTAL_FAST_FMA)
if(POSTAL_FAST_FMA OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
    target_compile_options(postal_options INTERFACE -ffp-contract=off)
endif()
if(POSTAL_WERROR)
    target_compile_options(postal_options INTERFACE -Werror)
endif()
if(POSTAL_SANITIZE)
    target_compile_options(postal_options INTERFACE -fsanitize=${POSTAL_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(postal_options INTERFACE -fsanitize=${POSTAL_SANITIZE})
    # GCC 12 takes a coroutine frame's own operator delete for a mismatch when it inlines it.
    target_compile_options(postal_options INTERFACE -Wno-mismatched-new-delete)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
        # Before version 17 a coroutine cannot have it ("cannot represent a difference across sections").
        target_compile_options(postal_options INTERFACE -fno-sanitize=function)
    elseif(POSTAL_SANITIZE MATCHES thread)
        # Asio has fences, which the sanitizer does not see; it sees the locks and atomics beside them.
        target_compile_options(postal_options INTERFACE -Wno-tsan)
    endif()
endif()
if(POSTAL_FUZZ)
    # Coverage in every library; only the harnesses themselves link libFuzzer's main(). Undefined behaviour ends it. Half
    # of the time would go into what says least: each comparison told to libFuzzer, which has dictionaries instead, and
    # checks of pointers that the address sanitizer or the preset asan have, too.
    target_compile_options(postal_options INTERFACE -fsanitize=fuzzer-no-link
        -fno-sanitize-coverage=trace-cmp -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow
        -fno-sanitize-recover=all)
endif()
# What distributions build network programs with: dpkg-buildflags(1), hardening. Where that, or another builder of
# packages, gives flags, they are all that is given. Those of the stack, of indirect jumps and of the linker are each
# processor's own.
if(POSTAL_HARDENED AND NOT POSTAL_SANITIZE AND NOT CMAKE_CXX_FLAGS MATCHES "-fstack-protector|_FORTIFY_SOURCE")
    include(CheckCXXCompilerFlag)
    foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
        string(MAKE_C_IDENTIFIER "POSTAL_HAS${flag}" known)
        check_cxx_compiler_flag(${flag} ${known})
        if(${known})
            target_compile_options(postal_options INTERFACE ${flag})
        endif()
    endforeach()
    # The library's checks of copies and formats need the optimizer.
    target_compile_options(postal_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
    target_link_options(postal_options INTERFACE LINKER:-z,relro,-z,now)
endif()
target_compile_definitions(postal_options INTERFACE
    BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_REGEX BOOST_ASIO_SEPARATE_COMPILATION)

# Programs that carry no load are worth less time of the compiler. What the others link is not compiled so: where an inline
# function is in both, the linker takes either.
add_library(postal_leisure_options INTERFACE)
target_compile_options(postal_leisure_options INTERFACE $<$<CONFIG:Release>:-O1>)

# postal_precompile(TARGET KIND [OPTIONS]): the target's sources begin with cmake/precompiled/KIND.hpp, which is
# compiled once for all targets. The holder that owns it must be compiled with the options of its users.
option(POSTAL_PRECOMPILED "Compile common headers once" ON)
function(postal_precompile target kind)
    if(NOT POSTAL_PRECOMPILED)
        return()
    endif()
    set(holder precompiled_${kind})
    foreach(options ${ARGN})
        string(APPEND holder _${options})
    endforeach()
    if(NOT TARGET ${holder})
        add_library(${holder} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled/holder.cpp)
        target_link_libraries(${holder} PRIVATE postal_options ${ARGN} fmt::fmt Boost::headers)
        if(kind STREQUAL tests)
            target_link_libraries(${holder} PRIVATE Catch2::Catch2 postal_test_options)
        endif()
        target_precompile_headers(${holder} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled/${kind}.hpp)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${holder})
    if(kind STREQUAL tests)
        target_link_libraries(${target} PRIVATE postal_asio)  # whose headers refer to it, used or not
    endif()
endfunction()

# postal_gather_sources(TARGET [source...]): up to twelve sources of the target are compiled as one, so that what they
# include, and what is made of its templates, is compiled once for all of them; those that are named, and those with
# definitions of their own, by themselves. A name in an unnamed namespace is then one for its whole folder:
# tests/check_layers.py.
option(POSTAL_UNITY "Compile many sources as one: less time for all of it, more for each change" OFF)
if(POSTAL_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC takes what is included for a header, which others include as well. What it may inline is bounded by how large a
    # source is: without this postal takes 7 to 9 % more instructions for a message than from sources of their own.
    target_compile_options(postal_options INTERFACE -Wno-subobject-linkage "SHELL:--param large-unit-insns=200000")
endif()
function(postal_gather_sources target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${POSTAL_UNITY} UNITY_BUILD_BATCH_SIZE 12)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# postal_leave_out(VARIABLE name...): takes those sources and subfolders of this folder out of the list.
function(postal_leave_out variable)
    foreach(name ${ARGN})
        file(GLOB_RECURSE inside CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
        list(REMOVE_ITEM ${variable} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp ${inside})
    endforeach()
    set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# postal_library(NAME [ASIO|LEISURE] [DEPENDS sibling...] [EXCEPT name...] [APART source...] [LINK target...]): one
# static library for a folder of lib/, without the sources and subfolders that are named; ASIO where most of its sources
# use Asio, LEISURE where no program that carries load links it; APART are sources that are never compiled with others.
function(postal_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "ASIO;LEISURE" "" "DEPENDS;EXCEPT;APART;LINK")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    postal_leave_out(sources ${arg_EXCEPT})
    add_library(postal_${name} STATIC ${sources})
    target_include_directories(postal_${name} PUBLIC ${PROJECT_SOURCE_DIR}/lib)
    list(TRANSFORM arg_DEPENDS PREPEND postal_)
    target_link_libraries(postal_${name} PUBLIC postal_options ${arg_DEPENDS} ${arg_LINK})
    postal_gather_sources(postal_${name} ${arg_APART})
    if(arg_ASIO)
        postal_precompile(postal_${name} asio)
    elseif(arg_LEISURE)
        target_link_libraries(postal_${name} PRIVATE postal_leisure_options)
        postal_precompile(postal_${name} standard postal_leisure_options)
    else()
        postal_precompile(postal_${name} standard)
    endif()
endfunction()

# postal_program(NAME [ASIO|LEISURE] [DEPENDS library...] [EXCEPT name...]): a program from the folder's sources, all
# but main.cpp also as a library of its own, so that tests can reach them.
function(postal_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "ASIO;LEISURE" "" "DEPENDS;EXCEPT")
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    postal_leave_out(sources main ${arg_EXCEPT})
    list(TRANSFORM arg_DEPENDS PREPEND postal_)
    add_library(program_${name} STATIC ${sources})
    target_include_directories(program_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(program_${name} PUBLIC postal_options ${arg_DEPENDS})
    postal_gather_sources(program_${name})
    add_executable(${name} main.cpp)
    foreach(target program_${name} ${name})
        if(arg_ASIO)
            postal_precompile(${target} asio)
        elseif(arg_LEISURE)
            target_link_libraries(${target} PRIVATE postal_leisure_options)
            postal_precompile(${target} standard postal_leisure_options)
        else()
            postal_precompile(${target} standard)
        endif()
    endforeach()
    target_link_libraries(${name} PRIVATE program_${name})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# Tests run once or twice for each build: compiling them fast is worth more than running them fast.
add_library(postal_test_options INTERFACE)
target_compile_options(postal_test_options INTERFACE -O0)
# What an assertion throws ends its test case, which fails, and not only the assertion.
target_compile_definitions(postal_test_options INTERFACE CATCH_CONFIG_FAST_COMPILE)

# postal_gather(NAME VARIABLE [FUNCTION]): in place of the sources in the list, files that hold twelve of them each. What
# replaces operator new does so for a whole program, and stays by itself. FUNCTION: gather.cmake.
function(postal_gather name variable)
    set(gather ${PROJECT_SOURCE_DIR}/tests/unit/gather.cmake)
    set(gathered "")
    set(number 0)
    set(left "")
    foreach(source ${${variable}})
        file(STRINGS ${source} replaced REGEX "operator new\\(")
        if(replaced)
            list(APPEND gathered ${source})
        else()
            list(APPEND left ${source})
        endif()
    endforeach()
    while(left)
        list(SUBLIST left 0 12 batch)
        list(REMOVE_ITEM left ${batch})
        math(EXPR number "${number} + 1")
        set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cpp)
        add_custom_command(OUTPUT ${file}
            COMMAND ${CMAKE_COMMAND} "-DSOURCES=${batch}" "-DFUNCTION=${ARGN}" -DOUT=${file} -P ${gather}
            DEPENDS ${batch} ${gather} VERBATIM)
        list(APPEND gathered ${file})
    endwhile()
    set(${variable} ${gathered} PARENT_SCOPE)
endfunction()

# postal_unit_tests(NAME LINK target... [EXCEPT name...]): one executable from tests/unit/NAME/*_test.cpp.
function(postal_unit_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;LINK")
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cpp)
    list(TRANSFORM arg_EXCEPT REPLACE "(.+)" "${name}/\\1_test")
    postal_leave_out(sources ${arg_EXCEPT})
    if(sources)
        postal_gather(${name} sources)
        add_executable(unit_${name} ${sources})
        target_include_directories(unit_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name})
        target_link_libraries(unit_${name} PRIVATE unit_main postal_test_options ${arg_LINK})
        postal_precompile(unit_${name} tests)
        add_test(NAME unit_${name} COMMAND unit_${name})
    endif()
endfunction()
