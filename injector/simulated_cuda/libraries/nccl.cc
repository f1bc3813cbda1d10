// SPDX-License-Identifier: Apache-2.0
// NCCL. A communicator knows its size and rank and needs no other ranks, so that one process can play one
// rank of any world. If the other ranks run too, small integers travel between them (nccl_exchange.h).
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string_view>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/libraries/nccl_communicator.h"
#include "injector/simulated_cuda/libraries/nccl_data.h"
#include "injector/simulated_cuda/libraries/nccl_exchange.h"
#include "injector/simulated_cuda/libraries/nccl_split.h"

using namespace vramscope::simulated;

namespace {

constexpr int kOk = kNcclOk;

struct UniqueId {
  char bytes[128];
};

// ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, two of 8 bits.
size_t BytesOf(int type) {
  static constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < 12 ? kBytes[type] : 1;
}

int Join(Communicator** communicator, const UniqueId& id, int ranks, int rank, const NcclConfig* config) {
  if (ranks < 1 || rank < 0 || rank >= ranks) return kNcclInvalidArgument;
  const uint64_t number = std::hash<std::string_view>{}({id.bytes, sizeof(id.bytes)});
  return BeginCommunicator(communicator, number, ranks, rank, config, nullptr);
}

// Makes a device current for a while.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    void* context = nullptr;
    const auto retain = Of<int (*)(void**, int)>("cuDevicePrimaryCtxRetain");
    const auto push = Of<int (*)(void*)>("cuCtxPushCurrent_v2");
    pushed_ = retain != nullptr && push != nullptr && retain(&context, device) == kSuccess &&
              push(context) == kSuccess;
  }
  ~OnDevice() {
    const auto pop = Of<int (*)(void**)>("cuCtxPopCurrent_v2");
    void* context = nullptr;
    if (pushed_ && pop != nullptr) pop(&context);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  template <typename Function>
  static Function Of(const char* name) {
    return reinterpret_cast<Function>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), name));
  }
  bool pushed_;
};

char* At(void* buffer, size_t offset) { return static_cast<char*>(buffer) + offset; }
const char* At(const void* buffer, size_t offset) { return static_cast<const char*>(buffer) + offset; }

}  // namespace

SIMULATED_EXPORT int ncclGetVersion(int* version) {
  *version = NcclRelease();
  return kOk;
}

SIMULATED_EXPORT const char* ncclGetErrorString(int error) {
  if (error == kNcclUnhandledCudaError) return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
  return error == kOk ? "no error" : "invalid argument";
}
SIMULATED_EXPORT const char* ncclGetLastError(void*) { return LastNcclError(); }

// ---- communicators

SIMULATED_EXPORT int ncclGetUniqueId(UniqueId* id) {
  static int next = 1;
  std::memset(id, 0, sizeof(*id));
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  std::snprintf(id->bytes, sizeof(id->bytes), "vramscope-simulated-%d-%d-%lld-%ld",
                __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED), getpid(), static_cast<long long>(now.tv_sec),
                now.tv_nsec);
  return kOk;
}
SIMULATED_EXPORT int ncclCommGetUniqueId(void*, UniqueId* id) { return ncclGetUniqueId(id); }

SIMULATED_EXPORT int ncclCommInitRank(Communicator** communicator, int ranks, UniqueId id, int rank) {
  return Join(communicator, id, ranks, rank, nullptr);
}
SIMULATED_EXPORT int ncclCommInitRankConfig(Communicator** communicator, int ranks, UniqueId id, int rank,
                                            const NcclConfig* config) {
  return Join(communicator, id, ranks, rank, config);
}
SIMULATED_EXPORT int ncclCommInitRankScalable(Communicator** communicator, int ranks, int rank, int,
                                              UniqueId* ids, const NcclConfig* config) {
  return Join(communicator, ids[0], ranks, rank, config);
}
SIMULATED_EXPORT int ncclCommInitAll(Communicator** communicators, int devices, const int* numbers) {
  UniqueId id;
  ncclGetUniqueId(&id);
  for (int i = 0; i < devices; ++i) {
    const OnDevice on(numbers != nullptr ? numbers[i] : i);
    if (const int error = Join(&communicators[i], id, devices, i, nullptr)) return error;
  }
  return kOk;
}
SIMULATED_EXPORT int ncclCommSplit(Communicator* parent, int color, int key, Communicator** communicator,
                                   const NcclConfig* config) {
  return Split(parent, color, key, communicator, config);
}
SIMULATED_EXPORT int ncclCommShrink(const Communicator* parent, int*, int excluded,
                                    Communicator** communicator, const NcclConfig* config, int) {
  const int ranks = parent->ranks() - excluded;
  if (ranks < 1) return kNcclInvalidArgument;
  const int rank = parent->rank() < ranks ? parent->rank() : 0;
  return BeginCommunicator(communicator, parent->id() + 1, ranks, rank, config, parent);
}
SIMULATED_EXPORT int ncclCommDestroy(Communicator* communicator) {
  delete communicator;
  return kOk;
}
SIMULATED_EXPORT int ncclCommAbort(Communicator* communicator) { return ncclCommDestroy(communicator); }
SIMULATED_EXPORT int ncclCommFinalize(Communicator*) { return kOk; }
SIMULATED_EXPORT int ncclCommCount(const Communicator* communicator, int* ranks) {
  *ranks = communicator->ranks();
  return kOk;
}
SIMULATED_EXPORT int ncclCommUserRank(const Communicator* communicator, int* rank) {
  *rank = communicator->rank();
  return kOk;
}
SIMULATED_EXPORT int ncclCommGetAsyncError(Communicator*, int* error) {
  *error = kOk;
  return kOk;
}

SIMULATED_EXPORT int ncclGroupStart() {
  BeginGroup();
  return kOk;
}
SIMULATED_EXPORT int ncclGroupEnd() {
  if (IsOutermostGroup()) FinishExchanges();
  EndGroup();
  return InGroup() ? kOk : FinishSplits();
}

// ---- collectives

SIMULATED_EXPORT int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation,
                                   Communicator* communicator, void* stream) {
  if (const int error = communicator->Use(Collective::kReduceToAll, count * BytesOf(type))) return error;
  if (ExchangeReduced(from, to, count, type, operation, true, *communicator, stream)) return kOk;
  CopyOnDevice(to, from, count * BytesOf(type), stream);
  return kOk;
}

SIMULATED_EXPORT int ncclReduce(const void* from, void* to, size_t count, int type, int operation, int root,
                                Communicator* communicator, void* stream) {
  if (const int error = communicator->Use(Collective::kBroadcast, count * BytesOf(type))) return error;
  const bool wanted = root == communicator->rank();
  if (ExchangeReduced(from, to, count, type, operation, wanted, *communicator, stream)) return kOk;
  if (root == communicator->rank()) CopyOnDevice(to, from, count * BytesOf(type), stream);
  return kOk;
}

SIMULATED_EXPORT int ncclBroadcast(const void* from, void* to, size_t count, int type, int root,
                                   Communicator* communicator, void* stream) {
  const size_t bytes = count * BytesOf(type);
  if (const int error = communicator->Use(Collective::kBroadcast, bytes)) return error;
  if (ExchangeFromRoot(from, to, bytes, type, root, *communicator, stream)) return kOk;
  if (root == communicator->rank()) {
    CopyOnDevice(to, from, bytes, stream);
    Sent(from, bytes, stream, true);
  } else {
    Receive(to, bytes, stream);
  }
  return kOk;
}
SIMULATED_EXPORT int ncclBcast(void* buffer, size_t count, int type, int root, Communicator* communicator,
                               void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}

SIMULATED_EXPORT int ncclAllGather(const void* from, void* to, size_t count, int type,
                                   Communicator* communicator, void* stream) {
  const size_t bytes = count * BytesOf(type);
  if (const int error = communicator->Use(Collective::kGather, bytes)) return error;
  if (ExchangeGathered(from, to, bytes, type, *communicator, stream)) return kOk;
  for (int rank = 0; rank < communicator->ranks(); ++rank)
    CopyOnDevice(At(to, static_cast<size_t>(rank) * bytes), from, bytes, stream);
  return kOk;
}

SIMULATED_EXPORT int ncclReduceScatter(const void* from, void* to, size_t count, int type, int,
                                       Communicator* communicator, void* stream) {
  const size_t bytes = count * BytesOf(type);
  if (const int error = communicator->Use(Collective::kGather, bytes)) return error;
  CopyOnDevice(to, At(from, static_cast<size_t>(communicator->rank()) * bytes), bytes, stream);
  return kOk;
}

SIMULATED_EXPORT int ncclAlltoAll(const void* from, void* to, size_t count, int type,
                                  Communicator* communicator, void* stream) {
  for (int peer = 0; peer < communicator->ranks(); ++peer) {
    if (const int error = communicator->UseSend(peer)) return error;
    if (const int error = communicator->UseReceive(peer)) return error;
  }
  const size_t bytes = count * BytesOf(type);
  BeginGroup();
  for (int peer = 0; peer < communicator->ranks(); ++peer)
    ExchangeSent(At(from, static_cast<size_t>(peer) * bytes), bytes, type, peer, *communicator);
  for (int peer = 0; peer < communicator->ranks(); ++peer) {
    void* const part = At(to, static_cast<size_t>(peer) * bytes);
    CopyOnDevice(part, At(from, static_cast<size_t>(communicator->rank()) * bytes), bytes, stream);
    ExchangeReceived(part, bytes, type, peer, *communicator, stream);
  }
  if (IsOutermostGroup()) FinishExchanges();
  EndGroup();
  return kOk;
}

SIMULATED_EXPORT int ncclSend(const void* from, size_t count, int type, int peer, Communicator* communicator,
                              void* stream) {
  if (const int error = communicator->UseSend(peer)) return error;
  ExchangeSent(from, count * BytesOf(type), type, peer, *communicator);
  Sent(from, count * BytesOf(type), stream, peer == communicator->rank());
  return kOk;
}
SIMULATED_EXPORT int ncclRecv(void* to, size_t count, int type, int peer, Communicator* communicator,
                              void* stream) {
  if (const int error = communicator->UseReceive(peer)) return error;
  if (ExchangeReceived(to, count * BytesOf(type), type, peer, *communicator, stream)) return kOk;
  Receive(to, count * BytesOf(type), stream);
  return kOk;
}
