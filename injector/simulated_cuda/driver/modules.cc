// SPDX-License-Identifier: Apache-2.0
// Modules, functions and launches. Only the size of code matters: a function is a name, and a launch is a
// step of the clock.
#include <cstring>

#include "injector/simulated_cuda/device/code_image.h"
#include "injector/simulated_cuda/driver/code.h"
#include "injector/simulated_cuda/driver/context.h"

using namespace vramscope::simulated;

namespace {

// What the handle of a module or library points to.
struct Code {
  LedgerRow* row;  // nullptr: it lies in blocks shared with other code
  int device;
};
// What any handle of a function or linker points to: one serves them all.
Code code;

template <typename Handle>
int Give(Handle** handle) {
  *handle = reinterpret_cast<Handle*>(&code);
  return kSuccess;
}

// A module of the size in the settings, for tests: freed when it is unloaded.
int LoadFixed(void** module, uint64_t bytes, const Origin& origin) {
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  LedgerRow* const row = DeviceNumber(device).TakePhysical(bytes, {"module", origin.caller});
  if (row == nullptr) return kOutOfMemory;
  *module = new Code{row, device};
  return kSuccess;
}

// A module takes its code when loaded and keeps it: unloading one module frees no shared block.
int Load(void** module, const void* image, const Origin& origin) {
  if (const uint64_t bytes = TheSettings().module; bytes != 0) return LoadFixed(module, bytes, origin);
  const Gpu& gpu = *TheSettings().gpu;
  const uint64_t bytes = image == nullptr ? 0 : LoadedBytes(image, gpu.major * 10 + gpu.minor);
  if (bytes != 0 && CurrentDevice() >= 0) {
    if (const int error = LoadCode(bytes, origin.caller)) return error;
  }
  *module = new Code{nullptr, 0};
  return kSuccess;
}
#define SIMULATED_LOAD(module, image) Load(module, image, SIMULATED_ORIGIN())

int Unload(void* handle) {
  auto* const loaded = static_cast<Code*>(handle);
  if (loaded == &code || loaded == nullptr) return kSuccess;
  if (loaded->row != nullptr) DeviceNumber(loaded->device).GivePhysical(loaded->row, TheSettings().module);
  delete loaded;
  return kSuccess;
}

// CU_FUNC_ATTRIBUTE_*
int FunctionAttribute(int attribute) {
  enum { kMaxThreads = 0, kRegisters = 4, kPtxVersion = 5, kBinaryVersion = 6, kMaxDynamicShared = 8 };
  const Gpu& gpu = *TheSettings().gpu;
  switch (attribute) {
    case kMaxThreads:
      return 1024;
    case kRegisters:
      return 32;
    case kPtxVersion:
    case kBinaryVersion:
      return gpu.major * 10 + gpu.minor;
    case kMaxDynamicShared:
      return 48 * 1024;
    default:
      return 0;
  }
}

// A module's variable. Its size is in the code, which is not read. One granule holds any variable that
// PyTorch and Triton request.
int Variable(DevicePointer* pointer, size_t* bytes, const Origin& origin) {
  static DevicePointer variables[kMaxDevices];
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  if (variables[device] == 0) {
    const int error = DeviceNumber(device).Allocate(kGranule, origin, &variables[device]);
    if (error != kSuccess) return error;
  }
  if (pointer != nullptr) *pointer = variables[device];
  if (bytes != nullptr) *bytes = 4096;
  return kSuccess;
}

int Launch(const void* function, void* stream) {
  if (const int error = LoadFunction(function)) return error;
  return TheStreams().Issue(StreamOf(stream), NodeType::kKernel);
}

// CUlaunchConfig as far as it is read.
struct LaunchConfiguration {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
};

}  // namespace

SIMULATED_EXPORT int cuModuleLoad(void** module, const char*) { return SIMULATED_LOAD(module, nullptr); }
SIMULATED_EXPORT int cuModuleLoadData(void** module, const void* image) {
  return SIMULATED_LOAD(module, image);
}
SIMULATED_EXPORT int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return SIMULATED_LOAD(module, image);
}
SIMULATED_EXPORT int cuModuleLoadFatBinary(void** module, const void* image) {
  return SIMULATED_LOAD(module, image);
}
SIMULATED_EXPORT int cuModuleUnload(void* module) { return Unload(module); }
SIMULATED_EXPORT int cuModuleGetFunction(void** function, void*, const char*) { return Give(function); }
SIMULATED_EXPORT int cuModuleGetGlobal_v2(DevicePointer* pointer, size_t* bytes, void*, const char*) {
  return Variable(pointer, bytes, SIMULATED_ORIGIN());
}
SIMULATED_EXPORT int cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // lazy
  return kSuccess;
}

SIMULATED_EXPORT int cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned, int*,
                                       void**, unsigned) {
  return SIMULATED_LOAD(library, image);
}
SIMULATED_EXPORT int cuLibraryLoadFromFile(void** library, const char*, int*, void**, unsigned, int*, void**,
                                           unsigned) {
  return SIMULATED_LOAD(library, nullptr);
}
SIMULATED_EXPORT int cuLibraryUnload(void* library) { return Unload(library); }
SIMULATED_EXPORT int cuLibraryGetKernel(void** kernel, void*, const char*) { return Give(kernel); }
SIMULATED_EXPORT int cuLibraryGetModule(void** module, void*) { return Give(module); }
SIMULATED_EXPORT int cuLibraryGetGlobal(DevicePointer* pointer, size_t* bytes, void*, const char*) {
  return Variable(pointer, bytes, SIMULATED_ORIGIN());
}
SIMULATED_EXPORT int cuKernelGetFunction(void** function, void* kernel) {
  *function = kernel;
  return LoadFunction(kernel);
}
SIMULATED_EXPORT int cuKernelGetAttribute(int* value, int attribute, void* kernel, int) {
  *value = FunctionAttribute(attribute);
  return LoadFunction(kernel);
}
SIMULATED_EXPORT int cuKernelSetAttribute(int, int, void* kernel, int) { return LoadFunction(kernel); }

SIMULATED_EXPORT int cuLinkCreate_v2(unsigned, int*, void**, void** linker) { return Give(linker); }
SIMULATED_EXPORT int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, int*, void**) {
  return kSuccess;
}
SIMULATED_EXPORT int cuLinkAddFile_v2(void*, int, const char*, unsigned, int*, void**) { return kSuccess; }
SIMULATED_EXPORT int cuLinkComplete(void*, void** image, size_t* bytes) {
  *bytes = sizeof(code);
  return Give(image);
}
SIMULATED_EXPORT int cuLinkDestroy(void*) { return kSuccess; }

SIMULATED_EXPORT int cuFuncGetAttribute(int* value, int attribute, void* function) {
  *value = FunctionAttribute(attribute);
  return LoadFunction(function);
}
SIMULATED_EXPORT int cuFuncLoad(void* function) { return LoadFunction(function); }
SIMULATED_EXPORT int cuFuncSetAttribute(void* function, int, int) { return LoadFunction(function); }
SIMULATED_EXPORT int cuFuncSetCacheConfig(void*, int) { return kSuccess; }
SIMULATED_EXPORT int cuFuncSetSharedMemConfig(void*, int) { return kSuccess; }
SIMULATED_EXPORT int cuFuncGetModule(void** module, void*) { return Give(module); }

SIMULATED_EXPORT int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    unsigned, unsigned, void* stream, void**, void**) {
  return Launch(function, stream);
}
SIMULATED_EXPORT int cuLaunchCooperativeKernel(void* function, unsigned, unsigned, unsigned, unsigned,
                                               unsigned, unsigned, unsigned, void* stream, void**) {
  return Launch(function, stream);
}
SIMULATED_EXPORT int cuLaunchKernelEx(const LaunchConfiguration* configuration, void* function, void**,
                                      void**) {
  return Launch(function, configuration->stream);
}

SIMULATED_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function,
                                                                          int block_size, size_t shared_bytes,
                                                                          unsigned) {
  *blocks = ResidentBlocks(*TheSettings().gpu, block_size, shared_bytes);
  return LoadFunction(function);
}
SIMULATED_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int block_size,
                                                                 size_t shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes, 0);
}
SIMULATED_EXPORT int cuOccupancyMaxActiveClusters(int* clusters, void* function, const LaunchConfiguration*) {
  *clusters = 1;
  return LoadFunction(function);
}
SIMULATED_EXPORT int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void*, size_t (*)(int), size_t,
                                                      int) {
  *grid = TheSettings().gpu->multiprocessors;
  *block = 1024;
  return kSuccess;
}

// A CUtensorMap is 128 opaque bytes that only kernels read.
SIMULATED_EXPORT int cuTensorMapEncodeTiled(void* map) {
  std::memset(map, 0, 128);
  return kSuccess;
}
SIMULATED_EXPORT int cuTensorMapEncodeIm2col(void* map) { return cuTensorMapEncodeTiled(map); }

SIMULATED_EXPORT int cuProfilerStart() { return kSuccess; }
SIMULATED_EXPORT int cuProfilerStop() { return kSuccess; }
