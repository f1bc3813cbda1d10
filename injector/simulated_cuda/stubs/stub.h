// SPDX-License-Identifier: Apache-2.0
// Macros that define the functions of a simulated library, such as cuBLAS. Each library consists of a table
// of these macros in this folder, and of some hand-written functions.
//
//   STUB(cublasSgemm_v2)                      returns success
//   STUB(cublasCreate_v2, HANDLE(0))          also writes a handle through argument 0
//   STUB(cusolverDnSgetrf_bufferSize, INT(5)) also writes an int 0 through argument 5; LONG writes 8 bytes
//   TEXT(cusparseGetErrorString)              returns an error text
//   DATA(nvshmem_selected_device_transport)   defines a variable that is 0
//
// Arguments are counted from 0. Only arguments in integer registers or on the stack count. Float, double and
// complex arguments do not count, because they are in vector registers (System V ABI for x86-64, section
// 3.2.3).
//
// A stub writes every argument of type int*, size_t* or int64_t* that is not const.
// scripts/refresh_simulated_stubs.py creates the tables from wheels and public headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated {

using Word = uint64_t;
inline constexpr int kMostWords = 24;

// Every handle that a stub returns points to this memory.
inline Word handle_target[64];

template <typename Value>
void WriteThrough(Word pointer, Value value) {
  if (pointer != 0) std::memcpy(reinterpret_cast<void*>(pointer), &value, sizeof(value));
}

}  // namespace vramscope::simulated

#define SIMULATED_WORDS                                                                                   \
  Word a0, Word a1, Word a2, Word a3, Word a4, Word a5, Word a6, Word a7, Word a8, Word a9, Word a10,     \
      Word a11, Word a12, Word a13, Word a14, Word a15, Word a16, Word a17, Word a18, Word a19, Word a20, \
      Word a21, Word a22, Word a23

#define HANDLE(n) WriteThrough<void*>(a##n, handle_target)
#define INT(n) WriteThrough<int32_t>(a##n, 0)
#define LONG(n) WriteThrough<int64_t>(a##n, 0)

#define STUB_CALLED(name, ...)                 \
  SIMULATED_EXPORT int name(SIMULATED_WORDS) { \
    __VA_ARGS__;                               \
    return 0;                                  \
  }
#define STUB(name, ...) STUB_CALLED(name, __VA_ARGS__)
#define TEXT(name) \
  SIMULATED_EXPORT const char* name() { return "an error of the simulated device"; }
#define DATA(name)                \
  SIMULATED_EXPORT Word name[16]; \
  Word name[16] = {};
