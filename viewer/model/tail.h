// SPDX-License-Identifier: Apache-2.0
// Decides when the viewer reads a growing file again.
//
// Checking the file's size takes a microsecond, but reading ten million events takes seconds. So the size is
// checked twice a second. A file that has grown is read again, but at most once a second. Reading may take at
// most a third of the time.
#pragma once

#include <cstdint>

namespace vramscope::viewer {

class Tail {
 public:
  // Reports that the file was read at time `now`: `bytes` bytes in `took` seconds. `finished` = true: the
  // file's writer has closed it. Times are seconds of any monotonic clock.
  void Loaded(double now, uint64_t bytes, double took, bool finished);
  // True if the caller should check the file's size now. Always false for a file that is finished, or was not
  // read yet.
  [[nodiscard]] bool ShouldLook(double now) const { return follow_ && now >= next_look_; }
  // Reports the checked size. Returns true if the caller should read the file again.
  [[nodiscard]] bool Grown(double now, uint64_t bytes);
  // True if the file has grown recently and is not finished.
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
