// SPDX-License-Identifier: Apache-2.0
// A table that assigns an id (1, 2, ...) to each different byte string. The table has a fixed capacity and
// its own memory. It is not thread-safe.
//
//   slots   [ 0 | 3 | 0 | 1 | ... ]            open addressing by hash; 0 = empty, else an id
//   entries [ - | {hash, offset, bytes} ... ]  by id
//   bytes   text text text ...                 address range reserved at once, paged in as needed
#pragma once

#include <string.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace vramscope::injector {

class IdTable {
 public:
  // The table holds at most `most_ids` - 1 ids and `most_bytes` bytes of contents. `most_ids` must be a power
  // of two.
  constexpr IdTable(uint32_t most_ids, size_t most_bytes) : most_ids_(most_ids), most_bytes_(most_bytes) {}

  // Returns the id of these bytes, or 0 if they are not in the table.
  uint32_t Find(const void* bytes, size_t length) const {
    if (memory_ == nullptr) return 0;
    const uint64_t hash = Hash(bytes, length);
    for (uint32_t slot = First(hash); slots()[slot] != 0; slot = After(slot)) {
      const Entry& entry = entries()[slots()[slot]];
      if (entry.hash == hash && entry.bytes == length &&
          memcmp(contents() + entry.offset, bytes, length) == 0) {
        return slots()[slot];
      }
    }
    return 0;
  }

  // Returns the id that the next Add() will assign; 0 if the table is full or out of memory.
  uint32_t Next(size_t length) {
    if (memory_ == nullptr && !Reserve()) return 0;
    return next_id_ < most_ids_ && used_bytes_ + length <= most_bytes_ ? next_id_ : 0;
  }
  // Adds bytes that are not in the table. Call only after Next returned an id.
  void Add(const void* bytes, size_t length) {
    const uint64_t hash = Hash(bytes, length);
    entries()[next_id_] = {.hash = hash, .offset = used_bytes_, .bytes = length};
    memcpy(contents() + used_bytes_, bytes, length);
    used_bytes_ += length;
    uint32_t slot = First(hash);
    while (slots()[slot] != 0) slot = After(slot);
    slots()[slot] = next_id_++;
  }

  uint32_t next_id() const { return next_id_; }

  // Returns the bytes of an id. The table must never have been cleared.
  const void* At(uint32_t id, size_t& length) const {
    length = entries()[id].bytes;
    return contents() + entries()[id].offset;
  }

  // Removes all contents. Ids of removed contents are not assigned again.
  void Clear() {
    if (memory_ != nullptr) munmap(memory_, Bytes());
    memory_ = nullptr;
    used_bytes_ = 0;
  }

 private:
  struct Entry {
    uint64_t hash;
    size_t offset;
    size_t bytes;
  };

  uint32_t slot_count() const { return most_ids_ * 2; }
  uint32_t First(uint64_t hash) const { return static_cast<uint32_t>(hash) & (slot_count() - 1); }
  uint32_t After(uint32_t slot) const { return (slot + 1) & (slot_count() - 1); }
  Entry* entries() const { return reinterpret_cast<Entry*>(memory_); }
  uint32_t* slots() const { return reinterpret_cast<uint32_t*>(memory_ + most_ids_ * sizeof(Entry)); }
  std::byte* contents() const {
    return memory_ + most_ids_ * sizeof(Entry) + slot_count() * sizeof(uint32_t);
  }
  size_t Bytes() const { return most_ids_ * sizeof(Entry) + slot_count() * sizeof(uint32_t) + most_bytes_; }

  bool Reserve() {
    void* const memory =
        mmap(nullptr, Bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<std::byte*>(memory);
    return true;
  }

  // Multiply and fold, eight bytes at a time.
  static uint64_t Hash(const void* data, size_t length) {
    const auto* at = static_cast<const unsigned char*>(data);
    uint64_t hash = 0x9E3779B97F4A7C15 ^ length;
    for (; length >= 8; at += 8, length -= 8) {
      uint64_t word;
      memcpy(&word, at, 8);
      hash = Fold(hash ^ word);
    }
    uint64_t rest = 0;
    memcpy(&rest, at, length);
    return Fold(hash ^ rest);
  }
  static uint64_t Fold(uint64_t value) {
    const unsigned __int128 product = static_cast<unsigned __int128>(value) * 0xD6E8FEB86659FD93;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  uint32_t most_ids_;
  size_t most_bytes_;
  uint32_t next_id_ = 1;
  size_t used_bytes_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace vramscope::injector
