// SPDX-License-Identifier: Apache-2.0
// cuBLAS. A handle stores its settings, because PyTorch sets them, runs a product, and restores the values it
// read before.
#include <dlfcn.h>

#include <cstddef>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/overheads.h"

namespace {

struct Handle {
  void* stream = nullptr;
  int pointer_mode = 0;
  int atomics_mode = 0;
  int math_mode = 0;
};

constexpr int kVersion = 130000;  // of CUDA 13.0's cuBLAS; wheels only print it
constexpr int kOk = 0;
constexpr int kAllocationFailed = 3;

// The device memory of the kernels of cuBLAS and cuDNN that a program uses (overheads.def), charged to one
// function.
bool LoadKernels() {
  using Announce = void (*)(const void*, const char*, size_t, const void*);
  using Load = int (*)(void*);
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  static const auto announce = reinterpret_cast<Announce>(dlsym(driver, "vramscope_simulated_code"));
  static const auto load = reinterpret_cast<Load>(dlsym(driver, "cuFuncLoad"));
  constexpr size_t kBytes = vramscope::simulated::kLibraryCodeMib << 20;
  static int kernels = 0;
  if (announce == nullptr || load == nullptr) return true;
  announce(&kernels, "cublasCreate", kBytes, reinterpret_cast<const void*>(&LoadKernels));
  return load(&kernels) == vramscope::simulated::kSuccess;
}

}  // namespace

SIMULATED_EXPORT int cublasCreate_v2(Handle** handle) {
  if (!LoadKernels()) return kAllocationFailed;
  *handle = new Handle;
  return kOk;
}
SIMULATED_EXPORT int cublasDestroy_v2(Handle* handle) {
  delete handle;
  return kOk;
}
SIMULATED_EXPORT int cublasSetStream_v2(Handle* handle, void* stream) {
  handle->stream = stream;
  return kOk;
}
SIMULATED_EXPORT int cublasGetStream_v2(Handle* handle, void** stream) {
  *stream = handle->stream;
  return kOk;
}
SIMULATED_EXPORT int cublasSetPointerMode_v2(Handle* handle, int mode) {
  handle->pointer_mode = mode;
  return kOk;
}
SIMULATED_EXPORT int cublasGetPointerMode_v2(Handle* handle, int* mode) {
  *mode = handle->pointer_mode;
  return kOk;
}
SIMULATED_EXPORT int cublasSetAtomicsMode(Handle* handle, int mode) {
  handle->atomics_mode = mode;
  return kOk;
}
SIMULATED_EXPORT int cublasGetAtomicsMode(Handle* handle, int* mode) {
  *mode = handle->atomics_mode;
  return kOk;
}
SIMULATED_EXPORT int cublasSetMathMode(Handle* handle, int mode) {
  handle->math_mode = mode;
  return kOk;
}
SIMULATED_EXPORT int cublasGetMathMode(Handle* handle, int* mode) {
  *mode = handle->math_mode;
  return kOk;
}
// The workspace is the caller's own allocation and already counted.
SIMULATED_EXPORT int cublasSetWorkspace_v2(Handle*, void*, size_t) { return kOk; }
SIMULATED_EXPORT int cublasGetVersion_v2(Handle*, int* version) {
  *version = kVersion;
  return kOk;
}
SIMULATED_EXPORT const char* cublasGetStatusString(int) { return "CUBLAS_STATUS_SUCCESS"; }
SIMULATED_EXPORT const char* cublasGetStatusName(int) { return "CUBLAS_STATUS_SUCCESS"; }
