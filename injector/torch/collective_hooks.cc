// SPDX-License-Identifier: Apache-2.0
// Memory used for communication: the arguments of NCCL's collectives, and the buckets of
// DistributedDataParallel.
//
// Every collective ends in NCCL's own functions with plain addresses, in all releases. This includes
// collectives that PyTorch flattens first or that an extension calls. An address may lie inside a block: the
// reader finds the block.
//
//   ncclAllReduce(send, recv, 1024, float)  ->  label(send, 4096, "all-reduce"), and label(recv, ...) if
//                                               that is another address
//
// A bucket is known before its first collective, and on the CPU: c10d::Reducer::initialize_buckets allocates
// buckets and nothing else.
#include "injector/core/intern.h"
#include "injector/torch/block_records.h"

namespace vramscope::injector {
namespace {

constexpr int kInternalError = 3;  // ncclInternalError: our function was called and there is no NCCL

// ncclDataType_t, by number; types of later releases count as one byte.
constexpr uint8_t kBytesOfType[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
uint64_t BytesOf(size_t count, int type) {
  const auto index = static_cast<size_t>(type);
  return count * (index < sizeof(kBytesOfType) ? kBytesOfType[index] : 1);
}

template <size_t kLength>
uint32_t IdOf(std::atomic<uint32_t>& known, const char (&name)[kLength]) {
  uint32_t id = known.load(std::memory_order_relaxed);
  if (id == 0) known.store(id = InternString(name, kLength - 1), std::memory_order_relaxed);
  return id;
}

void LabelCommunication(const void* address, uint64_t bytes, uint32_t name, trace::LabelSource source) {
  if (address == nullptr || bytes == 0) return;
  Record(trace::EventType::kLabel, static_cast<uint16_t>(trace::Role::kCommunication), name,
         reinterpret_cast<uint64_t>(address), bytes, 0, static_cast<uint64_t>(source));
}

struct Memory {
  const void* address;
  uint64_t bytes;
};

// Labels what a collective reads and writes.
template <size_t kLength>
void Communicated(std::atomic<uint32_t>& known, const char (&name)[kLength], Memory sent,
                  Memory received = {}) {
  const uint32_t id = IdOf(known, name);
  LabelCommunication(sent.address, sent.bytes, id, trace::LabelSource::kCollective);
  if (received.address != sent.address)
    LabelCommunication(received.address, received.bytes, id, trace::LabelSource::kCollective);
}

}  // namespace

// In a gather or scatter, one side is larger by the number of ranks, which only the communicator knows. Its
// label has the smaller size; the reader applies it to the block.
#define VRAMSCOPE_COLLECTIVE(function, name, sent, received, ...)         \
  {                                                                       \
    static constinit std::atomic<uint32_t> id = 0;                        \
    auto* const real = Real##function();                                  \
    if (real == nullptr) return kInternalError;                           \
    const uint64_t bytes = BytesOf(count, type);                          \
    Communicated(id, name, Memory{sent, bytes}, Memory{received, bytes}); \
    return real(__VA_ARGS__);                                             \
  }

// clang-format off
int NcclAllReduce(const void* send, void* recv, size_t count, int type, int op, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclAllReduce, "all-reduce", send, recv, send, recv, count, type, op, comm, stream)
int NcclReduce(const void* send, void* recv, size_t count, int type, int op, int root, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclReduce, "reduce", send, recv, send, recv, count, type, op, root, comm, stream)
int NcclBroadcast(const void* send, void* recv, size_t count, int type, int root, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclBroadcast, "broadcast", send, recv, send, recv, count, type, root, comm, stream)
int NcclBcast(void* buffer, size_t count, int type, int root, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclBcast, "broadcast", buffer, buffer, buffer, count, type, root, comm, stream)
int NcclAllGather(const void* send, void* recv, size_t count, int type, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclAllGather, "all-gather", send, recv, send, recv, count, type, comm, stream)
int NcclReduceScatter(const void* send, void* recv, size_t count, int type, int op, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclReduceScatter, "reduce-scatter", send, recv, send, recv, count, type, op, comm, stream)
int NcclAllToAll(const void* send, void* recv, size_t count, int type, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclAllToAll, "all-to-all", send, recv, send, recv, count, type, comm, stream)
int NcclGather(const void* send, void* recv, size_t count, int type, int root, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclGather, "gather", send, recv, send, recv, count, type, root, comm, stream)
int NcclScatter(const void* send, void* recv, size_t count, int type, int root, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclScatter, "scatter", send, recv, send, recv, count, type, root, comm, stream)
int NcclSend(const void* send, size_t count, int type, int peer, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclSend, "send", send, send, send, count, type, peer, comm, stream)
int NcclRecv(void* recv, size_t count, int type, int peer, void* comm, void* stream)
    VRAMSCOPE_COLLECTIVE(NcclRecv, "receive", recv, recv, recv, count, type, peer, comm, stream)
// clang-format on

#undef VRAMSCOPE_COLLECTIVE

                                                void LabelBucket(const void* block, uint64_t bytes) {
  static constinit std::atomic<uint32_t> id = 0;
  LabelCommunication(block, bytes, IdOf(id, "bucket of DistributedDataParallel"),
                     trace::LabelSource::kDataParallel);
}

void InitializeBuckets(void* reducer, void* indices) {
  auto* const real = RealInitializeBuckets();
  if (real == nullptr) return;
  expected_blocks = ExpectedBlocks::kBuckets;
  real(reducer, indices);
  expected_blocks = ExpectedBlocks::kAny;  // after an exception, RecordNoBlock resets it
}

}  // namespace vramscope::injector
