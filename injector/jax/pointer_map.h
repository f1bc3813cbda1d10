// SPDX-License-Identifier: Apache-2.0
// A hash map from addresses of the program's objects to values, with open addressing. The map allocates with
// mmap, not with the program's allocator, and grows when it is half full. Not synchronized.
//
//   slots  [ 0 | A | B | 0 | C | ... ]     key 0 = empty slot; removing A moves B into the slot of A if a
//                                          search for B begins at or before that slot
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace vramscope::injector::jax {

template <typename Value>
class PointerMap {
 public:
  // Returns the value of `key`; nullptr if there is none. The pointer is valid until the next Add or Remove.
  Value* Find(const void* key) const {
    if (slots_ == nullptr) return nullptr;
    size_t slot = First(key);
    while (slots_[slot].key != nullptr && slots_[slot].key != key) slot = After(slot);
    return slots_[slot].key == nullptr ? nullptr : &slots_[slot].value;
  }

  // Adds a value, or replaces the key's earlier value. Returns nullptr if there is not enough memory.
  Value* Add(const void* key, const Value& value) {
    if (used_ * 2 >= capacity_ && !Grow()) return nullptr;
    size_t slot = First(key);
    while (slots_[slot].key != nullptr && slots_[slot].key != key) slot = After(slot);
    if (slots_[slot].key == nullptr) ++used_;
    slots_[slot] = {key, value};
    return &slots_[slot].value;
  }

  void Remove(const void* key) {
    if (slots_ == nullptr) return;
    size_t hole = First(key);
    while (slots_[hole].key != nullptr && slots_[hole].key != key) hole = After(hole);
    if (slots_[hole].key == nullptr) return;
    --used_;
    for (size_t next = After(hole); slots_[next].key != nullptr; next = After(next)) {
      // An entry moves only closer to where its search begins.
      const size_t from = First(slots_[next].key);
      if (((next - from) & (capacity_ - 1)) < ((next - hole) & (capacity_ - 1))) continue;
      slots_[hole] = slots_[next];
      hole = next;
    }
    slots_[hole].key = nullptr;
  }

  // Calls visit(value) for all entries, in no order. O(capacity).
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; slots_ != nullptr && i < capacity_; ++i) {
      if (slots_[i].key != nullptr) visit(static_cast<const Value&>(slots_[i].value));
    }
  }

  // Empties the map in a forked child. Does not unmap the slots that the child inherited.
  void Forget() { *this = PointerMap(); }

 private:
  struct Slot {
    const void* key;
    Value value;
  };
  static constexpr size_t kFirstCapacity = 1024;

  size_t First(const void* key) const {
    return static_cast<size_t>(reinterpret_cast<uint64_t>(key) * 0x9e3779b97f4a7c15 >> 20) & (capacity_ - 1);
  }
  size_t After(size_t slot) const { return (slot + 1) & (capacity_ - 1); }

  bool Grow() {
    const size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
    void* const memory =
        mmap(nullptr, capacity * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    PointerMap grown;
    grown.slots_ = static_cast<Slot*>(memory);
    grown.capacity_ = capacity;
    for (size_t i = 0; i < capacity_; ++i) {
      if (slots_[i].key != nullptr) grown.Add(slots_[i].key, slots_[i].value);
    }
    if (slots_ != nullptr) munmap(static_cast<void*>(slots_), capacity_ * sizeof(Slot));
    *this = grown;
    return true;
  }

  Slot* slots_ = nullptr;
  size_t capacity_ = 0;
  size_t used_ = 0;
};

}  // namespace vramscope::injector::jax
