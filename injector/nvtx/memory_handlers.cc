// SPDX-License-Identifier: Apache-2.0
// NVTX's memory extension: a program names heaps and regions of its memory. Each name becomes a label of
// Role::kNamed on the address; a label without a name removes it.
#include "injector/core/thread_ring.h"
#include "injector/nvtx/handlers.h"
#include "injector/nvtx/names.h"

namespace vramscope::injector::nvtx {
namespace {

constexpr uint64_t kSource = static_cast<uint64_t>(trace::LabelSource::kNvtx);

void RecordName(const void* address, uint64_t bytes, const Name* name) {
  if (address == nullptr) return;
  Record(trace::EventType::kLabel, static_cast<uint16_t>(trace::Role::kNamed), name == nullptr ? 0 : name->id,
         reinterpret_cast<uint64_t>(address), bytes, 0, kSource);
}

// Element `index` of an array whose elements may be longer than our declaration.
template <typename Element>
const Element& At(const void* elements, size_t element_size, size_t index) {
  return *reinterpret_cast<const Element*>(static_cast<const std::byte*>(elements) + index * element_size);
}

const Slot& Memory(MemoryFunction function);

Handle HeapRegister(Domain domain, const HeapDescription* heap) {
  auto* const next = NextOf<Handle(Domain, const HeapDescription*)>(Memory(kHeapRegister));
  Handle handle = next == nullptr ? nullptr : next(domain, heap);
  if (heap == nullptr || heap->struct_size < sizeof(HeapDescription)) return handle;
  const bool described = heap->type == kVirtualAddress && heap->type_specific != nullptr &&
                         heap->type_specific_size >= sizeof(VirtualRange);
  if (!described) return handle;
  const auto& range = *static_cast<const VirtualRange*>(heap->type_specific);
  const Name* const name = NameOf(domain, static_cast<int32_t>(heap->message_type), heap->message);
  if (name == nullptr) return handle;
  if (handle == nullptr) handle = range.address;
  RememberHandle(handle, reinterpret_cast<uint64_t>(name));
  RecordName(range.address, range.size, name);
  return handle;
}

void RegionsRegister_(Domain domain, const RegionsRegister* batch) {
  auto* const next = NextOf<void(Domain, const RegionsRegister*)>(Memory(kRegionsRegister));
  if (next != nullptr && batch != nullptr && NextOf<void>(Memory(kHeapRegister)) == nullptr) {
    RegionsRegister copy = *batch;  // the heap's handle is ours
    copy.heap = kProcessWideHeap;
    next(domain, &copy);
  } else if (next != nullptr) {
    next(domain, batch);
  }
  if (batch == nullptr || batch->type != kVirtualAddress || batch->elements == nullptr) return;
  const auto* const heap = reinterpret_cast<const Name*>(MeaningOf(batch->heap));
  for (size_t i = 0; i < batch->count; ++i) {
    const auto& range = At<VirtualRange>(batch->elements, batch->element_size, i);
    if (batch->handles != nullptr) {
      if (next == nullptr) batch->handles[i] = range.address;
      RememberHandle(batch->handles[i], reinterpret_cast<uint64_t>(range.address));
    }
    if (heap != nullptr) RecordName(range.address, range.size, heap);
  }
}

const void* AddressOf(uint32_t reference_type, Handle reference) {
  if (reference_type == kByPointer) return reference;
  return reinterpret_cast<const void*>(MeaningOf(reference));
}

void RegionsUnregister_(Domain domain, const RegionsUnregister* batch) {
  if (batch != nullptr && batch->elements != nullptr) {
    for (size_t i = 0; i < batch->count; ++i) {
      RecordName(AddressOf(batch->reference_type, At<Handle>(batch->elements, batch->element_size, i)), 0,
                 nullptr);
    }
  }
  if (auto* const next = NextOf<void(Domain, const RegionsUnregister*)>(Memory(kRegionsUnregister)))
    next(domain, batch);
}

void RegionsName_(Domain domain, const RegionsName* batch) {
  if (batch != nullptr && batch->elements != nullptr) {
    for (size_t i = 0; i < batch->count; ++i) {
      const auto& region = At<RegionName>(batch->elements, batch->element_size, i);
      RecordName(AddressOf(region.reference_type, region.region), 0,
                 NameOf(domain, static_cast<int32_t>(region.message_type), region.name));
    }
  }
  if (auto* const next = NextOf<void(Domain, const RegionsName*)>(Memory(kRegionsName))) next(domain, batch);
}

template <typename Function>
Slot SlotFor(unsigned position, Function* ours) {
  return {position, reinterpret_cast<AnyFunction>(ours), nullptr, false};
}

Slot memory[] = {
    SlotFor(kHeapRegister, HeapRegister),
    SlotFor(kRegionsRegister, RegionsRegister_),
    SlotFor(kRegionsUnregister, RegionsUnregister_),
    SlotFor(kRegionsName, RegionsName_),
};

const Slot& Memory(MemoryFunction function) {
  return memory[function == kHeapRegister      ? 0
                : function == kRegionsRegister ? 1
                                               : function - kRegionsUnregister + 2];
}

}  // namespace

std::span<Slot> MemorySlots() { return memory; }

}  // namespace vramscope::injector::nvtx
