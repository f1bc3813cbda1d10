// SPDX-License-Identifier: Apache-2.0
// Detects the end of a process. The detection works even if the process is not a child of this process, or if
// its pid is reused later.
#pragma once

#include <cstdint>
#include <optional>

namespace vramscope::collector {

class ProcessWatch {
 public:
  // `pid` 0 stands for a process that this process cannot see (PidHere); such a process counts as ended.
  explicit ProcessWatch(uint32_t pid);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;

  // True if the process has ended; a zombie counts as ended. If the kernel has no pidfd, a process counts as
  // running while any process has its pid.
  [[nodiscard]] bool HasEnded() const;
  // Returns the exit status as waitpid reports it. Call this only after HasEnded returned true. Before Linux
  // 6.15, returns nothing if the parent has already waited for the process. `start_ticks` is the start time
  // of the process. The start time is needed to notice that another process has the same pid.
  [[nodiscard]] std::optional<int32_t> ExitStatus(uint64_t start_ticks) const;
  // A descriptor that becomes readable when the process ends; -1 if there is none.
  [[nodiscard]] int descriptor() const { return pidfd_; }

 private:
  uint32_t pid_;
  int pidfd_;
};

}  // namespace vramscope::collector
