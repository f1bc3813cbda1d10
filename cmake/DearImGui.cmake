# SPDX-License-Identifier: Apache-2.0
# Dear ImGui from its sources, for the desktop viewer and for the page.
#
#   vramscope_dear_imgui(NAME STATIC|OBJECT FOLDER [more of its files...])
function(vramscope_dear_imgui name kind folder)
  list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE more)
  add_library(${name} ${kind} ${folder}/imgui.cpp ${folder}/imgui_draw.cpp ${folder}/imgui_stacklayout.cpp ${folder}/imgui_tables.cpp
                              ${folder}/imgui_widgets.cpp ${more})
  target_include_directories(${name} SYSTEM PUBLIC ${folder})
  target_compile_definitions(${name} PUBLIC IMGUI_DISABLE_DEMO_WINDOWS IMGUI_DISABLE_DEBUG_TOOLS IMGUI_DISABLE_OBSOLETE_FUNCTIONS)
  target_compile_options(${name} PRIVATE -w)  # its warnings are not ours to fix
endfunction()
