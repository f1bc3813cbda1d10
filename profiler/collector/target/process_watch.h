// SPDX-License-Identifier: Apache-2.0
// Reports when a process has ended, even if it is not our child or its pid was reused.
#pragma once

#include <cstdint>
#include <optional>

namespace vramscope::collector {

class ProcessWatch {
 public:
  // `pid` 0 = a process that can no longer be seen (PidHere).
  explicit ProcessWatch(uint32_t pid);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;

  // A zombie counts as ended. Without pidfd, a process counts as running as long as its pid is in use.
  [[nodiscard]] bool HasEnded() const;
  // The exit status, as waitpid reports it. Only after HasEnded. Before Linux 6.15: nothing if the parent has
  // already waited for the process. `start_ticks`: identifies the process if its pid was reused.
  [[nodiscard]] std::optional<int32_t> ExitStatus(uint64_t start_ticks) const;
  // Readable when the process has ended; -1 if there is nothing to poll.
  [[nodiscard]] int descriptor() const { return pidfd_; }

 private:
  uint32_t pid_;
  int pidfd_;
};

}  // namespace vramscope::collector
