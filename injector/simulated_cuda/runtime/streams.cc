// SPDX-License-Identifier: Apache-2.0
// cudaStream*, cudaEvent*.
#include "injector/simulated_cuda/runtime/call.h"

using namespace vramscope::simulated;

SIMULATED_EXPORT int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  ON_DEVICE(cuStreamCreateWithPriority(stream, flags, priority));
}
SIMULATED_EXPORT int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  ON_DEVICE(cuStreamCreateWithPriority(stream, flags, 0));
}
SIMULATED_EXPORT int cudaStreamCreate(void** stream) { ON_DEVICE(cuStreamCreateWithPriority(stream, 0, 0)); }
SIMULATED_EXPORT int cudaStreamDestroy(void* stream) { ON_DEVICE(cuStreamDestroy(stream)); }
SIMULATED_EXPORT int cudaStreamQuery(void* stream) { ON_DEVICE(cuStreamQuery(stream)); }
SIMULATED_EXPORT int cudaStreamSynchronize(void* stream) { ON_DEVICE(cuStreamSynchronize(stream)); }
SIMULATED_EXPORT int cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
  ON_DEVICE(cuStreamWaitEvent(stream, event, flags));
}
SIMULATED_EXPORT int cudaStreamGetPriority(void* stream, int* priority) {
  ON_DEVICE(cuStreamGetPriority(stream, priority));
}
SIMULATED_EXPORT int cudaStreamGetFlags(void* stream, unsigned* flags) {
  ON_DEVICE(cuStreamGetFlags(stream, flags));
}
SIMULATED_EXPORT int cudaStreamGetId(void* stream, unsigned long long* id) {
  ON_DEVICE(cuStreamGetId(stream, id));
}
SIMULATED_EXPORT int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* argument,
                                           unsigned flags) {
  ON_DEVICE(cuStreamAddCallback(stream, function, argument, flags));
}
SIMULATED_EXPORT int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  ON_DEVICE(cuLaunchHostFunc(stream, function, argument));
}

SIMULATED_EXPORT int cudaEventCreateWithFlags(void** event, unsigned flags) {
  ON_DEVICE(cuEventCreate(event, flags));
}
SIMULATED_EXPORT int cudaEventCreate(void** event) { ON_DEVICE(cuEventCreate(event, 0)); }
SIMULATED_EXPORT int cudaEventDestroy(void* event) { ON_DEVICE(cuEventDestroy(event)); }
SIMULATED_EXPORT int cudaEventRecord(void* event, void* stream) { ON_DEVICE(cuEventRecord(event, stream)); }
SIMULATED_EXPORT int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  ON_DEVICE(cuEventRecord(event, stream));
}
SIMULATED_EXPORT int cudaEventQuery(void* event) { ON_DEVICE(cuEventQuery(event)); }
SIMULATED_EXPORT int cudaEventSynchronize(void* event) { ON_DEVICE(cuEventSynchronize(event)); }
SIMULATED_EXPORT int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  ON_DEVICE(cuEventElapsedTime(milliseconds, start, end));
}
