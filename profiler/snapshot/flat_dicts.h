// SPDX-License-Identifier: Apache-2.0
// A fast path of the pickle reader: reads a whole dict of plain values at once, such as an event. Plain
// values are numbers, texts that the memo contains, and one list of frames.
//
//   }           \x94     (     h 05 h 10  h 07 8a 06 ...  h 0b [frames]   u
//   EMPTY_DICT  MEMOIZE  MARK  (key value)...                             SETITEMS
//
// The pickle machine (objects.h) would push each value on its stack. At an unexpected opcode, this class
// pushes the dict, the mark and the values that it has read. The pickle machine then continues.
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
    const uint8_t* next;  // where the pickle machine continues
    bool ok = true;       // false = the input is invalid; Objects::problem() has the reason
  };
  // Reads a dict whose EMPTY_DICT ends at `p`. Afterwards the event, or a dict that is not complete, is on
  // the stack.
  Answer Read(const uint8_t* p, const uint8_t* end);

 private:
  enum class Step : uint8_t { kTaken, kNotTaken, kFailed };

  Step ReadValue(const uint8_t*& p, const uint8_t* end);
  Step ReadList(const uint8_t*& p, const uint8_t* end);
  Step Add(Value value);

  Objects& objects_;
  FrameLists& lists_;
  std::array<Value, 32> values_;  // keys and values in turn; an event has nine keys and nine values
  size_t count_ = 0;
};

}  // namespace vramscope::snapshot
