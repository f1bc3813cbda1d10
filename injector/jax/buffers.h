// SPDX-License-Identifier: Apache-2.0
// Tracks the device buffers of JAX's CUDA plug-in, and records their allocations, frees and labels.
//
// A buffer object can outlive its memory. When an array is donated or deleted, it loses its memory, but the
// buffer object stays until Python releases it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

struct Block {
  uint64_t address;  // 0 if the buffer has no memory of its own, such as a view
  uint64_t bytes;    // as requested, before rounding
  uint32_t name;     // interned name of its last label; 0 = no label
  uint16_t device;   // device code of the trace
  uint16_t role;     // trace::Role of its last label; 0 = no label
  uint32_t serial;   // 1-based number of the buffer; set by AddBuffer
  uint32_t update;   // number of parameter updates before its allocation; set by AddBuffer
  uint32_t state;    // name for an optimizer-state label, if computed from a gradient; else 0
};

// XLA's allocator rounds up to a multiple of 256 (kMinAllocationSize in tsl/framework).
constexpr uint64_t Rounded(uint64_t bytes) { return (bytes + 255) & ~uint64_t{255}; }

// Asks the plug-in for the buffer's address, size and device. False if the buffer has no device memory.
bool Locate(Buffer* buffer, Block* block);

// Records the allocation and remembers the buffer. `stack` is a stack id of the trace, 0 = unknown.
void AddBuffer(Buffer* buffer, const Block& block, uint32_t stack);
// Adds a buffer that was created before the recorder was attached. False if the buffer is already known.
bool AddIfUnknown(Buffer* buffer);
// Stores the buffer's data in `block`. False if the buffer is unknown or has no memory.
bool FindBuffer(const Buffer* buffer, Block* block);
// Stores the buffer's data in `block` and marks the buffer as having no memory. False if it had none. Records
// no event.
bool TakeMemory(const Buffer* buffer, Block* block);
void RecordFree(const Block& block);
// Records a label, unless the buffer already has the same role and name.
void LabelBuffer(const Buffer* buffer, uint16_t role, uint32_t name, uint32_t state = 0);
// Sets Block::state. Call this if the buffer was computed from a gradient, so that it may be optimizer state.
void NoteState(const Buffer* buffer, uint32_t state);
// True if any buffer has been labeled as a gradient.
bool AnyGradient();
// Increments UpdatesSoFar(). Call this after a parameter update.
void NextUpdate();
uint32_t UpdatesSoFar();

uint16_t DeviceCodeOf(Device* device);

}  // namespace vramscope::injector::jax
