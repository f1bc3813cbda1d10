// SPDX-License-Identifier: Apache-2.0
// The buffers of JAX's plug-in that hold device memory: their addresses and events.
//
// A buffer object outlives its memory: an array that is donated to an execution, or deleted, loses its
// memory, but its object remains until Python releases it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

struct Block {
  uint64_t address;  // 0: no device memory of the allocator, such as a view of another library's memory
  uint64_t bytes;    // requested
  uint32_t name;     // of its last label; 0 = none
  uint16_t device;   // as in the trace
  uint16_t role;     // trace::Role of its last label
  uint32_t serial;   // 1-based number of the buffer; set by AddBuffer
  uint32_t update;   // number of parameter updates before it began; set by AddBuffer
  uint32_t state;    // if computed from a gradient: interned name of the optimizer state made from it; else 0
};

// XLA's allocator rounds each request up to a multiple of 256 (kMinAllocationSize in tsl/framework).
constexpr uint64_t Rounded(uint64_t bytes) { return (bytes + 255) & ~uint64_t{255}; }

// Asks the plug-in where the buffer is. False if it has no device memory.
bool Locate(Buffer* buffer, Block* block);

// Records the allocation and remembers the buffer. `stack`: as in the trace, 0 = unknown.
void AddBuffer(Buffer* buffer, const Block& block, uint32_t stack);
// Adds a buffer whose creation was not seen, for example one from before attach. False if it is known
// already.
bool AddIfUnknown(Buffer* buffer);
// False if the buffer is unknown or no longer has memory.
bool FindBuffer(const Buffer* buffer, Block* block);
// Marks the buffer as without memory, and stores the block that it had. False if it had none. Records
// nothing.
bool TakeMemory(const Buffer* buffer, Block* block);
void RecordFree(const Block& block);
// Records a label, unless the block has it already.
void LabelBuffer(const Buffer* buffer, uint16_t role, uint32_t name, uint32_t state = 0);
// Notes that the buffer was computed from a gradient, and sets Block::state.
void NoteState(const Buffer* buffer, uint32_t state);
// True if any label so far was a gradient.
bool AnyGradient();
// Blocks that begin from now on belong to the next update.
void NextUpdate();
uint32_t UpdatesSoFar();

uint16_t DeviceCodeOf(Device* device);

}  // namespace vramscope::injector::jax
