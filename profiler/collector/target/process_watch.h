// SPDX-License-Identifier: Apache-2.0
// Tells when a process has ended, also one that is not our child and whose pid is used again.
#pragma once

#include <cstdint>

namespace vramscope::collector {

class ProcessWatch {
 public:
  // 0 = a process that is not seen any more (PidHere).
  explicit ProcessWatch(uint32_t pid);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;

  // A zombie has ended too. Where the kernel gives no pidfd, a process counts as running as long as its pid
  // is taken.
  [[nodiscard]] bool HasEnded() const;
  // Readable when it has ended; -1 when there is nothing to poll.
  [[nodiscard]] int descriptor() const { return pidfd_; }

 private:
  uint32_t pid_;
  int pidfd_;
};

}  // namespace vramscope::collector
