// SPDX-License-Identifier: Apache-2.0
// The sizes of split-off process groups. The ranks send each other their colors, as with NCCL. A single rank
// gets the size from PyTorch.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "injector/simulated_cuda/device/group_calls.h"
#include "injector/simulated_cuda/device/settings.h"
#include "injector/simulated_cuda/driver/private_calls.h"

using vramscope::simulated::GroupCall;
using vramscope::simulated::MessageKey;

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

// The file for messages between ranks; "" = there are no other ranks.
const std::string& CallsFile() {
  static const std::string file = [] {
    const char* const shared = vramscope::simulated::TheSettings().shared;
    const char* const dryrun = std::getenv("VRAMSCOPE_DRYRUN");
    const bool alone = dryrun != nullptr && std::strstr(dryrun, ";world=") != nullptr;
    return shared != nullptr && !alone ? std::string(shared) + ".groups" : std::string();
  }();
  return file;
}

vramscope::simulated::Messages& TheMessages() {
  static auto* const messages = new vramscope::simulated::Messages(CallsFile() + ".told");
  return *messages;
}

// A launcher that sets the number of ranks has started them all, but they may not be ready yet.
vramscope::simulated::Patience PatienceWithOthers() {
  constexpr int kTogetherMs = 60'000, kAloneMs = 10'000;
  const char* const world = std::getenv("WORLD_SIZE");
  const bool launched = world != nullptr && std::strtol(world, nullptr, 10) > 1;
  return {launched ? kTogetherMs : kAloneMs, kTogetherMs};
}

}  // namespace

SIMULATED_EXPORT void vramscope_simulated_group_call(const GroupCall* call) {
  if (!CallsFile().empty()) vramscope::simulated::Append(CallsFile().c_str(), *call);
}

SIMULATED_EXPORT int vramscope_simulated_group_place(const GroupCall* call, int parent_ranks, int* ranks,
                                                     int* rank) {
  static bool nobody_came = false;
  if (CallsFile().empty() || __atomic_load_n(&nobody_came, __ATOMIC_RELAXED)) return 0;
  const std::vector<GroupCall> all = vramscope::simulated::AwaitAll(
      CallsFile().c_str(), call->parent, call->call, parent_ranks, PatienceWithOthers());
  if (all.empty()) {
    __atomic_store_n(&nobody_came, true, __ATOMIC_RELAXED);
    return 0;
  }
  const auto place = vramscope::simulated::PlaceIn(all, *call);
  *ranks = place.ranks;
  *rank = place.rank;
  return 1;
}

SIMULATED_EXPORT int vramscope_simulated_tell(const MessageKey* key, const void* bytes, size_t count) {
  return !CallsFile().empty() && TheMessages().Tell(*key, bytes, count) ? 1 : 0;
}

SIMULATED_EXPORT int64_t vramscope_simulated_told(const MessageKey* key, void* bytes, size_t capacity) {
  if (CallsFile().empty()) return -1;
  const auto told = TheMessages().Await(*key, PatienceWithOthers().together);
  if (!told) return -1;
  std::memcpy(bytes, told->data(), std::min(capacity, told->size()));
  return static_cast<int64_t>(std::min(capacity, told->size()));
}

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
