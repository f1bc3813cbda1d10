// SPDX-License-Identifier: Apache-2.0
// A block: one allocation of a framework allocator, from its birth to its end. 48 bytes, because a long run
// has millions of them.
//
// What few blocks have (labels, saved references) stands in BlockFacts, found through `facts`; what many
// blocks share (stack, context of the birth) stands in interned tables.
#pragma once

#include <cstdint>

#include "profiler/model/ids.h"
#include "trace_format/event.h"

namespace vramscope::model {

struct Block {
  static constexpr uint32_t kUnknownSlack = 0xffffffff;

  uint64_t address = 0;
  uint64_t size = 0;  // bytes that the allocator counts for it
  EventIndex alloc_event = 0;
  EventIndex free_event = kNever;  // kNever: alive at the end of the trace
  ThreadIndex thread = 0;          // that allocated it
  ContextId context = 0;           // ops and modules open at the birth (deep steps)
  uint32_t stack = 0;              // trace::StackId of the birth
  uint32_t facts = kNone;          // into Run::facts
  uint32_t slack = kUnknownSlack;  // size minus the bytes asked for
  uint16_t device_code = 0;        // trace::DeviceCode
  uint16_t stream = 0;             // into Run::streams

  // Alive in the state after event `at`.
  [[nodiscard]] bool AliveAfter(EventIndex at) const { return alloc_event <= at && at < free_event; }
  // Bytes that were asked for; where that is unknown, its size.
  [[nodiscard]] uint64_t Requested() const { return slack == kUnknownSlack ? size : size - slack; }
};
static_assert(sizeof(Block) == 48);

// What only some blocks have.
struct BlockFacts {
  BlockId block = 0;
  uint32_t first_label = kNone;  // into Run::labels; the next one of the block follows by Label::next
  uint32_t last_label = kNone;
  EventIndex first_saved = kNever;  // autograd took the first reference for backward
  EventIndex released = kNever;     // it let go of the last one; kNever while it holds one
  uint32_t saved_now = 0;           // references that it holds at the end of the trace
};

// A storage plays a role: the facts of one kLabel event, said once per (block, role, name, tensor).
struct Label {
  BlockId block = 0;
  EventIndex event = 0;
  trace::Role role{};
  trace::LabelSource source{};
  uint32_t name = 0;      // trace::StringId
  uint32_t next = kNone;  // the block's next label
  uint64_t tensor = 0;    // TensorImpl; 0 = not known
};

}  // namespace vramscope::model
