// SPDX-License-Identifier: Apache-2.0
// Functions of the simulated libcuda.so.1 for our other libraries, not part of CUDA. Found by dlsym or
// cuGetProcAddress, without linking.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/group_calls.h"
#include "injector/simulated_cuda/device/messages.h"

extern "C" {
// The runtime calls this when the program has called `call` (a literal) from `caller`; nullptr = that call is
// over. Per thread.
void vramscope_simulated_origin(const char* call, const void* caller);
// Call when a framework reuses this block: makes it read as zeros. Returns 0 if it is not a simulated
// device's memory.
int vramscope_simulated_clear(void* block, size_t bytes);
// Writes a kernel's result to device memory, at once. Returns 0 or a CUDA error.
int vramscope_simulated_write(void* to, const void* from, size_t bytes);
// Call when the host itself has written to these bytes: they are cleared when the block is reused.
void vramscope_simulated_written(void* to, size_t bytes);
// Sets the number of elements for the thread's next data-dependent operator (host_reads.h); -1 = not known.
// The second function stores the number in *count and forgets it. Returns 0, or a CUDA error if not known.
void vramscope_simulated_count(int64_t count);
int vramscope_simulated_take_count(int64_t* count);
// The number of the machine's devices, hidden ones included. Stores their product name and bytes. In the next
// two functions, `device` counts hidden ones too.
int vramscope_simulated_machine(const char** product, size_t* capacity);
// Bytes that all processes have taken, contexts included.
size_t vramscope_simulated_used_bytes(int device);
// Stores at most `most` processes with memory of the device, and their bytes. Returns their number.
size_t vramscope_simulated_processes(int device, unsigned* pids, size_t* bytes, size_t most);
// For NCCL: returns whether the user has set a communicator's bytes, and stores the value.
int vramscope_simulated_nccl(uint64_t* bytes);
// Announces a function's code. `bytes`: its size. `owner`: an address in its library. A device loads it at
// the first launch or query there, or by cuFuncLoad. `call` (a literal): its name in the ledger; nullptr: in
// blocks shared by all code of the process. The last announcement counts.
void vramscope_simulated_code(const void* function, const char* call, size_t bytes, const void* owner);
// Announces to the other ranks that this rank joins a communicator, or splits it.
void vramscope_simulated_group_call(const vramscope::simulated::GroupCall* call);
// Size of the group that the call splits off a communicator of `parent_ranks`, and this rank's number. Waits
// for all. 0 = no other ranks, or they did not come.
int vramscope_simulated_group_place(const vramscope::simulated::GroupCall* call, int parent_ranks, int* ranks,
                                    int* rank);
// Sends a small value to other ranks (device/messages.h). 0 if it cannot be sent, or there are no other
// ranks. The second function waits, and returns the bytes written, at most `capacity`, or -1.
int vramscope_simulated_tell(const vramscope::simulated::MessageKey* key, const void* bytes, size_t count);
int64_t vramscope_simulated_told(const vramscope::simulated::MessageKey* key, void* bytes, size_t capacity);
// For dry runs of a single rank: sets the size of the group that ncclCommSplit creates for this color (-1:
// any color). The second function returns this size; 0 = not set.
void vramscope_simulated_split(int color, int ranks);
int vramscope_simulated_split_size(int color);
// The ledger of all devices as JSON. Returns the bytes needed with the final 0. Writes at most `capacity`.
size_t vramscope_simulated_ledger(char* text, size_t capacity);
}
