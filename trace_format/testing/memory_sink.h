// SPDX-License-Identifier: Apache-2.0
// Sinks that write to memory, for tests and benchmarks.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "trace_format/bytes.h"
#include "trace_format/file_sink.h"

namespace vramscope::trace::testing {

// Appends to the caller's vector.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(Bytes* bytes) : bytes_(bytes) {}

  Status Write(std::span<const std::byte> bytes) override {
    PutBytes(bytes, bytes_);
    return {};
  }

 private:
  Bytes* bytes_;
};

// Appends to the caller's vector until the vector has `*room` bytes. Further writes fail, like on a full
// disk. The test may increase `*room`.
class SmallDisk final : public ByteSink {
 public:
  SmallDisk(Bytes* bytes, const uint64_t* room) : bytes_(bytes), room_(room) {}

  Status Write(std::span<const std::byte> bytes) override {
    if (bytes_->size() + bytes.size() > *room_)
      return Error{"run.vms: cannot be written: No space left on device."};
    PutBytes(bytes, bytes_);
    return {};
  }

 private:
  Bytes* bytes_;
  const uint64_t* room_;
};

}  // namespace vramscope::trace::testing
