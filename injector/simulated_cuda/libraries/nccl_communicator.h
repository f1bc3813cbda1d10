// SPDX-License-Identifier: Apache-2.0
// One rank's part of an NCCL communicator, and its device memory (nccl_memory.h). The same calls as in NCCL
// allocate the memory. It is freed when the communicator is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "injector/simulated_cuda/libraries/nccl_elsewhere.h"
#include "injector/simulated_cuda/libraries/nccl_memory.h"

namespace vramscope::simulated {

// ncclResult_t
inline constexpr int kNcclOk = 0;
inline constexpr int kNcclUnhandledCudaError = 1;
inline constexpr int kNcclInvalidArgument = 4;

// The fields of ncclConfig_t that are read here. INT_MIN = not set.
struct NcclConfig {
  size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char* net_name;
  int split_share;
};

enum class Collective { kBroadcast, kGather, kReduceToAll };

// Returns the NCCL release that the PyTorch wheel requires: 22602 for 2.26.2.
int NcclRelease();
// Returns the last out-of-memory error of this thread, in the words of NCCL; "" if there was none.
const char* LastNcclError();

class Communicator {
 public:
  // Creates the communicator on the calling thread's current device. All ranks must pass the same `id`.
  // `parent`: the communicator that was split with ncclCommSplit; nullptr if there was none.
  Communicator(uint64_t id, int ranks, int rank, const NcclConfig* config,
               const Communicator* parent = nullptr);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] uint64_t id() const { return id_; }
  // Returns the number of the next split, from 1. All ranks split in the same order.
  uint32_t CountSplit() { return ++splits_; }
  // Returns the number of the next message that this rank sends to a rank, or to all (MessageKey::kToAll).
  uint32_t CountMessage(int to) { return ++messages_[to]; }
  // Returns the number of the next message that this rank receives from rank `from`.
  uint32_t CountAwaited(int from) { return ++awaited_[from]; }

  // The next four functions allocate the memory that NCCL would need and that is not allocated yet. They
  // return kNcclOk, or kNcclUnhandledCudaError if the device is full.
  int Begin();
  int Use(Collective collective, size_t bytes);
  int UseSend(int peer);
  int UseReceive(int peer);

 private:
  static int LoadKernels();
  int ConnectAtOnce();
  int Take(uint64_t bytes, const char* call);
  int TakeOnce(uint64_t& bytes, const char* call);

  uint64_t id_;
  int ranks_, rank_;
  uint32_t splits_ = 0;
  bool connects_when_used_ = true;
  uint64_t measured_ = 0;  // bytes that the user has set for a communicator; Begin() allocates them
  NcclMemory plan_;        // memory that is not allocated yet
  uint64_t receive_pool_ = 0;
  std::set<int> sends_, receives_;
  std::map<int, uint32_t> messages_, awaited_;
  std::vector<uint64_t> taken_;
  NcclElsewhere elsewhere_;
};

}  // namespace vramscope::simulated
