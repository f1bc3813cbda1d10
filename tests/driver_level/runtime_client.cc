// SPDX-License-Identifier: Apache-2.0
// A library that takes device memory through the CUDA runtime it was linked to, or through the driver. With
// OpenMP, from all threads of a parallel region at once.
#include <cstddef>
#include <cstdint>

#ifdef LINKED_TO_THE_DRIVER
extern "C" int cuInit(unsigned);
extern "C" int cuDevicePrimaryCtxRetain(void** context, int device);
extern "C" int cuCtxSetCurrent(void* context);
extern "C" int cuMemAlloc_v2(uint64_t* pointer, size_t bytes);
extern "C" int cuMemFree_v2(uint64_t pointer);

static int cudaMalloc(void** pointer, size_t bytes) {
  static void* context = nullptr;
  if (context == nullptr && (cuInit(0) != 0 || cuDevicePrimaryCtxRetain(&context, 0) != 0)) return 3;
  cuCtxSetCurrent(context);
  return cuMemAlloc_v2(reinterpret_cast<uint64_t*>(pointer), bytes);
}
static int cudaFree(void* pointer) { return cuMemFree_v2(reinterpret_cast<uint64_t>(pointer)); }
#else
extern "C" int cudaMalloc(void** pointer, size_t bytes);
extern "C" int cudaFree(void* pointer);
#endif

// Allocates `bytes` and keeps them; then ten times allocates as much again and frees it.
extern "C" __attribute__((visibility("default"))) int client_takes(size_t bytes) {
  void *kept = nullptr, *other = nullptr;
  if (cudaMalloc(&kept, bytes) != 0) return 1;
  int failed = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(4) private(other) reduction(+ : failed)
#endif
  for (int i = 0; i < 10; ++i) failed += cudaMalloc(&other, bytes) != 0 || cudaFree(other) != 0;
  return failed == 0 ? 0 : 2;
}
