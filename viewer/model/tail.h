// SPDX-License-Identifier: Apache-2.0
// When to read a file again that is still being written.
//
// Why a policy of its own: a look at the size costs a microsecond and reading ten million events costs
// seconds, so the size is looked at twice a second, and what has grown is read again after a second at the
// earliest and never more than a third of the time.
#pragma once

#include <cstdint>

namespace vramscope::viewer {

class Tail {
 public:
  // The file was read: `bytes` of it, which took so long. `finished`: its writer has closed it.
  // Times are seconds of any clock that goes on evenly.
  void Loaded(double now, uint64_t bytes, double took, bool finished);
  // Whether the size is worth a look. A file that is finished, or that was never read, is not.
  [[nodiscard]] bool ShouldLook(double now) const { return follow_ && now >= next_look_; }
  // What the look has found; true: read it again.
  [[nodiscard]] bool Grown(double now, uint64_t bytes);
  // It has grown lately and is not finished.
  [[nodiscard]] bool live(double now) const;

 private:
  bool follow_ = false;
  bool has_grown_ = false;
  uint64_t loaded_bytes_ = 0;
  uint64_t seen_bytes_ = 0;
  double next_look_ = 0;
  double next_read_ = 0;
  double last_growth_ = 0;
};

}  // namespace vramscope::viewer
