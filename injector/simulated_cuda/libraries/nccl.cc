// SPDX-License-Identifier: Apache-2.0
// NCCL: a communicator knows its size and rank and waits for nobody, so that one process can play one rank of
// any world.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/libraries/nccl_data.h"
#include "injector/simulated_cuda/libraries/wheel_requirement.h"

using namespace vramscope::simulated;

namespace {

constexpr int kOk = 0;
constexpr int kInvalidArgument = 4;

struct Communicator {
  int ranks;
  int rank;
};

struct UniqueId {
  char bytes[128];
};

// ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, two of 8 bits.
size_t BytesOf(int type) {
  static constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < 12 ? kBytes[type] : 1;
}

int Join(Communicator** communicator, int ranks, int rank) {
  if (ranks < 1 || rank < 0 || rank >= ranks) return kInvalidArgument;
  *communicator = new Communicator{ranks, rank};
  return kOk;
}

char* At(void* buffer, size_t offset) { return static_cast<char*>(buffer) + offset; }
const char* At(const void* buffer, size_t offset) { return static_cast<const char*>(buffer) + offset; }

}  // namespace

SIMULATED_EXPORT int ncclGetVersion(int* version) {
  const Release release = RequiredRelease("nvidia-nccl-cu");
  *version = release.major == 0 ? 22100 : release.major * 10000 + release.minor * 100 + release.patch;
  return kOk;
}

SIMULATED_EXPORT const char* ncclGetErrorString(int error) {
  return error == kOk ? "no error" : "invalid argument";
}
SIMULATED_EXPORT const char* ncclGetLastError(void*) { return ""; }

// ---- communicators

SIMULATED_EXPORT int ncclGetUniqueId(UniqueId* id) {
  static int next = 1;
  std::memset(id, 0, sizeof(*id));
  std::snprintf(id->bytes, sizeof(id->bytes), "vramscope-simulated-%d",
                __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED));
  return kOk;
}
SIMULATED_EXPORT int ncclCommGetUniqueId(void*, UniqueId* id) { return ncclGetUniqueId(id); }

SIMULATED_EXPORT int ncclCommInitRank(Communicator** communicator, int ranks, UniqueId, int rank) {
  return Join(communicator, ranks, rank);
}
SIMULATED_EXPORT int ncclCommInitRankConfig(Communicator** communicator, int ranks, UniqueId, int rank,
                                            void*) {
  return Join(communicator, ranks, rank);
}
SIMULATED_EXPORT int ncclCommInitRankScalable(Communicator** communicator, int ranks, int rank, int,
                                              UniqueId*, void*) {
  return Join(communicator, ranks, rank);
}
SIMULATED_EXPORT int ncclCommInitAll(Communicator** communicators, int devices, const int*) {
  for (int i = 0; i < devices; ++i) communicators[i] = new Communicator{devices, i};
  return kOk;
}
// Who else has this color is not known here: the new group is as large as the old one.
SIMULATED_EXPORT int ncclCommSplit(const Communicator* parent, int color, int, Communicator** communicator,
                                   void*) {
  constexpr int kNoColor = -1;
  *communicator = color == kNoColor ? nullptr : new Communicator(*parent);
  return kOk;
}
SIMULATED_EXPORT int ncclCommShrink(const Communicator* parent, int*, int excluded,
                                    Communicator** communicator, void*, int) {
  return Join(communicator, parent->ranks - excluded,
              parent->rank < parent->ranks - excluded ? parent->rank : 0);
}
SIMULATED_EXPORT int ncclCommDestroy(Communicator* communicator) {
  delete communicator;
  return kOk;
}
SIMULATED_EXPORT int ncclCommAbort(Communicator* communicator) { return ncclCommDestroy(communicator); }
SIMULATED_EXPORT int ncclCommFinalize(Communicator*) { return kOk; }
SIMULATED_EXPORT int ncclCommCount(const Communicator* communicator, int* ranks) {
  *ranks = communicator->ranks;
  return kOk;
}
SIMULATED_EXPORT int ncclCommUserRank(const Communicator* communicator, int* rank) {
  *rank = communicator->rank;
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
  EndGroup();
  return kOk;
}

// ---- collectives

SIMULATED_EXPORT int ncclAllReduce(const void* from, void* to, size_t count, int type, int, Communicator*,
                                   void* stream) {
  CopyOnDevice(to, from, count * BytesOf(type), stream);
  return kOk;
}

SIMULATED_EXPORT int ncclReduce(const void* from, void* to, size_t count, int type, int, int root,
                                Communicator* communicator, void* stream) {
  if (root == communicator->rank) CopyOnDevice(to, from, count * BytesOf(type), stream);
  return kOk;
}

SIMULATED_EXPORT int ncclBroadcast(const void* from, void* to, size_t count, int type, int root,
                                   Communicator* communicator, void* stream) {
  const size_t bytes = count * BytesOf(type);
  if (root == communicator->rank) {
    CopyOnDevice(to, from, bytes, stream);
    Sent(from, bytes, stream);
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
  for (int rank = 0; rank < communicator->ranks; ++rank)
    CopyOnDevice(At(to, static_cast<size_t>(rank) * bytes), from, bytes, stream);
  return kOk;
}

SIMULATED_EXPORT int ncclReduceScatter(const void* from, void* to, size_t count, int type, int,
                                       Communicator* communicator, void* stream) {
  const size_t bytes = count * BytesOf(type);
  CopyOnDevice(to, At(from, static_cast<size_t>(communicator->rank) * bytes), bytes, stream);
  return kOk;
}

SIMULATED_EXPORT int ncclAlltoAll(const void* from, void* to, size_t count, int type,
                                  Communicator* communicator, void* stream) {
  CopyOnDevice(to, from, static_cast<size_t>(communicator->ranks) * count * BytesOf(type), stream);
  return kOk;
}

SIMULATED_EXPORT int ncclSend(const void* from, size_t count, int type, int, Communicator*, void* stream) {
  Sent(from, count * BytesOf(type), stream);
  return kOk;
}
SIMULATED_EXPORT int ncclRecv(void* to, size_t count, int type, int, Communicator*, void* stream) {
  Receive(to, count * BytesOf(type), stream);
  return kOk;
}
