// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/nccl_communicator.h"

#include <dlfcn.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/libraries/wheel_requirement.h"

namespace vramscope::simulated {
namespace {

constexpr size_t kSmallestForNvls = 1 << 20;  // smaller ones go by ring or tree

thread_local char last_error[64];

template <typename Function>
Function OfDriver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return reinterpret_cast<Function>(driver != nullptr ? dlsym(driver, name) : nullptr);
}

int Attribute(int device, DeviceAttribute attribute) {
  static const auto ask = OfDriver<int (*)(int*, int, int)>("cuDeviceGetAttribute");
  int value = 0;
  if (ask != nullptr) ask(&value, attribute, device);
  return value;
}

NcclGpu GpuOfThread() {
  int device = 0;
  char name[256] = "";
  const auto ask_device = OfDriver<int (*)(int*)>("cuCtxGetDevice");
  // No context yet, for example if a group is the first to use the GPU: all of a machine's GPUs are alike.
  if (ask_device == nullptr || ask_device(&device) != kSuccess) device = 0;
  if (const auto ask = OfDriver<int (*)(char*, int, int)>("cuDeviceGetName")) ask(name, sizeof(name), device);
  return NcclGpuOf(
      10 * Attribute(device, kComputeCapabilityMajor) + Attribute(device, kComputeCapabilityMinor),
      Attribute(device, kGlobalMemoryBusWidth), name);
}

int OutOfMemory(uint64_t bytes) {
  std::snprintf(last_error, sizeof(last_error), "Failed to CUDA calloc %llu bytes",
                static_cast<unsigned long long>(bytes));
  return kNcclUnhandledCudaError;
}

bool Given(int value) { return value != INT_MIN && value > 0; }

NcclSettings SettingsWith(const NcclConfig* config) {
  NcclSettings settings = NcclSettingsOfProcess();
  if (config == nullptr || config->size < sizeof(NcclConfig)) return settings;
  if (Given(config->max_ctas)) settings.max_channels = settings.max_p2p_channels = config->max_ctas;
  if (Given(config->min_ctas)) settings.min_channels = settings.min_p2p_channels = config->min_ctas;
  return settings;
}

bool SharesWithParent(const NcclSettings& settings, const NcclConfig* config) {
  if (settings.split_share >= 0) return settings.split_share == 1;
  return config != nullptr && config->size >= sizeof(NcclConfig) && config->split_share == 1;
}

// True if the user has set what a communicator takes.
bool IsMeasured(uint64_t* bytes) {
  const auto ask = OfDriver<int (*)(uint64_t*)>("vramscope_simulated_nccl");
  return ask != nullptr && ask(bytes) != 0;
}

}  // namespace

int NcclRelease() {
  static const int number = [] {
    const Release release = RequiredRelease("nvidia-nccl-cu");
    return release.major == 0 ? 22100 : release.major * 10000 + release.minor * 100 + release.patch;
  }();
  return number;
}

const char* LastNcclError() { return last_error; }

Communicator::Communicator(uint64_t id, int ranks, int rank, const NcclConfig* config,
                           const Communicator* parent)
    : id_(id), ranks_(ranks), rank_(rank) {
  if (IsMeasured(&measured_)) return;
  const NcclSettings settings = SettingsWith(config);
  plan_ = NcclMemoryFor(GpuOfThread(), settings, NcclRelease(), ranks, rank);
  connects_when_used_ = ConnectsWhenUsed(settings, NcclRelease());
  const bool shares = parent != nullptr && SharesWithParent(settings, config);
  if (shares) ShareWithParent(parent->ranks(), ranks, &plan_);
  receive_pool_ = plan_.pool;
  elsewhere_.Plan(settings, NcclRelease(), ranks, rank, shares ? parent->ranks() : 0);
}

Communicator::~Communicator() {
  static const auto give = OfDriver<int (*)(uint64_t)>("cuMemFree_v2");
  for (const uint64_t address : taken_) give(address);
}

int Communicator::Take(uint64_t bytes, const char* call) {
  static const auto announce = OfDriver<void (*)(const char*, const void*)>("vramscope_simulated_origin");
  static const auto take = OfDriver<int (*)(uint64_t*, size_t)>("cuMemAlloc_v2");
  if (bytes == 0 || take == nullptr || announce == nullptr) return kNcclOk;
  uint64_t address = 0;
  announce(call, reinterpret_cast<const void*>(&NcclRelease));  // code of this library
  const int error = take(&address, bytes);
  announce(nullptr, nullptr);
  if (error == kSuccess) taken_.push_back(address);
  return error == kOutOfMemory ? OutOfMemory(bytes) : kNcclOk;
}

int Communicator::TakeOnce(uint64_t& bytes, const char* call) {
  if (const int error = Take(bytes, call)) return error;
  bytes = 0;
  return kNcclOk;
}

// The kernels' code, with the first communicator of the process. The user's figure includes it.
int Communicator::LoadKernels() {
  static const auto announce =
      OfDriver<void (*)(const void*, const char*, size_t, const void*)>("vramscope_simulated_code");
  static const auto load = OfDriver<int (*)(void*)>("cuFuncLoad");
  static int kernels = 0;  // one function stands for them all
  if (announce == nullptr || load == nullptr) return kNcclOk;
  NcclElsewhere::CountCode();
  const uint64_t bytes = NcclCodeBytes(GpuOfThread().compute_capability);
  announce(&kernels, "ncclKernels", bytes, reinterpret_cast<const void*>(&NcclRelease));
  const int error = load(&kernels);
  return error == kOutOfMemory ? OutOfMemory(bytes) : kNcclOk;
}

int Communicator::Begin() {
  if (measured_ == 0) {
    uint64_t measured = 0;
    if (!IsMeasured(&measured)) {
      if (const int error = LoadKernels()) return error;
    }
  }
  if (const int error = TakeOnce(measured_, "ncclCommInitRank")) return error;
  return connects_when_used_ ? kNcclOk : ConnectAtOnce();
}

int Communicator::ConnectAtOnce() {
  if (const int error = TakeOnce(plan_.pool, "pool")) return error;
  elsewhere_.TakeOnce(&NcclMemory::pool);
  return Use(Collective::kReduceToAll, kSmallestForNvls);
}

int Communicator::Use(Collective collective, size_t bytes) {
  elsewhere_.TakeOnce(&NcclMemory::ring);
  if (const int error = TakeOnce(plan_.ring, "ring")) return error;
  if (collective == Collective::kReduceToAll) {
    elsewhere_.TakeOnce(&NcclMemory::tree);
    if (const int error = TakeOnce(plan_.tree, "tree")) return error;
  }
  if (collective == Collective::kBroadcast || bytes < kSmallestForNvls) return kNcclOk;
  elsewhere_.TakeOnce(&NcclMemory::nvls);
  return TakeOnce(plan_.nvls, "NVLS");
}

int Communicator::UseSend(int peer) {
  if (peer == rank_) return kNcclOk;
  if (!OnOneBoard(rank_, peer)) {
    elsewhere_.TakeOnce(&NcclMemory::pool);
    return TakeOnce(plan_.pool, "pool");
  }
  if (!sends_.insert(peer).second) return kNcclOk;
  elsewhere_.Take(&NcclMemory::send);
  return Take(plan_.send, "ncclSend");
}

int Communicator::UseReceive(int peer) {
  if (peer == rank_) return kNcclOk;
  if (!OnOneBoard(rank_, peer)) {
    elsewhere_.TakeReceivePool();
    return TakeOnce(receive_pool_, "pool");
  }
  if (!receives_.insert(peer).second) return kNcclOk;
  elsewhere_.Take(&NcclMemory::receive);
  return Take(plan_.receive, "ncclRecv");
}

}  // namespace vramscope::simulated
