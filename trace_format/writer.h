// SPDX-License-Identifier: Apache-2.0
// Writes a trace: definitions and events in, blocks out.
//
// For one thread. Every Options::events_per_block events become one compressed block. Definitions are written
// before the first event block that may use them.
//
// If the sink fails (disk full), only the events of the block being written are lost, and counted.
// Definitions are written again with the next block. Readers see the gap in the numbering of events. Close
// still writes the index.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trace_format/definitions.h"
#include "trace_format/event.h"
#include "trace_format/file_sink.h"
#include "trace_format/interner.h"
#include "trace_format/result.h"

namespace vramscope::trace {

struct TraceClock {
  uint64_t start_realtime_ns = 0;   // CLOCK_REALTIME at time 0 of the trace
  uint64_t start_monotonic_ns = 0;  // CLOCK_MONOTONIC at time 0 of the trace
};

class TraceWriter {
 public:
  struct Options {
    int zstd_level = 3;
    uint32_t events_per_block = 1 << 16;  // at most kMaxEventsPerWriterBlock
    uint32_t blocks_per_checkpoint = 4;   // in full event blocks; more if many allocations are alive
  };
  static constexpr uint32_t kMaxEventsPerWriterBlock = 1 << 18;

  static Result<std::unique_ptr<TraceWriter>> Create(std::unique_ptr<ByteSink> sink, const TraceClock& clock,
                                                     const Options& options);
  static Result<std::unique_ptr<TraceWriter>> Create(std::unique_ptr<ByteSink> sink, const TraceClock& clock);
  // Creates a trace without events and with all definitions of `other` under the same numbers. Events made
  // for `other` can be appended.
  static Result<std::unique_ptr<TraceWriter>> CreateLike(const TraceWriter& other,
                                                         std::unique_ptr<ByteSink> sink,
                                                         const TraceClock& clock);
  // Does not close: leaves what a killed recorder leaves.
  ~TraceWriter();

  // Equal texts get the same id, never 0.
  StringId InternString(std::string_view text);
  // A stack is a path in a prefix tree: parent (0 = none, outermost) plus one frame.
  StackId InternFrame(StackId parent, StringId frame);

  // Numbers count up from 0.
  uint32_t AddProcess(const ProcessInfo& info);
  void UpdateProcess(uint32_t process, const ProcessInfo& info);
  uint32_t AddThread(const ThreadInfo& info);
  // The process of a thread; 0 for unknown threads.
  uint32_t ProcessOf(uint32_t thread) const;

  // "vramscope.version", "command_line", "env.PYTORCH_CUDA_ALLOC_CONF", "torch.version", "option.depth", ...
  // Later values replace earlier ones.
  void SetMetadata(std::string_view key, std::string_view value);

  // A whole source file, by the path in the frames; at most kMaxTextBytes. A later one with the same path
  // replaces it.
  void AddSourceFile(std::string_view path, std::string_view text);
  // A process's program of one step. A later one replaces it. Leaves out programs above kMaxProgramBytes.
  void AddProgram(uint32_t process, const ProgramText& program);
  // Calls `visit` with each frame from number `first` on (from 1; some occur more than once). Returns the
  // number of the next frame.
  StackId VisitFrames(StackId first, const std::function<void(std::string_view)>& visit) const;

  // Appends events. Readers get them in this order. Times should not decrease, but may (a late thread).
  // Event::thread: from AddThread. Other threads count as process 0. Leaves out unknown types.
  Status Append(std::span<const Event> events);
  // Writes pending events as a block, visible to readers.
  Status Flush();
  // Writes pending events, index and trailer. The writer then accepts nothing more.
  Status Close();

  uint64_t events_written() const;  // events that reached the sink
  uint64_t events_lost() const;     // events that the sink failed to write
  uint64_t bytes_written() const;

 private:
  class Impl;
  explicit TraceWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
