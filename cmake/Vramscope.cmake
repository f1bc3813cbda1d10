# SPDX-License-Identifier: Apache-2.0
# One function declares a room: its library, and the tests, fuzz targets and benchmarks in the same folder.
#
#   vramscope_room(trace_format
#     SOURCES writer.cc reader.cc            # the static library vramscope_trace_format; none = header-only
#     DEPS    PkgConfig::zstd                # what it links; other rooms by name: vramscope_trace_format
#     TESTS   writer_test.cc reader_test.cc  # one GoogleTest program, which ctest runs as one test
#     FUZZERS reader_fuzz.cc                 # one libFuzzer program each, when VRAMSCOPE_FUZZERS is on
#     FUZZED                                 # instrumented, so that fuzz targets see which branches run
#     HOT                                    # optimized in every build: its tests would take minutes otherwise
#     BENCHES codec_bench.cc                 # one Google Benchmark program each
#     OWN_HEADERS)                           # does not use the precompiled headers that rooms share

# The targets of a sanitizer build: `cmake --build --preset asan --target unit_tests fuzzers`. With VRAMSCOPE_UNIT_TESTS=OFF, unit tests are built
# only if this target or one of the tests is named.
add_custom_target(unit_tests)
add_custom_target(fuzzers)

add_library(vramscope_options INTERFACE)
target_include_directories(vramscope_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(vramscope_options INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 gives these warnings falsely for std::string's operators (GCC bugs 105329, 105651).
  target_compile_options(vramscope_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # With a time in the precompiled headers, ccache would find nothing that was compiled with those of another clone.
  target_compile_options(vramscope_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(VRAMSCOPE_SANITIZE)
  target_compile_options(vramscope_options INTERFACE -fsanitize=${VRAMSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(vramscope_options INTERFACE -fsanitize=${VRAMSCOPE_SANITIZE})
endif()
if(VRAMSCOPE_SANITIZE MATCHES undefined)
  # The address sanitizer stops at null pointers. Without these checks, the largest units compile 10 % faster.
  target_compile_options(vramscope_options INTERFACE -fno-sanitize=null,object-size,vptr)
endif()

# The instrumentation of -fsanitize=fuzzer-no-link, as options that let files with and without it share a precompiled header. Only rooms that a fuzz
# target runs have it: in all rooms, it took a fifth of the time of a build with sanitizers.
set(fuzzed_options "")
if(VRAMSCOPE_FUZZERS)
  set(fuzzed_options -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table,stack-depth -fno-builtin-memcmp)
endif()

# Precompiles the standard headers that rooms include, once for all rooms. The injected libraries have other flags and read the headers themselves.
# A file that lacks an include fails to compile there. The build with the thread sanitizer has no precompiled headers either, so it finds units that lack one.
function(vramscope_precompile_room_headers target)
  file(WRITE ${CMAKE_BINARY_DIR}/${target}.cc "")
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/${target}.cc)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE vramscope_options)
  target_compile_options(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <charconv> <cstring> <filesystem> <functional> <map> <memory> <optional> <span> <string> <unordered_map> <vector>)
endfunction()
if(NOT VRAMSCOPE_SANITIZE STREQUAL thread)
  vramscope_precompile_room_headers(vramscope_room_headers)
endif()

# A build with fuzz targets optimizes only the rooms that they run and those that are HOT: optimizing takes more than half of a room's build time.
set(cold_options "")
if(VRAMSCOPE_FUZZERS)
  set(cold_options -O0)
  vramscope_precompile_room_headers(vramscope_cold_room_headers ${cold_options})
endif()

# Precompiles GoogleTest and the containers that every test includes, once for all test programs: reading them took a third of the tests' build time.
if(VRAMSCOPE_TESTS)
  file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cc "")
  add_library(vramscope_test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cc)
  target_link_libraries(vramscope_test_headers PRIVATE vramscope_options GTest::gtest GTest::gmock)
  target_precompile_headers(vramscope_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <fstream> <functional> <map> <optional> <random> <sstream> <string> <vector>)
  # Optimizing GoogleTest's macros takes a third of a build, half of one with sanitizers. The code under test is in the library, with its own options.
  set(test_optimization -O1)
  if(VRAMSCOPE_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(test_optimization -O0)
  endif()
  target_compile_options(vramscope_test_headers PRIVATE ${test_optimization})
endif()

include(ReadTogether)

function(vramscope_room name)
  cmake_parse_arguments(ROOM "OWN_HEADERS;FUZZED;HOT" "" "SOURCES;DEPS;TESTS;TEST_DEPS;FUZZERS;BENCHES" ${ARGN})
  set(library vramscope_${name})
  if(ROOM_SOURCES)
    add_library(${library} STATIC ${ROOM_SOURCES})
    set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${library} PUBLIC vramscope_options ${ROOM_DEPS})
    set(headers vramscope_room_headers)
    if(ROOM_FUZZED)
      target_compile_options(${library} PRIVATE ${fuzzed_options})
    elseif(VRAMSCOPE_FUZZERS AND NOT ROOM_HOT)
      target_compile_options(${library} PRIVATE ${cold_options})
      set(headers vramscope_cold_room_headers)
    endif()
    if(TARGET ${headers} AND NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/injector/" AND NOT ROOM_OWN_HEADERS)
      target_precompile_headers(${library} REUSE_FROM ${headers})
    endif()
    vramscope_read_together(${library} ${ROOM_SOURCES})
  else()
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE vramscope_options ${ROOM_DEPS})
  endif()

  if(ROOM_TESTS AND VRAMSCOPE_TESTS)
    add_executable(${name}_test ${ROOM_TESTS})
    target_link_libraries(${name}_test PRIVATE ${library} ${ROOM_TEST_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
    target_precompile_headers(${name}_test REUSE_FROM vramscope_test_headers)
    vramscope_read_together(${name}_test ${ROOM_TESTS})
    target_compile_definitions(${name}_test PRIVATE
      VRAMSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" VRAMSCOPE_BINARY_DIR="${CMAKE_BINARY_DIR}")
    target_compile_options(${name}_test PRIVATE ${test_optimization})
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 900)
    add_dependencies(unit_tests ${name}_test)
    if(NOT VRAMSCOPE_UNIT_TESTS)
      set_target_properties(${name}_test PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endif()
  if(VRAMSCOPE_FUZZERS)
    foreach(source ${ROOM_FUZZERS})
      get_filename_component(fuzzer ${source} NAME_WE)
      add_executable(${fuzzer} ${source})
      target_link_libraries(${fuzzer} PRIVATE ${library})
      target_compile_options(${fuzzer} PRIVATE ${fuzzed_options})
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers ${fuzzer})
    endforeach()
  endif()
  if(VRAMSCOPE_BENCHMARKS)
    foreach(source ${ROOM_BENCHES})
      get_filename_component(bench ${source} NAME_WE)
      add_executable(${bench} ${source})
      target_link_libraries(${bench} PRIVATE ${library} ${ROOM_TEST_DEPS} benchmark::benchmark benchmark::benchmark_main)
    endforeach()
  endif()
endfunction()
