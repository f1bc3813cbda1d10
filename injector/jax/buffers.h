// SPDX-License-Identifier: Apache-2.0
// The buffers of JAX's plug-in in device memory: addresses and events.
//
// A buffer object outlives its memory. A donated or deleted array loses the memory, but the object stays
// until Python releases it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

struct Block {
  uint64_t address;  // 0: no device memory of the allocator, such as a view
  uint64_t bytes;    // requested
  uint32_t name;     // of its last label; 0 = none
  uint16_t device;   // as in the trace
  uint16_t role;     // trace::Role of its last label
  uint32_t serial;   // 1-based number of the buffer; set by AddBuffer
  uint32_t update;   // parameter updates before it began; set by AddBuffer
  uint32_t state;    // if computed from a gradient: interned name of its optimizer state; else 0
};

// XLA's allocator rounds up to a multiple of 256 (kMinAllocationSize in tsl/framework).
constexpr uint64_t Rounded(uint64_t bytes) { return (bytes + 255) & ~uint64_t{255}; }

// Asks the plug-in where the buffer is. False without device memory.
bool Locate(Buffer* buffer, Block* block);

// Records the allocation and remembers the buffer. `stack`: as in the trace, 0 = unknown.
void AddBuffer(Buffer* buffer, const Block& block, uint32_t stack);
// Adds a buffer whose creation was not seen (before attach). False if already known.
bool AddIfUnknown(Buffer* buffer);
// False if unknown or without memory.
bool FindBuffer(const Buffer* buffer, Block* block);
// Marks the buffer as without memory, and stores its former block. False if it had none. Records nothing.
bool TakeMemory(const Buffer* buffer, Block* block);
void RecordFree(const Block& block);
// Records a label, unless the block already has it.
void LabelBuffer(const Buffer* buffer, uint16_t role, uint32_t name, uint32_t state = 0);
// Call if the buffer was computed from a gradient: sets Block::state.
void NoteState(const Buffer* buffer, uint32_t state);
// True if any label was a gradient.
bool AnyGradient();
// Call after an update: blocks that begin from now on belong to the next one.
void NextUpdate();
uint32_t UpdatesSoFar();

uint16_t DeviceCodeOf(Device* device);

}  // namespace vramscope::injector::jax
