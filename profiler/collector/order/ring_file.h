// SPDX-License-Identifier: Apache-2.0
// The collector's access to the ring file of one recorded process (the target). The file is checked once when
// it is opened. Values that the target may change later are never used as bounds, so reading stays safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "profiler/collector/order/sigbus_guard.h"
#include "trace_format/process_identity.h"
#include "trace_format/result.h"
#include "trace_format/ring.h"

namespace vramscope::collector {

// A copy of the RingFileHeader fields that never change after the target has written the magic number.
struct RingFileFacts {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint32_t image = 0;  // n of <pid>.<n>.ring
  trace::ClockKind clock = trace::ClockKind::kMonotonic;
  uint64_t ring_bytes = 0;
  uint32_t ring_capacity = 0;
  uint64_t created_ticks = 0;
  uint64_t created_monotonic_ns = 0;
  uint32_t forked_from = 0;
  uint32_t forked_from_image = 0;
  uint32_t first_own_string = 0;
  uint64_t pid_namespace = 0;  // the namespace of `pid`; 0 = unknown
  uint64_t start_ticks = 0;

  [[nodiscard]] trace::ProcessIdentity identity() const { return {pid, pid_namespace, start_ticks}; }
};

class RingFile {
 public:
  // Maps the file. Returns nullptr if the target has not yet finished the header. Returns an error if the
  // collector cannot read the file.
  static Result<std::unique_ptr<RingFile>> Open(const std::string& path);
  // Like Open, for a ring file in memory that the caller owns. `memory` must be aligned to 64 bytes and
  // outlive the object.
  static Result<std::unique_ptr<RingFile>> Attach(std::byte* memory, size_t bytes, const std::string& name);
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  [[nodiscard]] const RingFileFacts& facts() const { return facts_; }

  // Number of rings that threads of the target have used since the file was created.
  [[nodiscard]] uint32_t ring_count() const;
  [[nodiscard]] trace::RingHeader& ring(uint32_t index) const;
  [[nodiscard]] const std::byte* ring_data(uint32_t index) const;

  [[nodiscard]] uint64_t lost_without_ring() const;
  // Tells the target that this recording has ended. The target writes no more records. Records that it still
  // tries to write count as lost, unless Pause() was called before.
  void Detach() const;
  // Tells the target to write no more records, without counting them as lost.
  void Pause() const;

 private:
  RingFile(std::byte* memory, size_t bytes, bool mapped);
  [[nodiscard]] trace::RingFileHeader& header() const;
  // Fills facts_. Returns false if the target has not finished the header yet.
  Result<bool> ReadHeader(const std::string& name);

  std::byte* memory_;
  size_t bytes_;
  std::optional<SigbusGuard> guard_;  // set for our mapping of a file
  RingFileFacts facts_;
};

// The numbers in the name of a ring file: {4711, 0} for "4711.0.ring". ParseRingFileName returns nothing for
// other names.
struct RingFileName {
  uint32_t pid = 0;
  uint32_t image = 0;
};
std::optional<RingFileName> ParseRingFileName(const std::string& name);

}  // namespace vramscope::collector
