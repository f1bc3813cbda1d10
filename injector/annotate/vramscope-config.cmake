# SPDX-License-Identifier: Apache-2.0
# find_package(vramscope) gives vramscope::annotate: the folder of vramscope/annotate.h, and the library of dlopen where it is not in libc.
if(NOT TARGET vramscope::annotate)
  find_path(VRAMSCOPE_INCLUDE_DIR vramscope/annotate.h HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../include REQUIRED)
  add_library(vramscope::annotate INTERFACE IMPORTED)
  set_target_properties(vramscope::annotate PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${VRAMSCOPE_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endif()
