// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/nccl_data.h"

#include <dlfcn.h>

namespace vramscope::simulated {
namespace {

using Copy = int (*)(uint64_t, uint64_t, size_t, void*);

struct Transfer {
  void* address;
  size_t bytes;
  void* stream;
  bool to_itself;
};

// More than any group of PyTorch's: one broadcast for each rank of a large job.
constexpr int kMost = 4096;
struct Transfers {
  Transfer entries[kMost];
  int count = 0;
  void Add(const Transfer& transfer) {
    if (count < kMost) entries[count++] = transfer;
  }
  // The first transfer of that size to this rank itself, otherwise the first of that size; nullptr = none.
  [[nodiscard]] const Transfer* Find(size_t bytes) const {
    const Transfer* first = nullptr;
    for (const Transfer* it = entries; it != entries + count; ++it) {
      if (it->bytes != bytes) continue;
      if (it->to_itself) return it;
      if (first == nullptr) first = it;
    }
    return first;
  }
};
thread_local Transfers* sent = nullptr;
thread_local Transfers* awaited = nullptr;
thread_local int depth = 0;

}  // namespace

void CopyOnDevice(void* to, const void* from, size_t bytes, void* stream) {
  static const auto copy = reinterpret_cast<Copy>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuMemcpyAsync"));
  if (copy != nullptr && to != from && bytes != 0)
    copy(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), bytes, stream);
}

void BeginGroup() {
  if (sent == nullptr) {
    sent = new Transfers;
    awaited = new Transfers;
  }
  ++depth;
}

void EndGroup() {
  if (depth == 0 || --depth != 0) return;
  for (int i = 0; i < awaited->count; ++i) {
    const Transfer& wanted = awaited->entries[i];
    if (const Transfer* const found = sent->Find(wanted.bytes))
      CopyOnDevice(wanted.address, found->address, wanted.bytes, wanted.stream);
  }
  sent->count = awaited->count = 0;
}

bool InGroup() { return depth != 0; }

bool IsOutermostGroup() { return depth == 1; }

void Sent(const void* from, size_t bytes, void* stream, bool to_itself) {
  if (depth != 0) sent->Add({const_cast<void*>(from), bytes, stream, to_itself});
}

void Receive(void* to, size_t bytes, void* stream) {
  if (depth != 0) awaited->Add({to, bytes, stream, false});
}

}  // namespace vramscope::simulated
