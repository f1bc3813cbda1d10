// SPDX-License-Identifier: Apache-2.0
// Reads a dict of plain values at once, such as an event: numbers, known texts and one list of frames.
//
//   }           \x94     (     h 05 h 10  h 07 8a 06 ...  h 0b [frames]   u
//   EMPTY_DICT  MEMOIZE  MARK  (key value)...                             SETITEMS
//
// The pickle machine would move each value through its stack. At an unexpected opcode, the machine takes over
// with the dict, the mark and the values so far.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "profiler/snapshot/frame_lists.h"
#include "profiler/snapshot/objects.h"

namespace vramscope::snapshot {

class FlatDicts {
 public:
  FlatDicts(Objects* objects, FrameLists* lists) : objects_(*objects), lists_(*lists) {}

  struct Answer {
    const uint8_t* next;  // where the machine continues
    bool ok = true;       // false: see Objects::problem()
  };
  // Reads what follows EMPTY_DICT at `p`. Afterwards the dict, or its record, is on the stack.
  Answer Read(const uint8_t* p, const uint8_t* end);

 private:
  enum class Step : uint8_t { kTaken, kNotTaken, kFailed };

  Step ReadValue(const uint8_t*& p, const uint8_t* end);
  Step ReadList(const uint8_t*& p, const uint8_t* end);
  Step Add(Value value);

  Objects& objects_;
  FrameLists& lists_;
  std::array<Value, 32> values_;  // alternating keys and values; an event has nine of each
  size_t count_ = 0;
};

}  // namespace vramscope::snapshot
