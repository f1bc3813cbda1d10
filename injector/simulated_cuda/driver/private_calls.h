// SPDX-License-Identifier: Apache-2.0
// What our own libraries tell and ask libcuda.so.1 beyond CUDA. Found by dlsym or cuGetProcAddress, so that
// nothing has to be linked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/group_calls.h"
#include "injector/simulated_cuda/device/messages.h"

extern "C" {
// The runtime: the program has called `call` (a literal) from `caller`; nullptr when that call is over. For
// the calling thread.
void vramscope_simulated_origin(const char* call, const void* caller);
// A framework hands out this block anew: it reads as zeros from now on. Returns 0 when it is no memory of a
// simulated device.
int vramscope_simulated_clear(void* block, size_t bytes);
// What a kernel leaves in device memory, at once and without a step of the clock. 0 or an error of CUDA.
int vramscope_simulated_write(void* to, const void* from, size_t bytes);
// The host has written to these bytes of device memory itself: they are cleared when they are handed out
// anew.
void vramscope_simulated_written(void* to, size_t bytes);
// How many elements the calling thread's next question about data finds (host_reads.h); -1 = not known. The
// second takes the answer; it returns 0 when there is one.
void vramscope_simulated_count(int64_t count);
int vramscope_simulated_take_count(int64_t* count);
// The devices of the machine, also those that CUDA_VISIBLE_DEVICES hides: how many, what they are called, and
// the bytes of each. The next two functions know them by the machine's numbers.
int vramscope_simulated_machine(const char** product, size_t* capacity);
// Bytes that all processes of the run have taken from the device, contexts included.
size_t vramscope_simulated_used_bytes(int device);
// Those processes and what each has taken, `most` at most. Returns how many.
size_t vramscope_simulated_processes(int device, unsigned* pids, size_t* bytes, size_t most);
// NCCL: whether the user has said what a communicator takes, and what.
int vramscope_simulated_nccl(uint64_t* bytes);
// The code of this function is so large, and of the library that `owner` is an address in. A device loads it
// at the function's first launch there, or at the first question about it; cuFuncLoad does nothing else. With
// a `call` (a literal) the ledger has it under that name; with nullptr in blocks that all code of the process
// shares. What is said last before that holds.
void vramscope_simulated_code(const void* function, const char* call, size_t bytes, const void* owner);
// This rank joins a communicator, or splits it. The others see it.
void vramscope_simulated_group_call(const vramscope::simulated::GroupCall* call);
// How many ranks are in the group that the call makes of one of `parent_ranks`, and which of them this is;
// waits until all have called. 0 = there are no others, or they did not come.
int vramscope_simulated_group_place(const vramscope::simulated::GroupCall* call, int parent_ranks, int* ranks,
                                    int* rank);
// Small values that ranks really tell each other (device/messages.h). Returns 0 where there are no others, or
// it cannot be told. The second waits; it returns how many bytes it has written, at most `capacity`, or -1.
int vramscope_simulated_tell(const vramscope::simulated::MessageKey* key, const void* bytes, size_t count);
int64_t vramscope_simulated_told(const vramscope::simulated::MessageKey* key, void* bytes, size_t capacity);
// For a rank alone. A process group of so many ranks is split off by this color, or, with color -1, by the
// next ncclCommSplit; what was told of a color, 0 = nothing.
void vramscope_simulated_split(int color, int ranks);
int vramscope_simulated_split_size(int color);
// The ledger of all devices as JSON. Returns the bytes needed with the final 0; writes no more than
// `capacity`.
size_t vramscope_simulated_ledger(char* text, size_t capacity);
}
