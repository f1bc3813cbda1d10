// SPDX-License-Identifier: Apache-2.0
// cuStream*, cuEvent*, cuLaunchHostFunc.
#include "injector/simulated_cuda/device/streams.h"

#include <cstring>

#include "injector/simulated_cuda/driver/context.h"

using namespace vramscope::simulated;

SIMULATED_EXPORT int cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  *stream = TheStreams().Create(device, flags, priority);
  return kSuccess;
}

SIMULATED_EXPORT int cuStreamCreate(Stream** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
SIMULATED_EXPORT int cuStreamDestroy_v2(Stream* stream) { return TheStreams().Destroy(stream); }
SIMULATED_EXPORT int cuStreamQuery(void* stream) { return TheStreams().Query(StreamOf(stream)); }
SIMULATED_EXPORT int cuStreamSynchronize(void* stream) { return TheStreams().Synchronize(StreamOf(stream)); }
SIMULATED_EXPORT int cuStreamWaitEvent(void* stream, Event* event, unsigned) {
  return TheStreams().Wait(StreamOf(stream), event);
}

SIMULATED_EXPORT int cuStreamGetPriority(void* stream, int* priority) {
  *priority = StreamOf(stream)->priority;
  return kSuccess;
}

SIMULATED_EXPORT int cuStreamGetFlags(void* stream, unsigned* flags) {
  *flags = StreamOf(stream)->flags;
  return kSuccess;
}

SIMULATED_EXPORT int cuStreamGetId(void* stream, unsigned long long* id) {
  *id = StreamOf(stream)->id;
  return kSuccess;
}

SIMULATED_EXPORT int cuStreamGetDevice(void* stream, int* device) {
  *device = StreamOf(stream)->device;
  return kSuccess;
}

SIMULATED_EXPORT int cuStreamGetCtx(void* stream, Context** context) {
  return ActivateDevice(StreamOf(stream)->device, context);
}

SIMULATED_EXPORT int cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  Stream* const target = StreamOf(stream);
  const bool capturing = TheStreams().CaptureOf(target).status != CaptureStatus::kNone;
  if (const int error = TheStreams().Issue(target, NodeType::kHost)) return error;
  if (!capturing) function(argument);
  return kSuccess;
}

SIMULATED_EXPORT int cuStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* argument,
                                         unsigned) {
  if (const int error = TheStreams().Issue(StreamOf(stream), NodeType::kHost)) return error;
  function(stream, kSuccess, argument);
  return kSuccess;
}

SIMULATED_EXPORT int cuStreamWriteValue32_v2(void* stream, DevicePointer pointer, uint32_t value, unsigned) {
  if (const int error = TheStreams().Issue(StreamOf(stream), NodeType::kSet)) return error;
  const int device = DeviceOf(pointer);
  if (device >= 0) DeviceNumber(device).region().MarkWritten(pointer, sizeof(value));
  *reinterpret_cast<volatile uint32_t*>(pointer) = value;
  return kSuccess;
}

// No kernel would ever write the value: the wait counts as over.
SIMULATED_EXPORT int cuStreamWaitValue32_v2(void* stream, DevicePointer, uint32_t, unsigned) {
  return TheStreams().Issue(StreamOf(stream), NodeType::kEmpty);
}

// ---- events

namespace {

constexpr char kEventMark[] = "vramscope-simulated-event";

}  // namespace

SIMULATED_EXPORT int cuEventCreate(Event** event, unsigned flags) {
  *event = new Event;
  (*event)->flags = flags;
  return kSuccess;
}

SIMULATED_EXPORT int cuEventDestroy_v2(Event* event) {
  delete event;
  return kSuccess;
}

SIMULATED_EXPORT int cuEventRecord(Event* event, void* stream) {
  return TheStreams().Record(event, StreamOf(stream));
}
SIMULATED_EXPORT int cuEventRecordWithFlags(Event* event, void* stream, unsigned) {
  return TheStreams().Record(event, StreamOf(stream));
}
SIMULATED_EXPORT int cuEventQuery(Event* event) { return TheStreams().QueryEvent(event); }
SIMULATED_EXPORT int cuEventSynchronize(Event* event) { return TheStreams().SynchronizeEvent(event); }

// An event of another process. Work is counted, not timed, and every process has its own count: work that the
// other process had issued counts as done.
SIMULATED_EXPORT int cuIpcGetEventHandle(IpcHandle* handle, const Event* event) {
  constexpr unsigned kDisableTiming = 2, kInterprocess = 4;
  if ((event->flags & kInterprocess) == 0 || (event->flags & kDisableTiming) == 0) return kInvalidHandle;
  *handle = {};
  std::memcpy(handle, kEventMark, sizeof(kEventMark));
  return kSuccess;
}
SIMULATED_EXPORT int cuIpcOpenEventHandle(Event** event, IpcHandle handle) {
  if (std::memcmp(&handle, kEventMark, sizeof(kEventMark)) != 0) return kInvalidHandle;
  return cuEventCreate(event, 0);
}

SIMULATED_EXPORT int cuEventElapsedTime_v2(float* milliseconds, Event* start, Event* end) {
  return TheStreams().Elapsed(start, end, milliseconds);
}
