// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_device.h"

#include <dlfcn.h>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated::cudnn {
namespace {

uint64_t DeviceMemory() {
  using Ask = int (*)(size_t*, int);
  const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "cuDeviceTotalMem_v2"));
  size_t bytes = 0;
  if (ask != nullptr) ask(&bytes, 0);
  return bytes;
}

}  // namespace

int DeviceAttribute(int attribute) {
  using Ask = int (*)(int*, int, int);
  static const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "cuDeviceGetAttribute"));
  int value = 0;
  if (ask != nullptr) ask(&value, attribute, 0);
  return value;
}

int ComputeCapability() {
  return DeviceAttribute(kComputeCapabilityMajor) * 10 + DeviceAttribute(kComputeCapabilityMinor);
}

std::string DeviceJson() {
  constexpr int kDriverOfCuda13 = 13000;  // new enough for every GPU
  struct Field {
    const char* name;
    int attribute;
  };
  constexpr Field kFields[] = {{"multiProcessorCount", kMultiprocessorCount},
                               {"warpSize", kWarpSize},
                               {"maxSharedMemoryPerBlock", kMaxSharedMemoryPerBlock},
                               {"maxSharedMemoryPerBlockOptin", kMaxSharedMemoryPerBlockOptin},
                               {"reservedSharedMemoryPerBlock", kReservedSharedMemoryPerBlock},
                               {"maxRegistersPerSM", kMaxRegistersPerMultiprocessor},
                               {"maxCtasPerSM", kMaxBlocksPerMultiprocessor},
                               {"maxThreadsPerBlock", kMaxThreadsPerBlock},
                               {"maxThreadsPerSM", kMaxThreadsPerMultiprocessor},
                               {"regsPerBlock", kMaxRegistersPerBlock},
                               {"smClockRateKHz", kClockRate},
                               {"memClockRateKHz", kMemoryClockRate},
                               {"l2CacheSize", kL2CacheSize},
                               {"supportCoopLaunch", kCooperativeLaunch}};
  std::string json = "{\"deviceVer\":" + std::to_string(ComputeCapability() * 10);
  for (const Field& field : kFields)
    json += ",\"" + std::string(field.name) + "\":" + std::to_string(DeviceAttribute(field.attribute));
  for (const auto& [name, first] : {Field{"maxBlockSize", kMaxBlockDimX}, Field{"maxGridSize", kMaxGridDimX}})
    json += ",\"" + std::string(name) + "\":[" + std::to_string(DeviceAttribute(first)) + "," +
            std::to_string(DeviceAttribute(first + 1)) + "," + std::to_string(DeviceAttribute(first + 2)) +
            "]";
  json += ",\"totalGlobalMem\":" + std::to_string(DeviceMemory());
  json += ",\"driverVer\":" + std::to_string(kDriverOfCuda13);
  return json + R"(,"pciDeviceId":0,"isTccDriver":0,"cudaDeviceId":0,"deviceName":""})";
}

}  // namespace vramscope::simulated::cudnn
