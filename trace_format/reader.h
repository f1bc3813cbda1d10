// SPDX-License-Identifier: Apache-2.0
// Reads a trace file. The file may be complete, truncated, damaged, or still being written.
//
// The file is mapped into memory. Open() reads only the index and the definitions. Events are decoded block
// by block when they are requested, so several passes over the events need little memory. If the file has no
// index, because its recorder was killed or is still running, Open() reads the whole file once. All functions
// are const and thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/damage.h"
#include "trace_format/definitions.h"
#include "trace_format/event.h"
#include "trace_format/live_set.h"
#include "trace_format/result.h"
#include "trace_format/writer.h"

namespace vramscope::trace {

class TraceReader {
 public:
  // Fails only if nothing can be read: the file is not a trace, has a newer major version, or has no header.
  // damage() reports all other damage.
  static Result<std::unique_ptr<TraceReader>> Open(const std::string& path);
  // `bytes` must outlive the reader.
  static Result<std::unique_ptr<TraceReader>> OpenBytes(std::span<const std::byte> bytes,
                                                        std::string name_for_messages);
  ~TraceReader();

  // All fields are 0 if the file header is damaged.
  const TraceClock& clock() const;
  const std::vector<ProcessInfo>& processes() const;
  const std::vector<ThreadInfo>& threads() const;
  const Metadata& metadata() const;
  // The recorded source files. The result is empty unless the trace was recorded with --embed-source.
  const SourceFiles& source_files() const;
  // The programs (glossary) from which a re-run is made, and the stored re-runs (variants). Programs and
  // variants are untrusted, because their content is not checked.
  const Programs& programs() const;
  const Variants& variants() const;
  // The first call checks every block's checksum (about 3 GB/s).
  const Damage& damage() const;

  // The number of events according to the block headers. Includes events in damaged blocks and events of
  // unknown types.
  uint64_t event_count() const;
  uint64_t first_time_ns() const;  // 0 if there are no events
  uint64_t last_time_ns() const;
  uint64_t file_bytes() const;

  // Returns the text of an id; "" for 0 and for undefined ids. The result is valid until the reader is
  // destroyed.
  std::string_view String(StringId id) const;
  // Returns the frames of a stack from outermost to innermost; empty for 0 and for undefined ids.
  std::vector<StringId> Stack(StackId id) const;

  // Calls `visit` with all events in file order, in batches. A batch is valid only during the call. If
  // `visit` returns false, the reading stops. Unreadable blocks are skipped (see damage()). A block that has
  // a correct checksum but malformed content is skipped too; the returned Status reports it.
  using Visit = std::function<bool(std::span<const Event>)>;
  Status ForEachBatch(const Visit& visit) const;
  // Like ForEachBatch above, but reads only blocks that may contain events in [begin_ns, end_ns).
  Status ForEachBatch(uint64_t begin_ns, uint64_t end_ns, const Visit& visit) const;

  // Returns the memory blocks that are alive after the last event with time <= time_ns, sorted by allocation
  // number. O(log file blocks + events per checkpoint).
  Result<std::vector<LiveBlock>> LiveAt(uint64_t time_ns) const;

 private:
  class Impl;
  explicit TraceReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
