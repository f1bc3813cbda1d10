// SPDX-License-Identifier: Apache-2.0
// One rank's part of an NCCL communicator, and the device memory that it takes (nccl_memory.h): taken from
// libcuda.so.1 when NCCL would take it, given back when the communicator ends.
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

// ncclConfig_t as far as it is read; NCCL sets what is not given to INT_MIN.
struct NcclConfig {
  size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char* net_name;
  int split_share;
};

enum class Collective { kBroadcast, kGather, kReduceToAll };

// NCCL's number of its release, 2.26.2 as 22602: that of the wheel.
int NcclRelease();
// The last lack of memory, as NCCL words it; "" = none.
const char* LastNcclError();

class Communicator {
 public:
  // On the calling thread's current device. `id`: the same for all its ranks. `parent`: split off from it.
  Communicator(uint64_t id, int ranks, int rank, const NcclConfig* config,
               const Communicator* parent = nullptr);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] uint64_t id() const { return id_; }
  // 1, 2, ...: all ranks of a communicator split it in the same order.
  uint32_t CountSplit() { return ++splits_; }
  // The same of what it tells a rank, or all (MessageKey::kToAll), and of what it awaits from one.
  uint32_t CountMessage(int to) { return ++messages_[to]; }
  uint32_t CountAwaited(int from) { return ++awaited_[from]; }

  // All take what is still missing, and return kNcclOk or kNcclUnhandledCudaError when the device is full.
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
  uint64_t measured_ = 0;  // what the user says that it takes, at once
  NcclMemory plan_;        // of what has not been taken yet
  uint64_t receive_pool_ = 0;
  std::set<int> sends_, receives_;
  std::map<int, uint32_t> messages_, awaited_;
  std::vector<uint64_t> taken_;
  NcclElsewhere elsewhere_;
};

}  // namespace vramscope::simulated
