// SPDX-License-Identifier: Apache-2.0
// NVML as far as PyTorch, pynvml and monitoring scripts use it: the devices and their memory. Everything is
// read from libcuda.so.1.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "injector/simulated_cuda/abi.h"

using namespace vramscope::simulated;

namespace {

constexpr int kOk = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupportedByNvml = 3;
constexpr int kNotFoundByNvml = 6;
constexpr int kInsufficientSize = 7;

template <typename Function>
Function OfDriver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return reinterpret_cast<Function>(driver != nullptr ? dlsym(driver, name) : nullptr);
}

// NVML knows all devices of the machine, regardless of CUDA_VISIBLE_DEVICES.
struct Machine {
  int devices = 0;
  const char* product = "";
  size_t capacity = 0;
};
Machine TheMachine() {
  Machine machine;
  if (const auto ask = OfDriver<int (*)(const char**, size_t*)>("vramscope_simulated_machine"))
    machine.devices = ask(&machine.product, &machine.capacity);
  return machine;
}
int Count() { return TheMachine().devices; }

// A handle is the device's number plus one, so that none is null.
void* HandleOf(int device) { return reinterpret_cast<void*>(static_cast<uintptr_t>(device) + 1); }
int DeviceOf(void* handle) { return static_cast<int>(reinterpret_cast<uintptr_t>(handle)) - 1; }

int Give(void** handle, int device) {
  if (device < 0 || device >= Count()) return kInvalidArgument;
  *handle = HandleOf(device);
  return kOk;
}

struct Memory {
  unsigned long long total, free, used;
};

struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

// What all processes of the run have taken together.
Memory MemoryOf(int device) {
  const size_t total = TheMachine().capacity;
  size_t used = 0;
  if (const auto ask = OfDriver<size_t (*)(int)>("vramscope_simulated_used_bytes")) used = ask(device);
  return {total, total - used, used};
}

// nvmlProcessInfo_v2_t, which _v3 of the function fills too, and the older one without instances.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
struct ProcessInfoV1 {
  unsigned pid;
  unsigned long long used;
};

constexpr size_t kMostProcesses = 128;
constexpr unsigned kNoInstance = 0xffffffff;

// On input, `count` is the room; on output, the number of entries.
template <typename Info, typename Put>
int PutProcesses(void* handle, unsigned* count, Info* infos, Put put) {
  unsigned pids[kMostProcesses];
  size_t bytes[kMostProcesses];
  const auto ask = OfDriver<size_t (*)(int, unsigned*, size_t*, size_t)>("vramscope_simulated_processes");
  const size_t found = ask != nullptr ? ask(DeviceOf(handle), pids, bytes, kMostProcesses) : 0;
  const bool fits = found == 0 || (infos != nullptr && found <= *count);
  for (size_t i = 0; fits && i < found; ++i) infos[i] = put(pids[i], bytes[i]);
  *count = static_cast<unsigned>(found);
  return fits ? kOk : kInsufficientSize;
}

// An attribute of the devices in CUDA; all devices are alike.
int GiveAttribute(int attribute, unsigned* value, unsigned divisor = 1) {
  const auto ask = OfDriver<int (*)(int*, int, int)>("cuDeviceGetAttribute");
  int number = 0;
  if (ask == nullptr || ask(&number, attribute, 0) != kSuccess) return kNotSupportedByNvml;
  *value = static_cast<unsigned>(number) / divisor;
  return kOk;
}

int GiveZero(unsigned* value) {
  *value = 0;
  return kOk;
}

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

void PutUuid(char* text, unsigned capacity, int device) {
  std::snprintf(text, capacity, "GPU-7672616d-7363-6f70-652d-6770752d%04x", device + 1);
}

}  // namespace

SIMULATED_EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned capacity) {
  std::snprintf(text, capacity, "590.00");
  return kOk;
}
SIMULATED_EXPORT int nvmlInit_v2() { return kOk; }
SIMULATED_EXPORT int nvmlInit() { return kOk; }
SIMULATED_EXPORT int nvmlInitWithFlags(unsigned) { return kOk; }
SIMULATED_EXPORT int nvmlShutdown() { return kOk; }
SIMULATED_EXPORT const char* nvmlErrorString(int error) {
  switch (error) {
    case kOk:
      return "Success";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotFoundByNvml:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    default:
      return "Not Supported";
  }
}
SIMULATED_EXPORT int nvmlSystemGetNVMLVersion(char* text, unsigned capacity) {
  return nvmlSystemGetDriverVersion(text, capacity);
}
// The command that the process runs.
SIMULATED_EXPORT int nvmlSystemGetProcessName(unsigned pid, char* text, unsigned capacity) {
  char path[32];
  std::snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
  std::FILE* const file = capacity != 0 ? std::fopen(path, "re") : nullptr;
  if (file == nullptr) return kNotFoundByNvml;
  text[std::fread(text, 1, capacity - 1, file)] = '\0';  // up to the 0 after its first word
  std::fclose(file);
  return kOk;
}

SIMULATED_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  const auto ask = OfDriver<int (*)(int*)>("cuDriverGetVersion");
  return ask != nullptr ? ask(version) : kNotFoundByNvml;
}
SIMULATED_EXPORT int nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

SIMULATED_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(Count());
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }
SIMULATED_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  return Give(handle, static_cast<int>(index));
}
SIMULATED_EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, void** handle) {
  return nvmlDeviceGetHandleByIndex_v2(index, handle);
}
SIMULATED_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return kInvalidArgument;
  return Give(handle, static_cast<int>(bus) - 1);
}
SIMULATED_EXPORT int nvmlDeviceGetHandleByUUID(const char* text, void** handle) {
  for (int device = 0; device < Count(); ++device) {
    char own[80];
    PutUuid(own, sizeof(own), device);
    if (std::strcmp(own, text) == 0) return Give(handle, device);
  }
  return kNotFoundByNvml;
}
SIMULATED_EXPORT int nvmlDeviceGetIndex(void* handle, unsigned* index) {
  *index = static_cast<unsigned>(DeviceOf(handle));
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetName(void* handle, char* text, unsigned capacity) {
  if (DeviceOf(handle) < 0 || DeviceOf(handle) >= Count()) return kInvalidArgument;
  std::snprintf(text, capacity, "%s", TheMachine().product);
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetUUID(void* handle, char* text, unsigned capacity) {
  PutUuid(text, capacity, DeviceOf(handle));
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetPciInfo_v3(void* handle, PciInfo* info) {
  *info = {};
  info->bus = static_cast<unsigned>(DeviceOf(handle)) + 1;
  std::snprintf(info->bus_id, sizeof(info->bus_id), "00000000:%02X:00.0", info->bus);
  std::snprintf(info->legacy_bus_id, sizeof(info->legacy_bus_id), "0000:%02X:00.0", info->bus);
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  *memory = MemoryOf(DeviceOf(handle));
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetMemoryInfo_v2(void* handle, MemoryV2* memory) {
  const Memory seen = MemoryOf(DeviceOf(handle));
  *memory = {memory->version, seen.total, 0, seen.free, seen.used};
  return kOk;
}

SIMULATED_EXPORT int nvmlDeviceGetPciInfo(void* handle, PciInfo* info) {
  return nvmlDeviceGetPciInfo_v3(handle, info);
}
SIMULATED_EXPORT int nvmlDeviceGetPciInfo_v2(void* handle, PciInfo* info) {
  return nvmlDeviceGetPciInfo_v3(handle, info);
}
SIMULATED_EXPORT int nvmlDeviceGetMinorNumber(void* handle, unsigned* number) {
  return nvmlDeviceGetIndex(handle, number);
}
SIMULATED_EXPORT int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  unsigned parts[2] = {};
  const int error = GiveAttribute(kComputeCapabilityMajor, &parts[0]);
  if (error != kOk || GiveAttribute(kComputeCapabilityMinor, &parts[1]) != kOk) return kNotSupportedByNvml;
  *major = static_cast<int>(parts[0]);
  *minor = static_cast<int>(parts[1]);
  return kOk;
}
// NVML_DEVICE_ARCH_*: 5 Volta, 6 Turing, 7 Ampere, 8 Ada, 9 Hopper, 10 Blackwell; 4 Pascal.
SIMULATED_EXPORT int nvmlDeviceGetArchitecture(void* handle, unsigned* architecture) {
  int major = 0, minor = 0;
  if (const int error = nvmlDeviceGetCudaComputeCapability(handle, &major, &minor)) return error;
  constexpr unsigned kAmpere = 7;
  if (major == 8) *architecture = minor == 9 ? kAmpere + 1 : kAmpere;
  if (major == 7) *architecture = minor == 5 ? kAmpere - 1 : kAmpere - 2;
  if (major < 7) *architecture = kAmpere - 3;
  if (major >= 9) *architecture = major == 9 ? kAmpere + 2 : kAmpere + 3;
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetMemoryBusWidth(void*, unsigned* bits) {
  return GiveAttribute(kGlobalMemoryBusWidth, bits);
}
// NVML_CLOCK_MEM is 2, the others are of the core.
SIMULATED_EXPORT int nvmlDeviceGetMaxClockInfo(void*, int which, unsigned* megahertz) {
  constexpr int kMemoryClock = 2;
  return GiveAttribute(which == kMemoryClock ? kMemoryClockRate : kClockRate, megahertz, 1000);
}
SIMULATED_EXPORT int nvmlDeviceGetBAR1MemoryInfo(void* handle, Memory* memory) {
  *memory = {MemoryOf(DeviceOf(handle)).total, MemoryOf(DeviceOf(handle)).total, 0};
  return kOk;
}

// ---- what a simulated device does not have: it is idle and cool, without fans, ECC and MIG

#define NOT_SUPPORTED(name) \
  SIMULATED_EXPORT int name() { return kNotSupportedByNvml; }
NOT_SUPPORTED(nvmlDeviceGetApplicationsClock)
NOT_SUPPORTED(nvmlDeviceGetEccMode)
NOT_SUPPORTED(nvmlDeviceGetEnforcedPowerLimit)
NOT_SUPPORTED(nvmlDeviceGetFanSpeed)
NOT_SUPPORTED(nvmlDeviceGetMemoryErrorCounter)
NOT_SUPPORTED(nvmlDeviceGetMigMode)
NOT_SUPPORTED(nvmlDeviceGetNvLinkState)
NOT_SUPPORTED(nvmlDeviceGetPcieThroughput)
NOT_SUPPORTED(nvmlDeviceGetPowerManagementLimit)
NOT_SUPPORTED(nvmlDeviceGetPowerManagementDefaultLimit)
NOT_SUPPORTED(nvmlDeviceGetProcessUtilization)
NOT_SUPPORTED(nvmlDeviceGetSamples)
NOT_SUPPORTED(nvmlDeviceGetSerial)
NOT_SUPPORTED(nvmlDeviceGetTemperatureThreshold)
NOT_SUPPORTED(nvmlDeviceGetTotalEccErrors)
NOT_SUPPORTED(nvmlDeviceGetTotalEnergyConsumption)
NOT_SUPPORTED(nvmlDeviceGetVbiosVersion)

// A full link of PCIe 4. XLA computes the time of copies with it; memory does not depend on it.
constexpr unsigned kPcieGeneration = 4, kPcieLanes = 16;
#define PCIE_LINK(name, number)                       \
  SIMULATED_EXPORT int name(void*, unsigned* value) { \
    *value = number;                                  \
    return kOk;                                       \
  }
PCIE_LINK(nvmlDeviceGetCurrPcieLinkGeneration, kPcieGeneration)
PCIE_LINK(nvmlDeviceGetCurrPcieLinkWidth, kPcieLanes)
PCIE_LINK(nvmlDeviceGetMaxPcieLinkGeneration, kPcieGeneration)
PCIE_LINK(nvmlDeviceGetMaxPcieLinkWidth, kPcieLanes)

SIMULATED_EXPORT int nvmlDeviceGetBrand(void*, unsigned* brand) { return GiveZero(brand); }
SIMULATED_EXPORT int nvmlDeviceGetComputeMode(void*, unsigned* mode) { return GiveZero(mode); }
SIMULATED_EXPORT int nvmlDeviceGetDisplayActive(void*, unsigned* active) { return GiveZero(active); }
SIMULATED_EXPORT int nvmlDeviceGetDisplayMode(void*, unsigned* mode) { return GiveZero(mode); }
SIMULATED_EXPORT int nvmlDeviceGetPersistenceMode(void*, unsigned* mode) { return GiveZero(mode); }
SIMULATED_EXPORT int nvmlDeviceGetPerformanceState(void*, unsigned* state) { return GiveZero(state); }
SIMULATED_EXPORT int nvmlDeviceGetPowerState(void*, unsigned* state) { return GiveZero(state); }
SIMULATED_EXPORT int nvmlDeviceGetEncoderUtilization(void*, unsigned* percent, unsigned*) {
  return GiveZero(percent);
}
SIMULATED_EXPORT int nvmlDeviceGetDecoderUtilization(void*, unsigned* percent, unsigned*) {
  return GiveZero(percent);
}
SIMULATED_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0;
  return kOk;
}

SIMULATED_EXPORT int nvmlDeviceGetUtilizationRates(void*, unsigned* rates) {
  rates[0] = rates[1] = 0;
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetTemperature(void*, int, unsigned* degrees) {
  *degrees = 30;
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 0;
  return kOk;
}
SIMULATED_EXPORT int nvmlDeviceGetClockInfo(void*, int, unsigned* megahertz) { return GiveZero(megahertz); }
SIMULATED_EXPORT int nvmlDeviceGetClock(void*, int, int, unsigned* megahertz) { return GiveZero(megahertz); }
SIMULATED_EXPORT int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned* count,
                                                          ProcessInfoV1* infos) {
  return PutProcesses(handle, count, infos, [](unsigned pid, size_t bytes) {
    return ProcessInfoV1{pid, bytes};
  });
}
SIMULATED_EXPORT int nvmlDeviceGetComputeRunningProcesses_v2(void* handle, unsigned* count,
                                                             ProcessInfo* infos) {
  return PutProcesses(handle, count, infos, [](unsigned pid, size_t bytes) {
    return ProcessInfo{pid, bytes, kNoInstance, kNoInstance};
  });
}
SIMULATED_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count,
                                                             ProcessInfo* infos) {
  return nvmlDeviceGetComputeRunningProcesses_v2(handle, count, infos);
}

#define NO_PROCESSES(name)                                   \
  SIMULATED_EXPORT int name(void*, unsigned* count, void*) { \
    *count = 0;                                              \
    return kOk;                                              \
  }
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)

SIMULATED_EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) {
  return kNotSupportedByNvml;
}
SIMULATED_EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, PciInfo*) {
  return kNotSupportedByNvml;
}
SIMULATED_EXPORT int nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
  *status = 0;  // fine
  return kOk;
}
// "Not supported" would make PyTorch print a warning on compute capability 9.0. State 0 means that there is
// no fabric.
SIMULATED_EXPORT int nvmlDeviceGetGpuFabricInfoV(void*, unsigned char* information) {
  constexpr size_t kAfterVersion = 4, kClusterUuidAndStatus = 28;
  std::memset(information + kAfterVersion, 0, kClusterUuidAndStatus);
  return kOk;
}
