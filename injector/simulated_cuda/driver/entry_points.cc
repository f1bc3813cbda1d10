// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress: functions of this library by the names that the documentation uses, without version
// suffixes.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "injector/simulated_cuda/abi.h"

using namespace vramscope::simulated;

namespace {

// CUdriverProcAddressQueryResult
enum QueryResult : int { kFound = 0, kSymbolNotFound = 1 };

void* OwnSymbol(const char* name, const char* suffix) {
  char full[128];
  std::snprintf(full, sizeof(full), "%s%s", name, suffix);
  static void* const self = [] {
    Dl_info info;
    return dladdr(reinterpret_cast<const void*>(&OwnSymbol), &info) != 0
               ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
               : nullptr;
  }();
  return self != nullptr ? dlsym(self, full) : nullptr;
}

// The newest form that a program compiled for `cuda_version` knows. All our forms with a suffix are older
// than CUDA 12, except these.
void* Newest(const char* name, int cuda_version) {
  const bool knows_edges = cuda_version >= 12030;
  if (knows_edges && std::strcmp(name, "cuStreamGetCaptureInfo") == 0) return OwnSymbol(name, "_v3");
  if (!knows_edges && std::strcmp(name, "cuGraphAddNode") == 0) return OwnSymbol(name, "");
  if (std::strcmp(name, "cuCtxCreate") == 0 && cuda_version >= 11040)
    return OwnSymbol(name, cuda_version >= 12050 ? "_v4" : "_v3");
  if (!knows_edges && std::strcmp(name, "cuStreamUpdateCaptureDependencies") == 0) return OwnSymbol(name, "");
  if (void* const found = OwnSymbol(name, "_v2")) return found;
  return OwnSymbol(name, "");
}

}  // namespace

SIMULATED_EXPORT int cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                         uint64_t flags, int* status) {
  constexpr uint64_t kPerThreadStream = 2;
  *function = (flags & kPerThreadStream) != 0 ? OwnSymbol(symbol, "_ptsz") : nullptr;
  if (*function == nullptr) *function = Newest(symbol, cuda_version);
  if (status != nullptr) *status = *function != nullptr ? kFound : kSymbolNotFound;
  return *function != nullptr ? kSuccess : kNotFound;
}

SIMULATED_EXPORT int cuGetProcAddress(const char* symbol, void** function, int cuda_version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, cuda_version, flags, nullptr);
}

// Private tables for NVIDIA's own libraries, none of which is here to request them.
SIMULATED_EXPORT int cuGetExportTable(const void** table, const Uuid*) {
  *table = nullptr;
  return kNotFound;
}

// Functions that c10 and others look up although no simulated device has them. They test for the error, not
// for the name.
#define NOT_SUPPORTED(name) \
  SIMULATED_EXPORT int name() { return kNotSupported; }
NOT_SUPPORTED(cuMulticastCreate)
NOT_SUPPORTED(cuMulticastAddDevice)
NOT_SUPPORTED(cuMulticastBindMem)
NOT_SUPPORTED(cuMulticastBindAddr)
NOT_SUPPORTED(cuMulticastUnbind)
NOT_SUPPORTED(cuMulticastGetGranularity)
NOT_SUPPORTED(cuCtxFromGreenCtx)
NOT_SUPPORTED(cuDevResourceGenerateDesc)
NOT_SUPPORTED(cuDevSmResourceSplitByCount)
NOT_SUPPORTED(cuDeviceGetDevResource)
NOT_SUPPORTED(cuGreenCtxCreate)
NOT_SUPPORTED(cuGreenCtxDestroy)
NOT_SUPPORTED(cuGreenCtxStreamCreate)
NOT_SUPPORTED(cuLogsRegisterCallback)
NOT_SUPPORTED(cuLogsUnregisterCallback)
NOT_SUPPORTED(cuStreamBatchMemOp)
NOT_SUPPORTED(cuMemPoolExportToShareableHandle)
NOT_SUPPORTED(cuMemPoolImportFromShareableHandle)
NOT_SUPPORTED(cuMemPoolImportPointer)
NOT_SUPPORTED(cuMemGetHandleForAddressRange)
