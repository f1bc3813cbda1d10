// SPDX-License-Identifier: Apache-2.0
// Reports memory that the process held before the attach, as the Python shim finds it.
//
//   StorageImpl + dp ─► c10::DataPtr: data │ two words: deleter and context, in either order
//                                          │ device type, index
//
// PyTorch's CPU allocator uses the block itself as the context. Foreign memory (numpy, mapped files, bytes)
// has another context. A recording from the start does not see it as a block, so it is not a block here
// either.
#include "injector/core/api.h"
#include "injector/core/elf_image.h"
#include "injector/torch/block_records.h"

#define VRAMSCOPE_API extern "C" __attribute__((visibility("default")))

namespace vramscope::injector {
namespace {

constexpr int8_t kCpu = 0;
constexpr uint64_t kDeviceInPointer = 24;
constexpr uint64_t kPybindValue = 16;  // of an instance with one base class: after the object's header

uint64_t WordAt(uint64_t address) {
  return CanRead(reinterpret_cast<const void*>(address)) ? *reinterpret_cast<const uint64_t*>(address) : 0;
}

// The address of the c10::DataPtr of a tensor whose layout is known.
uint64_t PointerOf(uint64_t tensor) {
  const uint32_t offsets = tensor_layout.offsets.load(std::memory_order_acquire);
  const uint64_t storage = offsets == 0 ? 0 : WordAt(tensor + (offsets & 0xFF));
  return storage == 0 ? 0 : storage + (offsets >> 8 & 0xFF);
}

bool IsBlockOfCpuAllocator(uint64_t tensor) {
  const uint64_t pointer = PointerOf(tensor);
  const uint64_t data = pointer == 0 ? 0 : WordAt(pointer);
  if (data == 0 || (WordAt(pointer + 8) != data && WordAt(pointer + 16) != data)) return false;
  return static_cast<int8_t>(WordAt(pointer + kDeviceInPointer) & 0xFF) == kCpu;
}

void RecordHeld(uint16_t device, uint64_t address, uint64_t bytes, uint64_t stream, uint64_t requested) {
  const uint64_t words[] = {address, bytes, stream, requested, 0, 0};
  RecordWords(trace::kRawHeldBlock, device, 0, words, sizeof words / sizeof *words);
}

bool RecordHeldCpuBlock(uint64_t tensor, uint64_t address, uint64_t bytes) {
  if (!IsBlockOfCpuAllocator(tensor)) return false;
  if (WantsBlocksOf(kCpu)) RecordHeld(Code({kCpu, -1}), address, bytes, 0, 0);
  return true;
}

}  // namespace
}  // namespace vramscope::injector

using namespace vramscope::injector;

VRAMSCOPE_API void vramscope_held_block(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                                        uint64_t requested) {
  if (address == 0 || bytes == 0) return;
  if (!WantsBlocksOf(static_cast<int8_t>(vramscope::trace::DeviceTypeOf(device)))) return;
  NoteBlock(reinterpret_cast<const void*>(address), bytes);
  RecordHeld(static_cast<uint16_t>(device), address, bytes, stream, requested);
}

VRAMSCOPE_API void vramscope_held_gone(uint32_t device, uint64_t address) {
  Record(vramscope::trace::EventType::kFree, static_cast<uint16_t>(device), 0, address, 0);
}

VRAMSCOPE_API uint32_t vramscope_held_tensor(uint64_t tensor, uint64_t address, uint64_t bytes) {
  NoteBlock(reinterpret_cast<const void*>(address), bytes);
  StorageView view;
  if (!ReadStorage(&tensor, view) || view.address != address) return 0;
  return RecordHeldCpuBlock(tensor, address, bytes) ? 1 : 0;
}

VRAMSCOPE_API uint32_t vramscope_held_saved(uint64_t object) {
  const uint64_t saved = WordAt(object + kPybindValue);
  const uint64_t tensor = saved == 0 ? 0 : WordAt(saved);  // data_ is the first member (autograd_hooks.cc)
  const auto undefined = reinterpret_cast<uint64_t>(FindSymbol("_ZN3c1019UndefinedTensorImpl10_singletonE"));
  StorageView view;
  if (tensor == 0 || tensor == undefined || WordAt(PointerOf(tensor)) == 0 || !ReadStorage(&tensor, view))
    return 0;
  RecordHeldCpuBlock(tensor, view.address, view.bytes);
  Record(vramscope::trace::EventType::kSaved, 0, 0, view.address, view.bytes, view.tensor);
  return 1;
}
