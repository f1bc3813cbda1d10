// SPDX-License-Identifier: Apache-2.0
// Lists of stack frames, read at once: nine tenths of a pickle's bytes are references to frames that are
// known.
//
//   ]           \x94     (     h 05    h 09    j 12 01 00 00 ...    e
//   EMPTY_LIST  MEMOIZE  MARK  BINGET  BINGET  LONG_BINGET   ...    APPENDS
//               └── the same bytes mean the same frames: a memo entry never changes ──┘
//
// A training step allocates what the step before allocated, so the lists come in the order of a step ago: a
// cursor runs along beside them, and comparing 100 bytes is all that is done. Where it is wrong, the
// references are followed one by one, and the cursor goes to where this list was last. Measured on a million
// events: 33 million opcodes less, and 98 of 100 lists as expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/snapshot/objects.h"

namespace vramscope::snapshot {

class FrameLists {
 public:
  explicit FrameLists(Objects* objects) : objects_(*objects) {}

  struct Answer {
    const uint8_t* next;  // where reading goes on
    bool taken = false;   // a list of known frames was read; otherwise nothing has happened
    bool ok = true;       // false: see Objects::problem()
  };
  // What follows EMPTY_LIST at `p`.
  Answer Read(const uint8_t* p, const uint8_t* end);

 private:
  static constexpr size_t kMaxBytes = size_t{8} << 20;  // that are kept for comparing
  static constexpr size_t kMaxRuns = size_t{1} << 17;
  static constexpr size_t kMaxOrder = size_t{1} << 20;  // lists whose order is kept
  static constexpr uint32_t kNone = 0xffffffff;
  // One way to write a list. A list has several where frames are written that say the same.
  struct Run {
    uint32_t begin = 0;  // into bytes_
    uint32_t length = 0;
    StackId stack = 0;
    uint32_t last = kNone;  // where it stood last, in order_
  };

  // The run that is expected at `p`, followed by APPENDS; kNone if another one stands there.
  [[nodiscard]] uint32_t Expected(const uint8_t* p, const uint8_t* end) const;
  // The APPENDS behind the references at `p`; nullptr if something else stands among them.
  [[nodiscard]] static const uint8_t* EndOf(const uint8_t* p, const uint8_t* end);
  // The run of these bytes; kNone if they are new and cannot be kept or name no frames.
  [[nodiscard]] uint32_t RunOf(std::string_view bytes);
  bool Decode(std::string_view bytes);
  void Note(uint32_t run);
  void GrowSlots();

  Objects& objects_;
  std::vector<Run> runs_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(1024, kNone);  // into runs_, by the hash of the bytes
  std::string bytes_;
  std::vector<FrameId> frames_;
  std::vector<uint32_t> order_;  // runs, as the lists came
  size_t expected_ = kNone;      // into order_: the next list will be this one again
};

}  // namespace vramscope::snapshot
