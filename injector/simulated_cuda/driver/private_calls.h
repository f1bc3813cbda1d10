// SPDX-License-Identifier: Apache-2.0
// Functions of the simulated libcuda.so.1 that are not part of CUDA. The other simulated libraries find them
// with dlsym or cuGetProcAddress, without linking.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/group_calls.h"
#include "injector/simulated_cuda/device/messages.h"

extern "C" {
// Sets the origin of this thread's next allocations: the function `call` (a string literal) that the program
// called from the address `caller`. The runtime passes nullptr when that function ends.
void vramscope_simulated_origin(const char* call, const void* caller);
// Makes a block read as zeros. Call when a framework reuses the block. Returns 0 if the block is not in
// simulated device memory, otherwise 1.
int vramscope_simulated_clear(void* block, size_t bytes);
// Writes the result of a kernel to device memory, without waiting for streams. Returns 0 or a CUDA error.
int vramscope_simulated_write(void* to, const void* from, size_t bytes);
// Marks bytes that the host has written itself, so that they are cleared when the block is reused.
void vramscope_simulated_written(void* to, size_t bytes);
// Sets the number of result elements for the thread's next data-dependent operator (host_reads.h); -1 =
// unknown. The second function stores the number in *count and resets it to -1. It returns 0, or a CUDA error
// if the number is unknown.
void vramscope_simulated_count(int64_t count);
int vramscope_simulated_take_count(int64_t* count);
// Returns the number of devices in the machine, including those that CUDA_VISIBLE_DEVICES hides. Stores their
// product name and bytes. In the next two functions, `device` also counts hidden devices.
int vramscope_simulated_machine(const char** product, size_t* capacity);
// Returns the bytes that all processes have taken from the device, including contexts.
size_t vramscope_simulated_used_bytes(int device);
// Stores the pids of at most `most` processes that hold memory of the device, and their bytes. Returns the
// number of stored processes.
size_t vramscope_simulated_processes(int device, unsigned* pids, size_t* bytes, size_t most);
// For NCCL: stores the bytes that the user has set for a communicator. Returns 0 if the user has not set
// them.
int vramscope_simulated_nccl(uint64_t* bytes);
// Announces the code of a kernel: its `bytes`, and `owner`, an address in its library. A device loads the
// code at the first launch or query on this device, or by cuFuncLoad. `call` (a string literal) is the code's
// name in the ledger. If `call` is nullptr, the code lies in blocks that all code of the process shares. A
// later announcement of the same function replaces an earlier one until the code is loaded.
void vramscope_simulated_code(const void* function, const char* call, size_t bytes, const void* owner);
// Announces to the other ranks that this rank joins a communicator, or calls ncclCommSplit on it.
void vramscope_simulated_group_call(const vramscope::simulated::GroupCall* call);
// Stores the size of the group that the call splits off a communicator of `parent_ranks` ranks, and this
// rank's number in the group. Waits for all ranks of the parent. Returns 0 if there are no other ranks, or
// not all of them came in time.
int vramscope_simulated_group_place(const vramscope::simulated::GroupCall* call, int parent_ranks, int* ranks,
                                    int* rank);
// Sends a small value to other ranks (device/messages.h). Returns 0 if there are no other ranks, or the value
// cannot be sent. The second function waits for such a value, and copies at most `capacity` bytes. It returns
// the number of copied bytes, or -1 if no value came.
int vramscope_simulated_tell(const vramscope::simulated::MessageKey* key, const void* bytes, size_t count);
int64_t vramscope_simulated_told(const vramscope::simulated::MessageKey* key, void* bytes, size_t capacity);
// For dry runs of a single rank: sets the size of the group that ncclCommSplit creates for this color. Color
// -1: the size for any color. The second function returns the size; 0 = not set.
void vramscope_simulated_split(int color, int ranks);
int vramscope_simulated_split_size(int color);
// Writes the ledger of all devices as JSON, at most `capacity` bytes. Returns the bytes needed, including the
// final 0.
size_t vramscope_simulated_ledger(char* text, size_t capacity);
}
