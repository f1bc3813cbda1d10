// SPDX-License-Identifier: Apache-2.0
// The functions that nvcc's generated code calls at start-up and for <<<...>>>, and queries about kernels. A
// kernel is identified by its host function.
#include <cstring>

#include "injector/simulated_cuda/runtime/call.h"
#include "injector/simulated_cuda/runtime/fat_binary.h"
#include "injector/simulated_cuda/runtime/host_reads.h"
#include "injector/simulated_cuda/runtime/kernel_code.h"
#include "injector/simulated_cuda/runtime/kernel_registers.h"
#include "injector/simulated_cuda/runtime/registry.h"

using namespace vramscope::simulated;

namespace {

struct Dim3 {
  unsigned x, y, z;
};

struct Configuration {
  Dim3 grid, block;
  size_t shared_bytes;
  void* stream;
};

// <<<...>>> pushes and the kernel's stub pops at once; nested only by arguments that launch kernels
// themselves.
constexpr int kMostPushed = 16;
thread_local Configuration pushed[kMostPushed];
thread_local int pushed_count = 0;

int Launch(const void* function, const Dim3& grid, const Dim3& block, void** arguments, size_t shared_bytes,
           void* stream) {
  NoteLaunch(function, arguments);
  if (const int error = AnnounceKernel(function)) return Keep(error);
  ON_DEVICE(cuLaunchKernel(const_cast<void*>(function), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                           static_cast<unsigned>(shared_bytes), stream, nullptr, nullptr));
}

// cudaLaunchConfig_t as far as it is read.
struct LaunchConfiguration {
  Dim3 grid, block;
  size_t shared_bytes;
  void* stream;
};

struct FunctionAttributes {
  size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared_bytes,
      shared_carveout;
  int cluster[6];
  int reserved[16];
};
static_assert(sizeof(FunctionAttributes) == 144);

// The target of library handles: never read.
int library_handle = 0;

}  // namespace

// ---- registration

// The handle of a module is its fat binary's wrapper.
SIMULATED_EXPORT void** __cudaRegisterFatBinary(void* wrapper) { return static_cast<void**>(wrapper); }
SIMULATED_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
SIMULATED_EXPORT void __cudaUnregisterFatBinary(void**) {}
SIMULATED_EXPORT char __cudaInitModule(void**) { return 1; }
SIMULATED_EXPORT void __cudaRegisterFunction(void** module, const char* host, char*, const char* name, int,
                                             void*, void*, void*, void*, int*) {
  NoteKernel(host, module, name);
}
SIMULATED_EXPORT void __cudaRegisterTexture() {}
SIMULATED_EXPORT void __cudaRegisterSurface() {}

SIMULATED_EXPORT void __cudaRegisterVar(void**, char* host, char*, const char*, int, size_t bytes, int, int) {
  NoteVariable(host, bytes);
}

// A managed variable is accessed through a pointer that the runtime sets; here the host's own copy serves
// both sides.
SIMULATED_EXPORT void __cudaRegisterManagedVar(void**, void** pointer, char* host, const char*, int, size_t,
                                               int, int) {
  *pointer = host;
}

SIMULATED_EXPORT int cudaGetSymbolAddress(void** pointer, const void* symbol) {
  SIMULATED_CALL();
  size_t bytes = 0;
  return Keep(FindVariable(symbol, reinterpret_cast<uint64_t*>(pointer), &bytes));
}

SIMULATED_EXPORT int cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  SIMULATED_CALL();
  uint64_t address = 0;
  return Keep(FindVariable(symbol, &address, bytes));
}

SIMULATED_EXPORT int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                             size_t offset, int, void* stream) {
  SIMULATED_CALL();
  uint64_t address = 0;
  size_t size = 0;
  if (const int error = FindVariable(symbol, &address, &size)) return Keep(error);
  ON_DEVICE(cuMemcpyAsync(address + offset, Address(from), bytes, stream));
}

SIMULATED_EXPORT int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                                        int kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
}

// ---- launches

SIMULATED_EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes,
                                                      void* stream) {
  if (pushed_count == kMostPushed) return 1;
  pushed[pushed_count++] = {grid, block, shared_bytes, stream};
  return 0;
}

SIMULATED_EXPORT int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes,
                                                void** stream) {
  if (pushed_count == 0) return Keep(kInvalidValue);
  const Configuration& last = pushed[--pushed_count];
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  return kSuccess;
}

SIMULATED_EXPORT int __cudaGetKernel(void** kernel, const void* function) {
  *kernel = const_cast<void*>(function);
  return kSuccess;
}
SIMULATED_EXPORT int cudaGetKernel(void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}
SIMULATED_EXPORT int cudaGetFuncBySymbol(void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

SIMULATED_EXPORT int cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments,
                                      size_t shared_bytes, void* stream) {
  return Launch(function, grid, block, arguments, shared_bytes, stream);
}
SIMULATED_EXPORT int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                        size_t shared_bytes, void* stream) {
  return Launch(kernel, grid, block, arguments, shared_bytes, stream);
}
SIMULATED_EXPORT int cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block,
                                                 void** arguments, size_t shared_bytes, void* stream) {
  return Launch(function, grid, block, arguments, shared_bytes, stream);
}
SIMULATED_EXPORT int cudaLaunchKernelExC(const LaunchConfiguration* configuration, const void* function,
                                         void** arguments) {
  return Launch(function, configuration->grid, configuration->block, arguments, configuration->shared_bytes,
                configuration->stream);
}

// ---- queries

SIMULATED_EXPORT int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  constexpr int kMaxThreads = 0, kRegisters = 4, kMaxDynamicShared = 8;
  std::memset(attributes, 0, sizeof(*attributes));
  if (TheDriver() == nullptr) return Keep(kNoDevice);
  int major = 0, minor = 0;
  TheDriver()->cuDeviceGetAttribute(&major, kComputeCapabilityMajor, RuntimeDevice());
  TheDriver()->cuDeviceGetAttribute(&minor, kComputeCapabilityMinor, RuntimeDevice());
  const KernelVersion version = BestVersion(ModuleOf(function), major * 10 + minor);
  if (version.ptx == 0) return Keep(kNoKernelImage);
  int error = AnnounceKernel(function);
  const auto ask = [&](int attribute, int* value) {
    if (error != kSuccess) return;
    error = TheDriver()->cuFuncGetAttribute(value, attribute, const_cast<void*>(function));
  };
  ask(kMaxThreads, &attributes->max_threads);
  ask(kRegisters, &attributes->registers);
  ask(kMaxDynamicShared, &attributes->max_dynamic_shared_bytes);
  if (error != kSuccess) return Keep(error);
  attributes->ptx_version = version.ptx;
  attributes->binary_version = version.binary;
  return kSuccess;
}
SIMULATED_EXPORT int cudaFuncSetAttribute(const void*, int, int) { return kSuccess; }
SIMULATED_EXPORT int cudaFuncSetCacheConfig(const void*, int) { return kSuccess; }
SIMULATED_EXPORT int cudaKernelSetAttributeForDevice(void*, int, int, int) { return kSuccess; }

SIMULATED_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                            int block_size,
                                                                            size_t shared_bytes,
                                                                            unsigned flags) {
  if (const int no_device = UseDevice()) return Keep(no_device);
  const int error = TheDriver()->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, const_cast<void*>(function), block_size, shared_bytes, flags);
  if (error == kSuccess && TakesAllRegisters(KernelName(function))) *blocks = 1;
  return Keep(error);
}
SIMULATED_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                   int block_size, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes,
                                                                0);
}
SIMULATED_EXPORT int cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                    const void* configuration) {
  ON_DEVICE(cuOccupancyMaxActiveClusters(clusters, const_cast<void*>(function), configuration));
}
SIMULATED_EXPORT int cudaOccupancyMaxPotentialClusterSize(int* size, const void*, const void*) {
  *size = 8;  // the largest portable one
  return kSuccess;
}

// ---- libraries of kernels: all libraries and kernels share one handle, which is never read

SIMULATED_EXPORT int cudaLibraryLoadData(void** library) {
  *library = &library_handle;
  return kSuccess;
}
SIMULATED_EXPORT int cudaLibraryLoadFromFile(void** library) { return cudaLibraryLoadData(library); }
SIMULATED_EXPORT int cudaLibraryGetKernel(void** kernel) { return cudaLibraryLoadData(kernel); }
SIMULATED_EXPORT int cudaLibraryGetKernelCount(unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}
SIMULATED_EXPORT int cudaLibraryGetGlobal() { return Keep(kNotFound); }
SIMULATED_EXPORT int cudaLibraryGetManaged() { return Keep(kNotFound); }
SIMULATED_EXPORT int cudaLibraryGetUnifiedFunction() { return Keep(kNotFound); }
SIMULATED_EXPORT int cudaLibraryUnload(void*) { return kSuccess; }
