# SPDX-License-Identifier: Apache-2.0
# vramscope_read_together(TARGET one.cc folder/two.cc ...): compiles the files of a target, in this order, as a few units of about the same size.
# Each unit reads its headers once, and compiles each function of a template once. Names in unnamed namespaces must differ within a room.
#
# A unit has at most VRAMSCOPE_UNITY_FILES files: by default a dozen, because a developer waits for it after each edit. Sanitizer builds are for
# whole runs of the tests, and have larger units. The injected libraries are compiled file by file: their files and headers are small. The dev preset
# compiles all files one by one, and finds files that rely on the includes of another file.
set(VRAMSCOPE_UNITY_FILES 12 CACHE STRING "With VRAMSCOPE_UNITY: at most so many files in a unit")

function(vramscope_read_together target)
  if(NOT VRAMSCOPE_UNITY OR CMAKE_CURRENT_SOURCE_DIR MATCHES "/injector/")
    return()
  endif()
  set(sources ${ARGN})
  list(FILTER sources EXCLUDE REGEX "^/")  # generated files
  list(LENGTH sources files)
  math(EXPR units "(${files} + ${VRAMSCOPE_UNITY_FILES} - 1) / ${VRAMSCOPE_UNITY_FILES}")
  set(number 0)
  foreach(source ${sources})
    math(EXPR unit "${number} * ${units} / ${files}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP together_${unit})
    math(EXPR number "${number} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
