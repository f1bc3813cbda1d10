// SPDX-License-Identifier: Apache-2.0
// How large the process groups are that a rank alone splits off: NCCL would ask the other ranks, and PyTorch
// knows.
#include <map>
#include <mutex>

#include "injector/simulated_cuda/driver/private_calls.h"

namespace {

constexpr int kNext = -1;

struct Groups {
  std::mutex mutex;
  std::map<int, int> ranks;  // by color
};

Groups& The() {
  static auto* const groups = new Groups;
  return *groups;
}

}  // namespace

SIMULATED_EXPORT void vramscope_simulated_split(int color, int ranks) {
  Groups& groups = The();
  const std::lock_guard<std::mutex> lock(groups.mutex);
  groups.ranks[color] = ranks;
}

SIMULATED_EXPORT int vramscope_simulated_split_size(int color) {
  Groups& groups = The();
  const std::lock_guard<std::mutex> lock(groups.mutex);
  const auto next = groups.ranks.find(kNext);
  if (next != groups.ranks.end() && next->second != 0) return next->second;
  const auto found = groups.ranks.find(color);
  return found != groups.ranks.end() ? found->second : 0;
}
