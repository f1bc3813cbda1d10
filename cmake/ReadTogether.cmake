# SPDX-License-Identifier: Apache-2.0
# vramscope_read_together(TARGET folder/one.cc ...): compiles the files of each folder as one unit, or as a few units of about the same size, so that
# their headers are read once. A unit has at most a dozen files: it takes seconds to compile, and a developer waits for that after each edit. Names in
# unnamed namespaces must differ within a folder. The injected libraries are compiled file by file: their files and headers are small. So is the build
# with the thread sanitizer, which therefore finds files that rely on the includes of another file.
function(vramscope_read_together target)
  if(NOT VRAMSCOPE_UNITY OR CMAKE_CURRENT_SOURCE_DIR MATCHES "/injector/")
    return()
  endif()
  set(most 12)
  set(folders "")
  set(sources ${ARGN})
  list(FILTER sources EXCLUDE REGEX "^/")  # generated files
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND ${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH ${folder} files)
    math(EXPR units "(${files} + ${most} - 1) / ${most}")
    set(number 0)
    foreach(source ${${folder}})
      math(EXPR unit "${number} * ${units} / ${files}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
