// SPDX-License-Identifier: Apache-2.0
// A block: one allocation of a framework's allocator, from the allocation to the free. 48 bytes.
//
// BlockFacts contains data that only a few blocks have (labels, references saved by autograd). Data that many
// blocks share (stack, context) is in interned tables.
#pragma once

#include <cstdint>

#include "profiler/model/ids.h"
#include "trace_format/event.h"

namespace vramscope::model {

struct Block {
  static constexpr uint32_t kUnknownSlack = 0xffffffff;

  uint64_t address = 0;
  uint64_t size = 0;  // bytes of the block, including rounding
  EventIndex alloc_event = 0;
  EventIndex free_event = kNever;  // kNever: alive at the end of the trace
  ThreadIndex thread = 0;          // the thread that allocated it
  ContextId context = 0;           // operators and modules running at the allocation (deep steps only)
  uint32_t stack = 0;              // trace::StackId of the allocation
  uint32_t facts = kNone;          // index in Run::facts; kNone = no facts
  uint32_t slack = kUnknownSlack;  // size minus the requested bytes
  uint16_t device_code = 0;        // trace::DeviceCode
  uint16_t stream = 0;             // index in Run::streams

  // True if alive after event `at`.
  [[nodiscard]] bool AliveAfter(EventIndex at) const { return alloc_event <= at && at < free_event; }
  // Requested bytes, or `size` if they are unknown.
  [[nodiscard]] uint64_t Requested() const { return slack == kUnknownSlack ? size : size - slack; }
};
static_assert(sizeof(Block) == 48);

struct BlockFacts {
  BlockId block = 0;
  uint32_t first_label = kNone;  // index in Run::labels; Label::next is the next label of the same block
  uint32_t last_label = kNone;
  EventIndex first_saved = kNever;  // autograd took the first reference for backward
  EventIndex released = kNever;     // autograd released the last reference; kNever while it holds any
  uint32_t saved_now = 0;           // references that autograd holds at the end of the trace
};

// The role of a tensor's storage, from a kLabel event. If several events have the same block, role, name and
// tensor, there is only one Label.
struct Label {
  BlockId block = 0;
  EventIndex event = 0;
  trace::Role role{};
  trace::LabelSource source{};
  uint32_t name = 0;      // trace::StringId
  uint32_t next = kNone;  // the block's next label
  uint64_t tensor = 0;    // identifies the TensorImpl; 0 = unknown
};

}  // namespace vramscope::model
