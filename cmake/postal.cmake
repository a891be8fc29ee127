# The few functions that every CMakeLists.txt of the project is written with.

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(postal_options INTERFACE)
target_compile_options(postal_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 takes std::string's own copies for overlapping ones (GCC bug 105651).
    target_compile_options(postal_options INTERFACE -Wno-restrict)
endif()
if(POSTAL_WERROR)
    target_compile_options(postal_options INTERFACE -Werror)
endif()
if(POSTAL_SANITIZE)
    target_compile_options(postal_options INTERFACE -fsanitize=${POSTAL_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(postal_options INTERFACE -fsanitize=${POSTAL_SANITIZE})
    # GCC 12 takes a coroutine frame's own operator delete for a mismatch when it inlines it.
    target_compile_options(postal_options INTERFACE -Wno-mismatched-new-delete)
endif()
if(POSTAL_FUZZ)
    # Coverage in every library; only the harnesses themselves link libFuzzer's main().
    target_compile_options(postal_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_compile_definitions(postal_options INTERFACE POSTAL_VERSION="${PROJECT_VERSION}"
    BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_REGEX)

# postal_library(NAME [DEPENDS sibling...] [LINK target...]): one static library for a folder of lib/.
function(postal_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK")
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    add_library(postal_${name} STATIC ${sources})
    target_include_directories(postal_${name} PUBLIC ${CMAKE_SOURCE_DIR}/lib)
    list(TRANSFORM arg_DEPENDS PREPEND postal_)
    target_link_libraries(postal_${name} PUBLIC postal_options ${arg_DEPENDS} ${arg_LINK})
endfunction()

# postal_program(NAME [DEPENDS library...]): a program from the folder's sources, all but main.cpp also
# as a library of its own, so that tests can reach them.
function(postal_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
    list(TRANSFORM arg_DEPENDS PREPEND postal_)
    add_library(program_${name} STATIC ${sources})
    target_include_directories(program_${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(program_${name} PUBLIC postal_options ${arg_DEPENDS})
    add_executable(${name} main.cpp)
    target_link_libraries(${name} PRIVATE program_${name})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# postal_unit_tests(NAME LINK target...): one executable from tests/unit/NAME/*_test.cpp.
function(postal_unit_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cpp)
    if(sources)
        add_executable(unit_${name} ${sources})
        target_link_libraries(unit_${name} PRIVATE unit_main ${arg_LINK})
        add_test(NAME unit_${name} COMMAND unit_${name})
    endif()
endfunction()
