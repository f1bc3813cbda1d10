// SPDX-License-Identifier: Apache-2.0
// Writes rings in tests, as a recorded process must do by trace_format/ring.h. The code is independent of the
// injector, so that an error in the injector does not hide an error in the collector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trace_format/ring.h"

namespace vramscope::collector::testing {

struct RingSetup {
  uint32_t pid = 0;
  uint32_t rings = 4;
  uint64_t ring_bytes = 1 << 16;
  trace::ClockKind clock = trace::ClockKind::kMonotonic;
  uint32_t forked_from = 0;
  uint32_t forked_from_image = 0;
  uint32_t first_own_string = 1;
};

// A ring file in this process's memory, or in a mapped file.
class RingMemory {
 public:
  // Allocates zeroed memory and writes a complete header.
  explicit RingMemory(const RingSetup& setup);
  // Creates the file <folder>/<pid>.<image>.ring. Exits the program if the file cannot be created.
  RingMemory(const RingSetup& setup, const std::string& folder, uint32_t image);
  ~RingMemory();
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return memory_; }
  [[nodiscard]] size_t size() const { return bytes_; }
  [[nodiscard]] trace::RingFileHeader& header() const;
  [[nodiscard]] trace::RingHeader& ring(uint32_t index) const;
  [[nodiscard]] std::byte* ring_data(uint32_t index) const;
  [[nodiscard]] uint64_t ring_bytes() const { return ring_bytes_; }

 private:
  void FillHeader(const RingSetup& setup);

  std::byte* memory_;
  size_t bytes_;
  uint64_t ring_bytes_;
  bool mapped_;
};

// Writes the records of one thread into one ring.
class RingWriter {
 public:
  // Takes the next unused or freed ring.
  explicit RingWriter(RingMemory& memory, uint32_t os_thread = 1);

  // Writes one record. Waits while the ring is full. If the collector has detached, counts the record as
  // lost.
  void Record(uint8_t type, uint16_t small, uint32_t id, uint64_t ticks, std::span<const uint64_t> words);
  void Alloc(uint64_t ticks, uint64_t address, uint64_t size, uint64_t device = 0, uint64_t total = 0);
  void Free(uint64_t ticks, uint64_t address, uint64_t device = 0, uint64_t total = 0);
  void Mark(uint64_t ticks, trace::MarkKind kind, uint64_t value, uint32_t name = 0);
  void DefineString(uint64_t ticks, uint32_t id, std::string_view text);
  void DefineStack(uint64_t ticks, uint32_t id, std::span<const uint64_t> frames);
  void CountLost(uint64_t count, uint64_t ticks);
  // Call when the thread ends.
  void Close();

  [[nodiscard]] trace::RingHeader& header() { return *header_; }

 private:
  // Returns room for `bytes` in the ring, or nullptr if the collector has detached.
  std::byte* Place(uint64_t bytes);

  trace::RingFileHeader* file_;
  trace::RingHeader* header_;
  std::byte* data_;
  uint64_t ring_bytes_;
  uint64_t head_;
};

}  // namespace vramscope::collector::testing
