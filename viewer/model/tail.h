// SPDX-License-Identifier: Apache-2.0
// Decides when to read a growing file again.
//
// Checking a size takes a microsecond; reading ten million events takes seconds. The size is checked twice a
// second. A file that has grown is read again after a second at the earliest. Reading takes at most a third
// of the time.
#pragma once

#include <cstdint>

namespace vramscope::viewer {

class Tail {
 public:
  // The file was read: `bytes` bytes in `took` seconds. `finished`: its writer has closed it. Seconds of any
  // monotonic clock.
  void Loaded(double now, uint64_t bytes, double took, bool finished);
  // True if the size should be checked. Never for a finished or unread file.
  [[nodiscard]] bool ShouldLook(double now) const { return follow_ && now >= next_look_; }
  // Reports the checked size; true: read it again.
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
