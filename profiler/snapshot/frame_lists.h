// SPDX-License-Identifier: Apache-2.0
// Reads a list of stack frames in one operation, without decoding each reference. Such references to known
// frames are nine tenths of the bytes of a pickled snapshot.
//
//   ]           \x94     (     h 05    h 09    j 12 01 00 00 ...    e
//   EMPTY_LIST  MEMOIZE  MARK  BINGET  BINGET  LONG_BINGET   ...    APPENDS
//               └── the same bytes mean the same frames: a memo entry never changes ──┘
//
// Training steps repeat, and so does the order of the lists. A cursor predicts the next list from that order,
// and usually one comparison of 100 bytes is enough. On a file with a million events, 98 of 100 lists are
// predicted, and 33 million opcodes are not decoded.
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
    const uint8_t* next;  // first byte that was not read
    bool taken = false;   // true if a list of known frames was read; false if nothing was read
    bool ok = true;       // false: see Objects::problem()
  };
  // Reads the bytes after EMPTY_LIST, which start at `p`.
  Answer Read(const uint8_t* p, const uint8_t* end);

 private:
  static constexpr size_t kMaxBytes = size_t{8} << 20;  // bytes kept for comparison
  static constexpr size_t kMaxRuns = size_t{1} << 17;
  static constexpr size_t kMaxOrder = size_t{1} << 20;  // number of lists whose order is stored
  static constexpr uint32_t kNone = 0xffffffff;
  // The bytes of one list. A list has several encodings if equal frames were written twice.
  struct Run {
    uint32_t begin = 0;  // into bytes_
    uint32_t length = 0;
    StackId stack = 0;
    uint32_t last = kNone;  // index of its latest occurrence in order_
  };

  // Returns the predicted run if its bytes and APPENDS are at `p`; otherwise kNone.
  [[nodiscard]] uint32_t Expected(const uint8_t* p, const uint8_t* end) const;
  // Returns the position of APPENDS after the references at `p`; nullptr if there are other opcodes before
  // it.
  [[nodiscard]] static const uint8_t* EndOf(const uint8_t* p, const uint8_t* end);
  // Returns the run with these bytes. Returns kNone if some references are not frames, or if a new run cannot
  // be stored.
  [[nodiscard]] uint32_t RunOf(std::string_view bytes);
  bool Decode(std::string_view bytes);
  void Note(uint32_t run);
  void GrowSlots();

  Objects& objects_;
  std::vector<Run> runs_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(1024, kNone);  // into runs_, by the hash of the bytes
  std::string bytes_;
  std::vector<FrameId> frames_;
  std::vector<uint32_t> order_;  // runs, in the order of the lists
  size_t expected_ = kNone;      // index in order_ of the predicted list
};

}  // namespace vramscope::snapshot
