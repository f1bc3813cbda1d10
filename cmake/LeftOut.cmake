# SPDX-License-Identifier: Apache-2.0
# Removes Linux-only files from builds for other systems: the web page, and the Windows program.
#
# vramscope_leave_out(SOURCES PATTERN): removes from the list SOURCES of a room the files whose paths, relative to the source root, match PATTERN.
# Such files start other programs, or the build that calls this has its own version of them.
function(vramscope_leave_out list pattern)
  get_filename_component(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. ABSOLUTE)
  set(kept "")
  foreach(source ${${list}})
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${root} ${path})
    if(NOT path MATCHES "${pattern}")
      list(APPEND kept ${source})
    endif()
  endforeach()
  set(${list} "${kept}" PARENT_SCOPE)
endfunction()
