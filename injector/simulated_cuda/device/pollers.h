// SPDX-License-Identifier: Apache-2.0
// Answers threads that only ask whether work is done, so that each run gets the same order.
//
// TensorFlow has such a thread for each GPU. It asks every few microseconds for the copies between host and
// device, and runs what waits for them: a condition, the next batch. On a GPU, the host launches all that it
// can before such a copy is done. Here the device takes no time. If the copy were done after a number of
// launches or of questions, chance would decide what runs first, and with it the peak: by 16 % in a small
// model.
//
// So work counts as done once all other threads of the process have come to rest: they sleep in kRounds
// rounds of questions, and launch nothing in between. More than one round, because a thread may sleep only
// for a lock that the asking thread holds. Of several pieces of work, one is done first, and the next one only
// after what waited for the first has come to rest too. Copies to the host come last: they wait for kernels,
// and a batch on its way to the device does not. Otherwise the oldest is first.
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
// A program may have a thread that always runs. Then work is done after this much CPU time without a launch.
// CPU time, because a thread may wait long for a core.
inline constexpr uint64_t kPatienceForOthersNs = 200'000'000;
// Work that is no longer asked for does not hold back what is asked for more often than this.
inline constexpr uint64_t kPatienceForFirst = 1'000;

// What a thread asks for, in the order in which it is done.
struct AskedWork {
  bool downloads = false;  // a copy to the host
  uint64_t time = 0;       // on the clock of launches

  auto operator<=>(const AskedWork&) const = default;
};

class Pollers {
 public:
  // Whether this work counts as done. `progress`: changes with each launch and each recorded event. About 0.3
  // ms with 60 threads, at once if `progress` has changed. Not thread-safe.
  bool IsDone(const AskedWork& work, uint64_t progress);

 private:
  void BeginAnew(uint64_t progress);

  std::vector<pid_t> threads_;  // that ask
  std::set<AskedWork> asked_;   // and is not done
  uint64_t progress_ = 0;
  uint64_t cpu_ns_ = 0;  // of other threads, at the last progress
  uint64_t times_ = 0;   // how often was asked since then
  int rounds_ = 0;       // in which all slept
};

}  // namespace vramscope::simulated
