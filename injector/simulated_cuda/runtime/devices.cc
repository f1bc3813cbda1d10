// SPDX-License-Identifier: Apache-2.0
// cudaGetDeviceProperties and other queries about devices.
#include <cstring>

#include "injector/simulated_cuda/runtime/call.h"
#include "injector/simulated_cuda/runtime/properties.h"

using namespace vramscope::simulated;

namespace {

// The runtime's own release, as cudaRuntimeGetVersion gives it. PyTorch only compares the major number.
constexpr int kRuntimeVersion = SIMULATED_CUDA_ABI == 12 ? 12040 : 13020;

class Attributes {
 public:
  explicit Attributes(int device) : device_(device) {}
  int operator[](int attribute) const {
    int value = 0;
    TheDriver()->cuDeviceGetAttribute(&value, attribute, device_);
    return value;
  }

 private:
  int device_;
};

void FillLimits(DeviceProperties& to, const Attributes& of) {
  to.shared_memory_per_block = static_cast<size_t>(of[kMaxSharedMemoryPerBlock]);
  to.registers_per_block = of[kMaxRegistersPerBlock];
  to.warp_size = of[kWarpSize];
  to.memory_pitch = static_cast<size_t>(of[kMaxPitch]);
  to.max_threads_per_block = of[kMaxThreadsPerBlock];
  for (int i = 0; i < 3; ++i) {
    to.max_block[i] = of[kMaxBlockDimX + i];
    to.max_grid[i] = of[kMaxGridDimX + i];
  }
  to.total_constant_memory = static_cast<size_t>(of[kTotalConstantMemory]);
  to.texture_alignment = static_cast<size_t>(of[kTextureAlignment]);
  to.texture_pitch_alignment = static_cast<size_t>(of[kTexturePitchAlignment]);
}

void FillMultiprocessor(DeviceProperties& to, const Attributes& of) {
  to.major = of[kComputeCapabilityMajor];
  to.minor = of[kComputeCapabilityMinor];
  to.multiprocessors = of[kMultiprocessorCount];
  to.max_threads_per_multiprocessor = of[kMaxThreadsPerMultiprocessor];
  to.max_blocks_per_multiprocessor = of[kMaxBlocksPerMultiprocessor];
  to.shared_memory_per_multiprocessor = static_cast<size_t>(of[kMaxSharedMemoryPerMultiprocessor]);
  to.shared_memory_per_block_optin = static_cast<size_t>(of[kMaxSharedMemoryPerBlockOptin]);
  to.reserved_shared_memory_per_block = static_cast<size_t>(of[kReservedSharedMemoryPerBlock]);
  to.registers_per_multiprocessor = of[kMaxRegistersPerMultiprocessor];
  to.cooperative_launch = of[kCooperativeLaunch];
  to.cluster_launch = of[kClusterLaunch];
  to.concurrent_kernels = of[kConcurrentKernels];
  to.stream_priorities = of[kStreamPrioritiesSupported];
}

void FillMemory(DeviceProperties& to, const Attributes& of) {
  to.l2_bytes = of[kL2CacheSize];
  to.memory_bus_width = of[kGlobalMemoryBusWidth];
  to.unified_addressing = of[kUnifiedAddressing];
  to.can_map_host_memory = of[kCanMapHostMemory];
  to.managed_memory = of[kManagedMemory];
  to.concurrent_managed_access = of[kConcurrentManagedAccess];
  to.host_pointer_for_registered_memory = of[kCanUseHostPointerForRegisteredMemory];
  to.host_register = of[kHostRegisterSupported];
  to.memory_pools = of[kMemoryPoolsSupported];
  to.async_engines = of[kAsyncEngineCount];
  to.pci_bus = of[kPciBusId];
  to.pci_device = of[kPciDeviceId];
  to.pci_domain = of[kPciDomainId];
#if SIMULATED_CUDA_ABI == 12
  to.clock_rate = of[kClockRate];
  to.memory_clock_rate = of[kMemoryClockRate];
  to.single_to_double_ratio = of[kSingleToDoublePrecisionRatio];
  to.device_overlap = 1;
#endif
}

}  // namespace

SIMULATED_EXPORT int cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  std::memset(static_cast<void*>(properties), 0, sizeof(*properties));
  if (TheDriver() == nullptr) return Keep(kNoDevice);
  if (const int error = TheDriver()->cuDeviceGetName(properties->name, sizeof(properties->name), device))
    return Keep(error == kInvalidValue ? kInvalidDevice : error);
  TheDriver()->cuDeviceGetUuid(&properties->uuid, device);
  TheDriver()->cuDeviceTotalMem(&properties->total_global_memory, device);
  const Attributes attributes(device);
  FillLimits(*properties, attributes);
  FillMultiprocessor(*properties, attributes);
  FillMemory(*properties, attributes);
  return kSuccess;
}

#if SIMULATED_CUDA_ABI == 12
SIMULATED_EXPORT int cudaGetDeviceProperties_v2(DeviceProperties* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}
#endif

SIMULATED_EXPORT int cudaGetDeviceCount(int* count) {
  *count = 0;
  WITH_DRIVER(cuDeviceGetCount(count));
}

SIMULATED_EXPORT int cudaGetDevice(int* device) {
  if (TheDriver() == nullptr) return Keep(kNoDevice);
  *device = RuntimeDevice();
  return kSuccess;
}

SIMULATED_EXPORT int cudaSetDevice(int device) { return Keep(ChooseDevice(device)); }
SIMULATED_EXPORT int cudaInitDevice(int device, unsigned, unsigned) { return Keep(ChooseDevice(device)); }
SIMULATED_EXPORT int cudaSetDeviceFlags(unsigned) { return kSuccess; }
SIMULATED_EXPORT int cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return kSuccess;
}
SIMULATED_EXPORT int cudaDeviceReset() { return kSuccess; }
SIMULATED_EXPORT int cudaDeviceSetCacheConfig(int) { return kSuccess; }
SIMULATED_EXPORT int cudaDeviceSetLimit(int limit, size_t value) { ON_DEVICE(cuCtxSetLimit(limit, value)); }
SIMULATED_EXPORT int cudaDeviceGetLimit(size_t* value, int limit) {
  WITH_DRIVER(cuCtxGetLimit(value, limit));
}
SIMULATED_EXPORT int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  WITH_DRIVER(cuDeviceGetAttribute(value, attribute, device));
}
SIMULATED_EXPORT int cudaDeviceGetPCIBusId(char* text, int capacity, int device) {
  WITH_DRIVER(cuDeviceGetPCIBusId(text, capacity, device));
}
SIMULATED_EXPORT int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  WITH_DRIVER(cuDeviceGetByPCIBusId(device, text));
}
SIMULATED_EXPORT int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  WITH_DRIVER(cuDeviceCanAccessPeer(can, device, peer));
}
SIMULATED_EXPORT int cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  WITH_DRIVER(cuDeviceGetP2PAttribute(value, attribute, from, to));
}
SIMULATED_EXPORT int cudaDeviceEnablePeerAccess(int, unsigned) { return kSuccess; }
SIMULATED_EXPORT int cudaDeviceDisablePeerAccess(int) { return kSuccess; }
SIMULATED_EXPORT int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  WITH_DRIVER(cuCtxGetStreamPriorityRange(least, greatest));
}
SIMULATED_EXPORT int cudaDeviceSynchronize() { ON_DEVICE(cuCtxSynchronize()); }

SIMULATED_EXPORT int cudaDriverGetVersion(int* version) {
  *version = 0;
  if (TheDriver() != nullptr) TheDriver()->cuDriverGetVersion(version);
  return kSuccess;
}

SIMULATED_EXPORT int cudaRuntimeGetVersion(int* version) {
  *version = kRuntimeVersion;
  return kSuccess;
}

SIMULATED_EXPORT int cudaProfilerStart() { return kSuccess; }
SIMULATED_EXPORT int cudaProfilerStop() { return kSuccess; }
