# SPDX-License-Identifier: Apache-2.0
# For builds that lack some of Linux: the page, and the program for other systems.
#
# vramscope_leave_out(SOURCES PATTERN): removes from the list SOURCES of a room the files whose paths, seen from the root of the sources, match PATTERN.
# They start programs, or have a twin in the build that calls this.
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
