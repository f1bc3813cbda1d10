// SPDX-License-Identifier: Apache-2.0
#include "injector/jax/buffers.h"

#include <pthread.h>
#include <string.h>

#include <atomic>

#include "injector/core/intern.h"
#include "injector/core/locked.h"
#include "injector/core/native_stack.h"
#include "injector/core/session.h"
#include "injector/core/thread_ring.h"
#include "injector/jax/allocator_use.h"
#include "injector/jax/plugin.h"
#include "injector/jax/pointer_map.h"
#include "trace_format/event.h"

namespace vramscope::injector::jax {
namespace {

using trace::EventType;

constexpr char kDeviceMemory[] = "device";

constinit pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;
constinit PointerMap<Block> buffers;
constinit std::atomic<bool> any_gradient = false;
constinit std::atomic<uint32_t> updates = 0;

// A child cannot use the device of its parent: it has no buffers.
void ForgetInChild() {
  buffers_lock = PTHREAD_MUTEX_INITIALIZER;
  buffers.Forget();
}

void Remember(const Buffer* buffer, const Block& block) {
  static constinit bool follows_forks = false;
  static constinit uint32_t serials = 0;
  const Locked locked(buffers_lock);
  if (!follows_forks) AtForkInChild(ForgetInChild);
  follows_forks = true;
  Block* const known = buffers.Add(buffer, block);
  if (known == nullptr) return;
  known->serial = ++serials;
  known->update = UpdatesSoFar();
}

// Host memory that a program has moved arrays to has other names: "pinned_host", "unpinned_host".
bool IsDeviceMemory(Buffer* buffer) {
  Question<Buffer, Memory*> where = {{}, buffer, nullptr};
  if (!Ask(Entry::kBufferMemory, where) || where.answer == nullptr) return true;
  ListQuestion<Memory, const char> kind = {{}, where.answer, nullptr, 0};
  if (!Ask(Entry::kMemoryKind, kind)) return true;
  return kind.count == sizeof(kDeviceMemory) - 1 && memcmp(kind.items, kDeviceMemory, kind.count) == 0;
}

void RecordLabel(const Block& block) {
  Record(EventType::kLabel, block.role, block.name, block.address, block.bytes, uint64_t{block.name},
         static_cast<uint64_t>(block.role == static_cast<uint16_t>(trace::Role::kOptimizerState)
                                   ? trace::LabelSource::kOptimizer
                                   : trace::LabelSource::kModuleRegistry));
}

uint32_t StackOf(const char* frame) {
  const uint32_t native = NativeStackId();
  if (native != 0) return native;
  const uint32_t name = InternString(frame, strlen(frame));
  return InternStack(&name, 1);
}

void AddNew(Buffer* buffer, const char* frame) {
  Block block = {};
  if (buffer == nullptr || !Locate(buffer, &block)) return;
  AddBuffer(buffer, block, StackOf(frame));
  CompareAgain(block.device);
}

// The end is recorded before it happens, because the plug-in may then give the address to another buffer.
Error* End(Entry entry, void* arguments) {
  Block block = {};
  const Buffer* const buffer = static_cast<const Question<Buffer, int>*>(arguments)->object;
  const bool has_memory = buffer != nullptr && TakeMemory(buffer, &block);
  if (entry == Entry::kBufferDestroy) {
    const Locked locked(buffers_lock);
    buffers.Remove(buffer);
  }
  if (!has_memory) return Real(entry)(arguments);
  RecordFree(block);
  Error* const error = Real(entry)(arguments);
  CompareAgain(block.device);
  return error;
}

}  // namespace

uint16_t DeviceCodeOf(Device* device) {
  constexpr uint8_t kCuda = 1;
  Question<Device, int> number = {{}, device, -1};
  if (device == nullptr || !Ask(Entry::kDeviceLocalHardwareId, number) || number.answer < 0)
    number.answer = 0;
  return static_cast<uint16_t>(trace::DeviceCode(kCuda, static_cast<uint8_t>(number.answer)));
}

bool Locate(Buffer* buffer, Block* block) {
  Question<Buffer, size_t> size = {{}, buffer, 0};
  Question<Buffer, uintptr_t> place = {{}, buffer, 0};
  Question<Buffer, Device*> device = {{}, buffer, nullptr};
  if (!Ask(Entry::kBufferOnDeviceSize, size) || size.answer == 0 || !IsDeviceMemory(buffer)) return false;
  if (!Ask(Entry::kBufferUnsafePointer, place) || place.answer == 0) return false;
  if (!Ask(Entry::kBufferDevice, device)) return false;
  *block = {place.answer, size.answer, 0, DeviceCodeOf(device.answer), 0, 0, 0, 0};
  return true;
}

void AddBuffer(Buffer* buffer, const Block& block, uint32_t stack) {
  const uint64_t bytes = Rounded(block.bytes);
  if (bytes == block.bytes) {
    RecordAfterAll(EventType::kAlloc, block.device, stack, block.address, bytes);
  } else {
    RecordAfterAll(EventType::kAlloc, block.device, stack, block.address, bytes, 0, block.bytes);
  }
  CountBytes(block.device, static_cast<int64_t>(bytes));
  Remember(buffer, block);
}

bool AddIfUnknown(Buffer* buffer) {
  {
    const Locked locked(buffers_lock);
    if (buffers.Find(buffer) != nullptr) return false;
  }
  AddNew(buffer, trace::kHeldFrame);
  return true;
}

bool FindBuffer(const Buffer* buffer, Block* block) {
  const Locked locked(buffers_lock);
  const Block* const known = buffers.Find(buffer);
  if (known == nullptr || known->address == 0) return false;
  *block = *known;
  return true;
}

bool TakeMemory(const Buffer* buffer, Block* block) {
  const Locked locked(buffers_lock);
  Block* const known = buffers.Find(buffer);
  if (known == nullptr || known->address == 0) return false;
  *block = *known;
  known->address = 0;
  return true;
}

void RecordFree(const Block& block) {
  Record(EventType::kFree, block.device, 0, block.address, 0);
  CountBytes(block.device, -static_cast<int64_t>(Rounded(block.bytes)));
}

void NoteState(const Buffer* buffer, uint32_t state) {
  const Locked locked(buffers_lock);
  if (Block* const known = buffers.Find(buffer)) known->state = state;
}

bool AnyGradient() { return any_gradient.load(std::memory_order_relaxed); }
void NextUpdate() { updates.fetch_add(1, std::memory_order_relaxed); }
uint32_t UpdatesSoFar() { return updates.load(std::memory_order_relaxed); }

void LabelBuffer(const Buffer* buffer, uint16_t role, uint32_t name, uint32_t state) {
  if (role == static_cast<uint16_t>(trace::Role::kGradient))
    any_gradient.store(true, std::memory_order_relaxed);
  Block labeled = {};
  {
    const Locked locked(buffers_lock);
    Block* const known = buffers.Find(buffer);
    if (known == nullptr || known->address == 0 || (known->role == role && known->name == name)) return;
    known->role = role;
    known->name = name;
    if (state != 0) known->state = state;
    labeled = *known;
  }
  RecordLabel(labeled);
}

Error* OnBufferFromHostBuffer(void* arguments) {
  Error* const error = Real(Entry::kBufferFromHostBuffer)(arguments);
  if (error == nullptr) AddNew(static_cast<const FromHostBuffer*>(arguments)->buffer, "copied from the host");
  return error;
}

Error* OnBufferCopyToDevice(void* arguments) {
  Error* const error = Real(Entry::kBufferCopyToDevice)(arguments);
  if (error == nullptr) AddNew(static_cast<const CopyTo*>(arguments)->copy, "copied from a device");
  return error;
}

Error* OnBufferCopyToMemory(void* arguments) {
  Error* const error = Real(Entry::kBufferCopyToMemory)(arguments);
  if (error == nullptr) AddNew(static_cast<const CopyTo*>(arguments)->copy, "copied from another memory");
  return error;
}

Error* OnCreateViewOfDeviceBuffer(void* arguments) {
  Error* const error = Real(Entry::kCreateViewOfDeviceBuffer)(arguments);
  const Buffer* const view = static_cast<const ViewOfDeviceBuffer*>(arguments)->buffer;
  if (error == nullptr && view != nullptr) Remember(view, Block{});
  return error;
}

Error* OnBufferDelete(void* arguments) { return End(Entry::kBufferDelete, arguments); }

Error* OnBufferDestroy(void* arguments) { return End(Entry::kBufferDestroy, arguments); }

}  // namespace vramscope::injector::jax

extern "C" __attribute__((visibility("default"))) uint32_t vramscope_jax_role_at(uint64_t address,
                                                                                 uint32_t* name) {
  using namespace vramscope::injector;
  const Locked locked(jax::buffers_lock);
  uint32_t role = 0;
  jax::buffers.ForEach([&](const jax::Block& block) {
    if (block.address != address || address == 0) return;
    role = block.role;
    *name = block.name;
  });
  return role;
}
