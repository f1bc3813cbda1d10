// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/pollers.h"

#include <algorithm>

#include "injector/simulated_cuda/device/other_threads.h"

namespace vramscope::simulated {

void Pollers::BeginAnew(uint64_t progress) {
  progress_ = progress;
  cpu_ns_ = CpuNanosecondsOfOtherThreads();
  times_ = 0;
  rounds_ = 0;
}

bool Pollers::IsDone(const AskedWork& work, uint64_t progress) {
  const pid_t self = OwnThread();
  if (std::find(threads_.begin(), threads_.end(), self) == threads_.end()) threads_.push_back(self);
  asked_.insert(work);
  if (progress != progress_) {
    BeginAnew(progress);
    return false;
  }
  if (work > *asked_.begin() && ++times_ < kPatienceForFirst) return false;
  if (CpuNanosecondsOfOtherThreads() < cpu_ns_ + kPatienceForOthersNs) {
    rounds_ = AnotherThreadRuns(threads_) ? 0 : rounds_ + 1;
    if (rounds_ < kRounds) return false;
  }
  asked_.erase(asked_.begin(), asked_.upper_bound(work));
  BeginAnew(progress);
  return true;
}

}  // namespace vramscope::simulated
