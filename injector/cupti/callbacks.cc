// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/callbacks.h"

#include "injector/core/driver_sight.h"
#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"
#include "trace_format/event.h"

namespace vramscope::injector::cupti {
namespace {

using trace::DriverFlags;
using trace::DriverMemory;
using trace::EventType;

constexpr uint8_t kCuda = 1;  // c10::DeviceType
constexpr uint8_t kNoDevice = 0xff;

// The parameters in the layout of generated_cuda_meta.h: one struct per function, with the arguments in their
// order.
struct Takes {  // cuMemAlloc, cuMemAllocManaged, cuMemHostAlloc, cuMemAddressReserve, cuMemCreate, ...
  const uint64_t* address;
  size_t bytes;
};
struct TakesOnStream {
  const uint64_t* address;
  size_t bytes;
  uint64_t stream;
};
struct TakesFromPool {
  const uint64_t* address;
  size_t bytes;
  uint64_t pool;
  uint64_t stream;
};
struct TakesPitched {
  const uint64_t* address;
  const size_t* pitch;
  size_t width;
  size_t height;
};
struct Range {  // cuMemHostRegister, cuMemUnmap
  uint64_t address;
  size_t bytes;
};
struct Maps {
  uint64_t address;
  size_t bytes;
  size_t offset;
  uint64_t handle;
};

enum class Shape : uint8_t {
  kTakes,
  kTakesOnStream,
  kTakesFromPool,
  kTakesPitched,
  kTakesUnsized,
  kRegisters,
  kGives,
  kMaps,
  kUnmaps
};

struct Row {
  Function function;
  Shape shape;
  DriverMemory memory;
};

constexpr Row kRows[] = {
    {kMemAlloc, Shape::kTakes, DriverMemory::kDevice},
    {kMemAllocPitch, Shape::kTakesPitched, DriverMemory::kDevice},
    {kMemFree, Shape::kGives, DriverMemory::kDevice},
    {kMemAllocManaged, Shape::kTakes, DriverMemory::kManaged},
    {kMemAllocAsync, Shape::kTakesOnStream, DriverMemory::kPoolBlock},
    {kMemAllocAsyncPerThread, Shape::kTakesOnStream, DriverMemory::kPoolBlock},
    {kMemAllocFromPool, Shape::kTakesFromPool, DriverMemory::kPoolBlock},
    {kMemAllocFromPoolPerThread, Shape::kTakesFromPool, DriverMemory::kPoolBlock},
    {kMemFreeAsync, Shape::kGives, DriverMemory::kPoolBlock},
    {kMemFreeAsyncPerThread, Shape::kGives, DriverMemory::kPoolBlock},
    {kMemAddressReserve, Shape::kTakes, DriverMemory::kReservation},
    {kMemAddressFree, Shape::kGives, DriverMemory::kReservation},
    {kMemCreate, Shape::kTakes, DriverMemory::kPhysical},
    {kMemImport, Shape::kTakesUnsized, DriverMemory::kReference},
    {kMemRetain, Shape::kTakesUnsized, DriverMemory::kReference},
    {kMemRelease, Shape::kGives, DriverMemory::kPhysical},
    {kMemMap, Shape::kMaps, DriverMemory::kUnknown},
    {kMemUnmap, Shape::kUnmaps, DriverMemory::kUnknown},
    {kMulticastCreate, Shape::kTakesUnsized, DriverMemory::kMulticast},
    {kIpcOpenMemHandle, Shape::kTakesUnsized, DriverMemory::kImported},
    {kIpcCloseMemHandle, Shape::kGives, DriverMemory::kImported},
    {kMemHostAlloc, Shape::kTakes, DriverMemory::kHostPinned},
    {kMemHostAlloc2, Shape::kTakes, DriverMemory::kHostPinned},
    {kMemAllocHost, Shape::kTakes, DriverMemory::kHostPinned},
    {kMemFreeHost, Shape::kGives, DriverMemory::kHostPinned},
    {kMemHostRegister, Shape::kRegisters, DriverMemory::kHostRegistered},
    {kMemHostRegister2, Shape::kRegisters, DriverMemory::kHostRegistered},
    {kMemHostUnregister, Shape::kGives, DriverMemory::kHostRegistered},
};
constexpr size_t kRowCount = sizeof kRows / sizeof kRows[0];

bool HooksRecord() { return seen_by_hooks.lookups.load(std::memory_order_relaxed) != 0; }

bool IsDeviceMemory(DriverMemory memory) {
  return memory == DriverMemory::kDevice || memory == DriverMemory::kManaged ||
         memory == DriverMemory::kPoolBlock || memory == DriverMemory::kPhysical;
}

struct Taken {
  const uint64_t* address;
  uint64_t bytes = 0;
  uint64_t stream = 0;
  uint64_t pool = 0;
};

template <typename Parameters>
const Parameters& As(const CallbackData& data) {
  return *static_cast<const Parameters*>(data.parameters);
}

Taken TakenBy(Shape shape, const CallbackData& data) {
  switch (shape) {
    case Shape::kTakesOnStream: {
      const auto& call = As<TakesOnStream>(data);
      return {call.address, call.bytes, call.stream};
    }
    case Shape::kTakesFromPool: {
      const auto& call = As<TakesFromPool>(data);
      return {call.address, call.bytes, call.stream, call.pool};
    }
    case Shape::kTakesPitched: {
      const auto& call = As<TakesPitched>(data);
      return {call.address, call.pitch == nullptr ? 0 : *call.pitch * call.height};
    }
    case Shape::kTakesUnsized:
      return {As<Takes>(data).address};
    case Shape::kRegisters:
      return {&As<Range>(data).address, As<Range>(data).bytes};
    default:
      return {As<Takes>(data).address, As<Takes>(data).bytes};
  }
}

uint64_t DeviceOf(const Functions& cupti, Context context) {
  uint32_t device = kNoDevice;
  if (context == nullptr || cupti.get_device_id(context, &device) != kSuccess) device = kNoDevice;
  return trace::DeviceCode(kCuda, static_cast<uint8_t>(device));
}

class DriverCallSeen {
 public:
  DriverCallSeen(const Functions& cupti, const Row& row, const CallbackData& data)
      : row_(row), data_(data), recorded_(!HooksRecord()) {
    if (data.site == kExit && data.return_value != nullptr)
      result_ = *static_cast<const int*>(data.return_value);
    if (recorded_) device_ = DeviceOf(cupti, data.context);
  }

  // Allocations are recorded after the call; frees before it, and once more if they failed.
  void Handle() const {
    const bool exit = data_.site == kExit;
    switch (row_.shape) {
      case Shape::kGives:
        if (exit && result_ == 0) CountFree();
        if (recorded_ && (!exit || result_ != 0)) RecordGiven();
        return;
      case Shape::kUnmaps:
        if (recorded_ && (!exit || result_ != 0))
          RecordMapping(As<Range>(data_).address, As<Range>(data_).bytes, 0);
        return;
      case Shape::kMaps:
        if (recorded_ && exit)
          RecordMapping(As<Maps>(data_).address, As<Maps>(data_).bytes, As<Maps>(data_).handle);
        return;
      default:
        if (exit) HandleTaken();
    }
  }

 private:
  void CountFree() const {
    if (IsDeviceMemory(row_.memory)) seen_by_callbacks.frees.fetch_add(1, std::memory_order_relaxed);
  }

  void HandleTaken() const {
    const Taken taken = TakenBy(row_.shape, data_);
    const bool had = result_ == 0 && taken.address != nullptr;
    if (had && IsDeviceMemory(row_.memory)) seen_by_callbacks.CountAllocation(taken.bytes);
    if (!recorded_) return;
    RecordAfterAll(EventType::kDriverAlloc, static_cast<uint16_t>(result_), Api(), had ? *taken.address : 0,
                   had ? taken.bytes : 0, device_, taken.stream, 0, DriverFlags(row_.memory, taken.pool));
  }

  void RecordGiven() const {
    Record(EventType::kDriverFree, static_cast<uint16_t>(result_), Api(), As<Range>(data_).address, 0,
           device_, 0, DriverFlags(row_.memory, 0));
  }

  void RecordMapping(uint64_t address, uint64_t bytes, uint64_t handle) const {
    const uint64_t mapped = row_.shape == Shape::kMaps;
    Record(EventType::kDriverMap, static_cast<uint16_t>(result_), 0, address, bytes, device_, mapped, handle);
  }

  uint32_t Api() const { return data_.function_name == nullptr ? 0 : InternString(data_.function_name); }

  const Row& row_;
  const CallbackData& data_;
  bool recorded_;
  int result_ = 0;
  uint64_t device_ = 0;
};

}  // namespace

std::span<const Function> WatchedFunctions() {
  static Function functions[kRowCount];
  for (size_t i = 0; i < kRowCount; ++i) functions[i] = kRows[i].function;
  return functions;
}

void OnDriverCall(void* user_data, int domain, uint32_t function, const void* data) {
  if (user_data == nullptr || domain != kDriverApi || data == nullptr) return;
  const auto& call = *static_cast<const CallbackData*>(data);
  if (call.parameters == nullptr) return;
  for (const Row& row : kRows) {
    if (row.function != function) continue;
    DriverCallSeen(*static_cast<const Functions*>(user_data), row, call).Handle();
    return;
  }
}

}  // namespace vramscope::injector::cupti
