// SPDX-License-Identifier: Apache-2.0
// A hash map from 64-bit keys to 32-bit values, with open addressing and linear probing. It stays fast after
// many deletions, because it needs no tombstones.
//
// With std::unordered_map, loading ten million events took four times as long as decoding them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::model {

// Returns a hash of `x` in which each bit depends on all bits of `x` (the finalizer of splitmix64, public
// domain).
constexpr uint64_t MixBits(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// A key must not be 0.
class FlatMap {
 public:
  [[nodiscard]] size_t size() const { return size_; }

  // Returns the value of `key`; nullptr if there is none. The pointer is valid until the next Insert or
  // Erase.
  [[nodiscard]] const uint32_t* Find(uint64_t key) const {
    if (slots_.empty()) return nullptr;
    for (size_t i = Home(key); slots_[i].key != 0; i = Next(i)) {
      if (slots_[i].key == key) return &slots_[i].value;
    }
    return nullptr;
  }

  // Inserts `value` if the key is new. Returns a pointer to the key's value and whether the key was new.
  struct Inserted {
    uint32_t* value;
    bool fresh;
  };
  Inserted Insert(uint64_t key, uint32_t value) {
    if ((size_ + 1) * 2 > slots_.size()) Grow();
    size_t i = Home(key);
    for (; slots_[i].key != 0; i = Next(i)) {
      if (slots_[i].key == key) return {&slots_[i].value, false};
    }
    slots_[i] = {key, value};
    ++size_;
    return {&slots_[i].value, true};
  }

  // Removes `key`. False if the map does not contain it.
  bool Erase(uint64_t key) {
    if (slots_.empty()) return false;
    size_t hole = Home(key);
    for (; slots_[hole].key != key; hole = Next(hole)) {
      if (slots_[hole].key == 0) return false;
    }
    // Move back each following entry whose home slot does not lie between the hole and itself.
    for (size_t i = Next(hole); slots_[i].key != 0; i = Next(i)) {
      const size_t home = Home(slots_[i].key);
      const bool reachable_past_hole = hole <= i ? (hole < home && home <= i) : (hole < home || home <= i);
      if (reachable_past_hole) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    --size_;
    return true;
  }

 private:
  static constexpr size_t kFirstCapacity = 64;  // a power of two
  struct Slot {
    uint64_t key = 0;
    uint32_t value = 0;
  };

  [[nodiscard]] size_t Home(uint64_t key) const { return MixBits(key) & (slots_.size() - 1); }
  [[nodiscard]] size_t Next(size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void Grow() {
    std::vector<Slot> old(std::max(kFirstCapacity, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key == 0) continue;
      size_t i = Home(slot.key);
      while (slots_[i].key != 0) i = Next(i);
      slots_[i] = slot;
    }
  }

  // Allocated at the first key: a file may declare a million threads that do nothing.
  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace vramscope::model
