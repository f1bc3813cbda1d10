// SPDX-License-Identifier: Apache-2.0
#include "injector/jax/allocator_use.h"

#include <string.h>

#include <atomic>

#include "injector/core/intern.h"
#include "injector/core/session.h"
#include "injector/core/thread_ring.h"
#include "injector/jax/buffers.h"
#include "injector/jax/plugin.h"
#include "injector/jax/programs.h"
#include "trace_format/event.h"

namespace vramscope::injector::jax {
namespace {

using trace::EventType;

constexpr size_t kMostDevicesCounted = 64;
constexpr char kRest[] = "JAX's allocator: rounding, constants of programs";
constexpr char kAutotuning[] = " [autotuning]";

// The addresses of `rest` and `autotuning` stand for blocks whose address is not known.
struct DeviceUse {
  std::atomic<int64_t> recorded;
  std::atomic<int64_t> rest;
  std::atomic<Device*> device;  // nullptr: not compared yet
  char autotuning;
};
constinit DeviceUse uses[kMostDevicesCounted] = {};

DeviceUse& UseOf(uint16_t code) { return uses[trace::DeviceIndexOf(code) % kMostDevicesCounted]; }

struct Stats {
  int64_t in_use = 0;
  int64_t peak = 0;
};
bool AskStats(Device* device, Stats* stats) {
  DeviceStats question = {};
  question.device = device;
  if (device == nullptr || !Ask(Entry::kDeviceMemoryStats, question)) return false;
  *stats = {question.bytes_in_use, question.peak_is_set ? question.peak_bytes_in_use : 0};
  return true;
}

uint32_t StackWithFrame(const char* frame) {
  const uint32_t name = InternString(frame, strlen(frame));
  return InternStack(&name, 1);
}

class Compilation {
 public:
  explicit Compilation(Client* client) {
    ListQuestion<Client, Device*> list = {{}, client, nullptr, 0};
    if (!Ask(Entry::kClientAddressableDevices, list)) return;
    devices_ = list.items;
    count_ = list.count < kMostDevicesCounted ? list.count : kMostDevicesCounted;
    for (size_t i = 0; i < count_; ++i) {
      CompareWithAllocator(devices_[i]);
      AskStats(devices_[i], &before_[i]);
    }
  }

  void End(LoadedExecutable* executable) {
    for (size_t i = 0; i < count_; ++i) {
      Stats after;
      if (AskStats(devices_[i], &after) && after.peak > before_[i].peak) RecordTrials(i, after, executable);
      CompareWithAllocator(devices_[i]);
    }
  }

 private:
  void RecordTrials(size_t number, const Stats& after, LoadedExecutable* executable) const {
    const uint16_t code = DeviceCodeOf(devices_[number]);
    const int64_t bytes = after.peak - before_[number].in_use;
    const auto address = reinterpret_cast<uint64_t>(&UseOf(code).autotuning);
    char frame[kLongestProgramName + sizeof kAutotuning];
    CopyProgramName(executable, frame);
    memcpy(frame + strlen(frame), kAutotuning, sizeof kAutotuning);
    RecordAfterAll(EventType::kAlloc, code, StackWithFrame(frame), address, static_cast<uint64_t>(bytes));
    Record(EventType::kLabel, static_cast<uint16_t>(trace::Role::kWorkspace),
           InternString(frame, strlen(frame)), address, static_cast<uint64_t>(bytes), 0,
           static_cast<uint64_t>(trace::LabelSource::kWorkspace));
    Record(EventType::kFree, code, 0, address, 0);
  }

  Device* const* devices_ = nullptr;
  size_t count_ = 0;
  Stats before_[kMostDevicesCounted];
};

}  // namespace

void CountBytes(uint16_t device_code, int64_t bytes) {
  UseOf(device_code).recorded.fetch_add(bytes, std::memory_order_relaxed);
}

bool HasRest(uint16_t device_code) { return UseOf(device_code).rest.load(std::memory_order_relaxed) != 0; }

void CompareWithAllocator(Device* device) {
  Stats stats;
  if (!AskStats(device, &stats)) return;
  const uint16_t code = DeviceCodeOf(device);
  DeviceUse& use = UseOf(code);
  int64_t rest = stats.in_use - use.recorded.load(std::memory_order_relaxed);
  if (rest < 0) rest = 0;
  use.device.store(device, std::memory_order_relaxed);
  const int64_t before = use.rest.exchange(rest, std::memory_order_relaxed);
  if (before == rest) return;
  const auto address = reinterpret_cast<uint64_t>(&use.rest);
  if (before != 0) Record(EventType::kFree, code, 0, address, 0);
  if (rest != 0)
    RecordAfterAll(EventType::kAlloc, code, StackWithFrame(kRest), address, static_cast<uint64_t>(rest));
}

void CompareAgain(uint16_t device_code) {
  if (Device* const device = UseOf(device_code).device.load(std::memory_order_relaxed))
    CompareWithAllocator(device);
}

Error* OnClientCompile(void* given) {
  auto* const arguments = static_cast<CompileArguments*>(given);
  Compilation compilation(arguments->client);
  Error* const error = Real(Entry::kClientCompile)(given);
  compilation.End(error == nullptr ? arguments->executable : nullptr);
  return error;
}

}  // namespace vramscope::injector::jax
