// SPDX-License-Identifier: Apache-2.0
// Copies stacks from a trace to a snapshot. The snapshot stores each frame as function, file and line,
// innermost first.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

class StackCopies {
 public:
  // `source` and `into` must outlive this object.
  StackCopies(const model::Source& source, Snapshot* into) : source_(source), out_(*into) {}
  [[nodiscard]] StackId Of(uint64_t stack);  // `stack`: id of a stack in the source

 private:
  FrameId FrameOf(std::string_view text);

  const model::Source& source_;
  Snapshot& out_;
  std::unordered_map<uint64_t, StackId> known_;
};

}  // namespace vramscope::snapshot
