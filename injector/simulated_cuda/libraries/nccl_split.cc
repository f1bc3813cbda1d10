// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/nccl_split.h"

#include <dlfcn.h>

#include <optional>
#include <utility>
#include <vector>

#include "injector/simulated_cuda/device/group_calls.h"
#include "injector/simulated_cuda/libraries/nccl_data.h"

namespace vramscope::simulated {
namespace {

constexpr int kNoColor = -1;

struct Wish {
  const Communicator* parent;
  GroupCall call;
  Communicator** communicator;
  std::optional<NcclConfig> config;
};
thread_local std::vector<Wish>* put_off = nullptr;

template <typename Function>
Function OfDriver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return reinterpret_cast<Function>(driver != nullptr ? dlsym(driver, name) : nullptr);
}

void Tell(const GroupCall& call) {
  static const auto tell = OfDriver<void (*)(const GroupCall*)>("vramscope_simulated_group_call");
  if (tell != nullptr) tell(&call);
}

GroupPlace PlaceOf(const GroupCall& call, const Communicator& parent) {
  static const auto ask =
      OfDriver<int (*)(const GroupCall*, int, int*, int*)>("vramscope_simulated_group_place");
  static const auto told = OfDriver<int (*)(int)>("vramscope_simulated_split_size");
  GroupPlace place = {0, 0};
  if (ask != nullptr && ask(&call, parent.ranks(), &place.ranks, &place.rank) != 0) return place;
  const int size = told != nullptr ? told(call.color) : 0;
  place.ranks = size > 0 && size <= parent.ranks() ? size : parent.ranks();
  // The key is the rank, as PyTorch gives it.
  place.rank = call.key >= 0 && call.key < place.ranks ? call.key : parent.rank() % place.ranks;
  return place;
}

int Finish(const Wish& wish) {
  if (wish.call.color == kNoColor) return kNcclOk;
  const GroupPlace place = PlaceOf(wish.call, *wish.parent);
  // The same for all its ranks, and for no other group.
  const uint64_t id =
      (wish.call.parent * 31 + wish.call.call) * 0x9e3779b97f4a7c15 + static_cast<uint32_t>(wish.call.color);
  return BeginCommunicator(wish.communicator, id, place.ranks, place.rank,
                           wish.config ? &*wish.config : nullptr, wish.parent);
}

}  // namespace

int BeginCommunicator(Communicator** communicator, uint64_t id, int ranks, int rank, const NcclConfig* config,
                      const Communicator* parent) {
  *communicator = new Communicator(id, ranks, rank, config, parent);
  Tell({id, 0, rank, 0, 0});
  return (*communicator)->Begin();
}

int Split(Communicator* parent, int color, int key, Communicator** communicator, const NcclConfig* config) {
  *communicator = nullptr;
  Wish wish = {parent, {parent->id(), parent->CountSplit(), parent->rank(), color, key}, communicator, {}};
  if (config != nullptr && config->size >= sizeof(NcclConfig)) wish.config = *config;
  Tell(wish.call);
  if (!InGroup()) return Finish(wish);
  if (put_off == nullptr) put_off = new std::vector<Wish>;
  put_off->push_back(wish);
  return kNcclOk;
}

int FinishSplits() {
  if (put_off == nullptr) return kNcclOk;
  for (const Wish& wish : std::exchange(*put_off, {})) {
    if (const int error = Finish(wish)) return error;
  }
  return kNcclOk;
}

}  // namespace vramscope::simulated
