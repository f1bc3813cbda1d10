// SPDX-License-Identifier: Apache-2.0
// Reads a trace: whole, truncated, damaged, or still being written.
//
// The file is mapped. Opening reads the index and the definitions. Events are decoded on demand, block by
// block. Several passes are cheap and need little memory. A file without an index (a killed or running
// recorder) is walked once. All functions are const and thread-safe.
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
  // Fails only if nothing can be read (not a trace, newer major version, no header). damage() reports other
  // damage.
  static Result<std::unique_ptr<TraceReader>> Open(const std::string& path);
  // `bytes` must outlive the reader.
  static Result<std::unique_ptr<TraceReader>> OpenBytes(std::span<const std::byte> bytes,
                                                        std::string name_for_messages);
  ~TraceReader();

  // All zeros when the file header is damaged.
  const TraceClock& clock() const;
  const std::vector<ProcessInfo>& processes() const;
  const std::vector<ThreadInfo>& threads() const;
  const Metadata& metadata() const;
  // Source files as recorded. Empty unless --embed-source was given.
  const SourceFiles& source_files() const;
  // Programs for re-runs of one step, and stored re-runs. Untrusted: content is not checked.
  const Programs& programs() const;
  const Variants& variants() const;
  // The first call checks every block's checksum (about 3 GB/s).
  const Damage& damage() const;

  // The count in the block headers. Includes events in damaged blocks and of unknown types.
  uint64_t event_count() const;
  uint64_t first_time_ns() const;  // 0 when there are no events
  uint64_t last_time_ns() const;
  uint64_t file_bytes() const;

  // "" for 0 and undefined ids. Valid until the reader is destroyed.
  std::string_view String(StringId id) const;
  // Frames from outermost to innermost; empty for 0 and unknown ids.
  std::vector<StringId> Stack(StackId id) const;

  // Calls `visit` with all events in file order, in batches. A batch is valid during the call. `visit`
  // returns false to stop early. Unreadable blocks are skipped (see damage()). A block with malformed content
  // but a right checksum is skipped too, and the result reports it.
  using Visit = std::function<bool(std::span<const Event>)>;
  Status ForEachBatch(const Visit& visit) const;
  // Like ForEachBatch above, for blocks that may hold events in [begin_ns, end_ns).
  Status ForEachBatch(uint64_t begin_ns, uint64_t end_ns, const Visit& visit) const;

  // Blocks alive after the last event with time <= time_ns, by allocation number. O(log blocks + events per
  // checkpoint).
  Result<std::vector<LiveBlock>> LiveAt(uint64_t time_ns) const;

 private:
  class Impl;
  explicit TraceReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
