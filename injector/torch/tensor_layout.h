// SPDX-License-Identifier: Apache-2.0
// Finds the storage of a tensor in its raw memory.
//
//   at::Tensor ─► TensorImpl + st ─► StorageImpl + dp = data pointer (base of the block), + sz = bytes
//
// PyTorch's C shim is not used: it prints stack traces for fake, functorch and sparse tensors (2.2 to 2.8),
// and it materializes copy-on-write tensors. Reading three words of memory has no side effects.
//
// (st, dp, sz) is (0x10, 0x10, 0x30) in 2.2 to 2.15 and (0x18, 0x18, 0x38) in 1.13. The first tensor whose
// storage is a recorded block shows which offsets apply. Before this tensor, ReadStorage returns false.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

struct StorageView {
  uint64_t address;  // base of the storage
  uint64_t bytes;
  uint64_t tensor;  // TensorImpl, stable while the tensor object lives
};

struct TensorLayout {
  // st, dp and sz in bytes 0, 1 and 2. 0 until the layout is known.
  std::atomic<uint32_t> offsets;
  std::atomic<bool> given_up;
};
extern TensorLayout tensor_layout;

// Remembers a block while the layout is unknown.
void RememberBlock(const void* block, uint64_t bytes);
inline void NoteBlock(const void* block, uint64_t bytes) {
  if (__builtin_expect(tensor_layout.offsets.load(std::memory_order_relaxed) == 0, 0))
    RememberBlock(block, bytes);
}

// Tries to find the layout with this at::Tensor. Returns the offsets, or 0 if the layout is still unknown.
uint32_t SearchLayout(const void* tensor);

// Reads the storage of an at::Tensor. Returns false if the tensor has no storage or no memory (undefined,
// sparse, meta and fake tensors, functorch wrappers). Takes no lock and does not call PyTorch.
inline bool ReadStorage(const void* tensor, StorageView& view) {
  uint32_t offsets = tensor_layout.offsets.load(std::memory_order_acquire);
  if (__builtin_expect(offsets == 0, 0) && (offsets = SearchLayout(tensor)) == 0) return false;
  const auto* const impl = *static_cast<const std::byte* const*>(tensor);
  if (impl == nullptr) return false;
  const auto* const storage = *reinterpret_cast<const std::byte* const*>(impl + (offsets & 0xFF));
  if (storage == nullptr) return false;
  view.address = *reinterpret_cast<const uint64_t*>(storage + (offsets >> 8 & 0xFF));
  view.bytes = *reinterpret_cast<const uint64_t*>(storage + (offsets >> 16 & 0xFF));
  view.tensor = reinterpret_cast<uint64_t>(impl);
  return view.address != 0;
}

// Returns true if eight bytes at `address` are readable. Takes a system call, about 100 ns.
bool CanRead(const void* address);

}  // namespace vramscope::injector
