# SPDX-License-Identifier: Apache-2.0
# The LibTorch inside a Python's torch package, as a CMake target to link.
#
# Why not find_package(Torch): with a CUDA wheel, it fails on a machine without a CUDA toolkit. What works with and without a toolkit: the include
# folders, the two libraries that a program calls, and --allow-shlib-undefined, because these two need other libraries in turn.

# vramscope_libtorch(NAME PYTHON): creates the interface library NAME. If PYTHON has no torch, prints a message and creates nothing.
function(vramscope_libtorch name python)
  execute_process(
    COMMAND ${python} -c "import os, torch; print(os.path.dirname(torch.__file__), int(torch.compiled_with_cxx11_abi()), sep=';')"
    OUTPUT_VARIABLE facts OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE missing)
  if(missing)
    message(STATUS "LibTorch: ${python} cannot import torch, so no C++ sample is built with it")
    return()
  endif()
  list(GET facts 0 folder)
  list(GET facts 1 new_abi)
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${folder}/include ${folder}/include/torch/csrc/api/include)
  target_compile_definitions(${name} INTERFACE _GLIBCXX_USE_CXX11_ABI=${new_abi})
  # Not optimized: the work is done in LibTorch, and optimizing the templates of its headers takes a third of the compile time.
  target_compile_options(${name} INTERFACE -Wall -Wextra -O0)
  target_link_libraries(${name} INTERFACE ${folder}/lib/libtorch_cpu.so ${folder}/lib/libc10.so)
  target_link_options(${name} INTERFACE -Wl,--allow-shlib-undefined -Wl,-rpath,${folder}/lib)
endfunction()
