// SPDX-License-Identifier: Apache-2.0
// Functions of the simulated libcuda.so.1 that are not part of CUDA: our other libraries call them. They are
// found by dlsym or cuGetProcAddress, so that nothing has to be linked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/group_calls.h"
#include "injector/simulated_cuda/device/messages.h"

extern "C" {
// From the runtime: the program has called `call` (a literal) from `caller`; nullptr when that call is over.
// For the calling thread.
void vramscope_simulated_origin(const char* call, const void* caller);
// A framework reuses this block: it reads as zeros from now on. Returns 0 if it is not memory of a simulated
// device.
int vramscope_simulated_clear(void* block, size_t bytes);
// Writes a kernel's result to device memory, at once and without a step of the clock. Returns 0 or a CUDA
// error.
int vramscope_simulated_write(void* to, const void* from, size_t bytes);
// The host has written to these bytes of device memory itself. They are cleared when the block is reused.
void vramscope_simulated_written(void* to, size_t bytes);
// Sets the number of elements that the calling thread's next data-dependent operator finds (host_reads.h); -1
// = not known. The second function stores that number in *count and clears it; it returns 0, or a CUDA error
// if the number is not known.
void vramscope_simulated_count(int64_t count);
int vramscope_simulated_take_count(int64_t* count);
// Returns the number of devices of the machine, including those that CUDA_VISIBLE_DEVICES hides. Stores their
// product name, and the bytes of each. The next two functions use the machine's device numbers.
int vramscope_simulated_machine(const char** product, size_t* capacity);
// Bytes that all processes of the run have taken from the device, contexts included.
size_t vramscope_simulated_used_bytes(int device);
// Stores the processes that have taken memory of the device, and the bytes of each, at most `most`. Returns
// how many.
size_t vramscope_simulated_processes(int device, unsigned* pids, size_t* bytes, size_t most);
// For NCCL: whether the user has set what a communicator takes, and the value.
int vramscope_simulated_nccl(uint64_t* bytes);
// Announces the code of this function. `bytes`: the size of the code. `owner`: any address inside the library
// that contains it. A device loads the code at the function's first launch there, or at the first query about
// it; cuFuncLoad loads it without a launch. With a `call` (a literal), the ledger lists it under that name;
// with nullptr, it goes into blocks that all code of the process shares. The last announcement before the
// loading counts.
void vramscope_simulated_code(const void* function, const char* call, size_t bytes, const void* owner);
// Announces to the other ranks that this rank joins a communicator, or splits it.
void vramscope_simulated_group_call(const vramscope::simulated::GroupCall* call);
// The size of the group that the call splits off a communicator of `parent_ranks`, and this rank's number in
// it. Waits until all have called. 0 = there are no other ranks, or they did not come.
int vramscope_simulated_group_place(const vramscope::simulated::GroupCall* call, int parent_ranks, int* ranks,
                                    int* rank);
// Small values that ranks really send each other (device/messages.h). Returns 0 if there are no other ranks,
// or if it cannot be sent. The second function waits; it returns the number of bytes written, at most
// `capacity`, or -1.
int vramscope_simulated_tell(const vramscope::simulated::MessageKey* key, const void* bytes, size_t count);
int64_t vramscope_simulated_told(const vramscope::simulated::MessageKey* key, void* bytes, size_t capacity);
// For dry runs of a single rank: sets the size of the group that ncclCommSplit creates for this color. Color
// -1 sets the size for any color. The second function returns the size for a color; 0 = not set.
void vramscope_simulated_split(int color, int ranks);
int vramscope_simulated_split_size(int color);
// The ledger of all devices as JSON. Returns the bytes needed including the final 0; writes at most
// `capacity`.
size_t vramscope_simulated_ledger(char* text, size_t capacity);
}
