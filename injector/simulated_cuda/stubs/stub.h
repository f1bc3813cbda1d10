// SPDX-License-Identifier: Apache-2.0
// The macros of the tables in this folder. A library is a table plus hand-written functions.
//
//   STUB(cublasSgemm_v2)                      returns success
//   STUB(cublasCreate_v2, HANDLE(0))          also writes a handle through argument 0
//   STUB(cusolverDnSgetrf_bufferSize, INT(5)) also writes 0 through argument 5: an int; LONG: 8 bytes
//   TEXT(cusparseGetErrorString)              returns a sentence
//   DATA(nvshmem_selected_device_transport)   is a variable, 0
//
// Arguments are those in integer registers or on the stack. Float, double and complex arguments are in vector
// registers and do not count (System V ABI for x86-64, section 3.2.3). Every non-const int*, size_t* and
// int64_t* is written. scripts/refresh_simulated_stubs.py creates the tables from wheels and public headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated {

using Word = uint64_t;
inline constexpr int kMostWords = 24;

// Handles point to this memory.
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
