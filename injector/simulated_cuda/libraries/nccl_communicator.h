// SPDX-License-Identifier: Apache-2.0
// One rank's part of an NCCL communicator, and its device memory (nccl_memory.h). Memory is taken when NCCL
// would take it, and kept until the communicator ends.
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

// Fields of ncclConfig_t that we read; INT_MIN = unset.
struct NcclConfig {
  size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char* net_name;
  int split_share;
};

enum class Collective { kBroadcast, kGather, kReduceToAll };

// The NCCL release that the PyTorch wheel requires: 22602 for 2.26.2.
int NcclRelease();
// The last out-of-memory error in NCCL's words; "" = none.
const char* LastNcclError();

class Communicator {
 public:
  // On the calling thread's current device. `id`: the same for all ranks. `parent`: the communicator that
  // this one is split off from, if any.
  Communicator(uint64_t id, int ranks, int rank, const NcclConfig* config,
               const Communicator* parent = nullptr);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] uint64_t id() const { return id_; }
  // The number of the next split, from 1. All ranks split in the same order.
  uint32_t CountSplit() { return ++splits_; }
  // Like CountSplit, for messages to one rank or to all (MessageKey::kToAll), and for messages awaited from a
  // rank.
  uint32_t CountMessage(int to) { return ++messages_[to]; }
  uint32_t CountAwaited(int from) { return ++awaited_[from]; }

  // Take the memory that has not been taken yet. kNcclOk, or kNcclUnhandledCudaError if the device is full.
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
  uint64_t measured_ = 0;  // the user's figure, taken at once
  NcclMemory plan_;        // of memory not taken yet
  uint64_t receive_pool_ = 0;
  std::set<int> sends_, receives_;
  std::map<int, uint32_t> messages_, awaited_;
  std::vector<uint64_t> taken_;
  NcclElsewhere elsewhere_;
};

}  // namespace vramscope::simulated
