// SPDX-License-Identifier: Apache-2.0
// Answers threads that only ask whether work is done, in the same order in each run.
//
// TensorFlow has such a thread for each GPU. It asks whether copies between host and device are done, and
// runs what waits for them. On a GPU, the host launches all that it can before such a copy is done. If chance
// decided the order, the peak would vary, by 16 % in a small model.
//
// So work counts as done once all other threads sleep in kRounds rounds of questions, without launches. One
// round is not enough: a thread may sleep only because the asking thread holds a lock. Work is done one piece
// at a time. Copies to the host come last. Otherwise the oldest is first.
//
//   ask E2 (time 5, to the host) ─► no    E1 comes first
//   ask E1 (time 9, a batch) ─► no        the executor runs
//   ask E1 ─► no, no, yes                 all sleep, in three rounds
//   ask E2 ─► no                          forward and backward are launched, which waited for E1
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

namespace vramscope::simulated {

inline constexpr int kRounds = 3;
// If another thread never sleeps, work counts as done after this CPU time without a launch.
inline constexpr uint64_t kPatienceForOthersNs = 200'000'000;
// Work that is no longer asked for holds others back for this many questions.
inline constexpr uint64_t kPatienceForFirst = 1'000;

// Work that a thread asks about, ordered as it is done.
struct AskedWork {
  bool downloads = false;  // a copy to the host
  uint64_t time = 0;       // on the clock of launches

  auto operator<=>(const AskedWork&) const = default;
};

class Pollers {
 public:
  // True if this work counts as done. `progress`: changes with each launch and recorded event. About 0.3 ms
  // with 60 threads. Not thread-safe.
  bool IsDone(const AskedWork& work, uint64_t progress);

 private:
  void BeginAnew(uint64_t progress);

  std::vector<pid_t> threads_;  // that ask
  std::set<AskedWork> asked_;   // not done yet
  uint64_t progress_ = 0;
  uint64_t cpu_ns_ = 0;  // of other threads, at the last progress
  uint64_t times_ = 0;   // questions since then
  int rounds_ = 0;       // in which all slept
};

}  // namespace vramscope::simulated
