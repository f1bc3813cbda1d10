# SPDX-License-Identifier: Apache-2.0
# vramscope_read_together(TARGET folder/one.cc ...): files of one folder are compiled as one unit, or as a few of about the same size, so that their
# headers are read once. Not more than a dozen in each: the compiler works on one for seconds, and after an edit that is what one waits for. Names
# in unnamed namespaces have to be different within a folder. The injected libraries stay apart: small files, small headers. So does the build with
# the thread sanitizer, where a file that needs what another one includes is seen.
function(vramscope_read_together target)
  if(NOT VRAMSCOPE_UNITY OR CMAKE_CURRENT_SOURCE_DIR MATCHES "/injector/")
    return()
  endif()
  set(most 12)
  set(folders "")
  set(sources ${ARGN})
  list(FILTER sources EXCLUDE REGEX "^/")  # what is generated
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
