// SPDX-License-Identifier: Apache-2.0
// Decides when polled work is done: work for which a thread calls cuEventQuery or cuStreamQuery. Used only
// for threads that launch nothing. The order in which work becomes done is the same in every run.
//
// TensorFlow has one polling thread for each GPU. The thread polls copies between host and device. When a
// copy is done, the thread runs the functions that wait for the copy. On a GPU, the host launches all
// possible kernels before a copy is done. With a random order, the peak would vary: by 16 % in a small model.
//
// Therefore work is done only after kRounds polls in a row during which all other threads sleep and nothing
// is launched. One poll is not enough: a thread may sleep only because the polling thread holds a lock. Each
// time, one piece of work becomes done: the oldest first, copies to the host last.
//
//   E1: copy of a batch to the device, time 9        E2: copy to the host, time 5
//
//   poll E2 ─► not done                      copies to the host are last: E1 must be done before E2
//   poll E1 ─► not done                      the executor thread runs
//   poll E1 ─► not done, not done, done      all other threads sleep in three polls
//   poll E2 ─► not done                      forward and backward waited for E1 and are launched now
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
// If the first work in the order is no longer polled, the other work waits for this many polls.
inline constexpr uint64_t kPatienceForFirst = 1'000;

// Work that a thread polls. The order is the order in which work becomes done.
struct AskedWork {
  bool downloads = false;  // a copy to the host
  uint64_t time = 0;       // on the simulated clock

  auto operator<=>(const AskedWork&) const = default;
};

class Pollers {
 public:
  // Returns true if this work is done. `progress` must change with each launch and each recorded event. Takes
  // about 0.3 ms with 60 threads. Not thread-safe.
  bool IsDone(const AskedWork& work, uint64_t progress);

 private:
  void BeginAnew(uint64_t progress);

  std::vector<pid_t> threads_;  // threads that poll
  std::set<AskedWork> asked_;   // polled and not done
  uint64_t progress_ = 0;
  uint64_t cpu_ns_ = 0;  // CPU time of other threads at the last BeginAnew()
  uint64_t times_ = 0;   // polls since BeginAnew() for work that is not first
  int rounds_ = 0;       // polls in a row during which all other threads slept
};

}  // namespace vramscope::simulated
