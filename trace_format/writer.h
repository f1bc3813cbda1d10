// SPDX-License-Identifier: Apache-2.0
// Writes a trace: takes definitions and events, and writes compressed blocks.
//
// A writer must be used by one thread only. Every Options::events_per_block events become one compressed
// block. Definitions are written before the first block of events that may use them.
//
// If the sink fails (disk full), only the events of the block being written are lost, and the lost events are
// counted. Definitions are written again with the next block. Readers see a gap in the numbers of events.
// Close() still writes the index.
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
    // Number of full event blocks between two checkpoints; larger if many allocations are alive.
    uint32_t blocks_per_checkpoint = 4;
  };
  static constexpr uint32_t kMaxEventsPerWriterBlock = 1 << 18;

  static Result<std::unique_ptr<TraceWriter>> Create(std::unique_ptr<ByteSink> sink, const TraceClock& clock,
                                                     const Options& options);
  static Result<std::unique_ptr<TraceWriter>> Create(std::unique_ptr<ByteSink> sink, const TraceClock& clock);
  // Creates a trace that has no events, but has all definitions of `other` under the same ids. So events that
  // were made for `other` can be appended.
  static Result<std::unique_ptr<TraceWriter>> CreateLike(const TraceWriter& other,
                                                         std::unique_ptr<ByteSink> sink,
                                                         const TraceClock& clock);
  // Does not call Close(). The file then looks as if the recorder had been killed.
  ~TraceWriter();

  // Returns the id of a text, never 0. Equal texts get the same id.
  StringId InternString(std::string_view text);
  // Returns the id of the stack that consists of the stack `parent` (0 = empty) and one inner frame.
  StackId InternFrame(StackId parent, StringId frame);

  // Both Add functions return numbers that count up from 0.
  uint32_t AddProcess(const ProcessInfo& info);
  void UpdateProcess(uint32_t process, const ProcessInfo& info);
  uint32_t AddThread(const ThreadInfo& info);
  // Returns the process number of a thread; 0 for unknown threads.
  uint32_t ProcessOf(uint32_t thread) const;

  // Stores a value under a key such as "vramscope.version", "command_line", "env.PYTORCH_CUDA_ALLOC_CONF",
  // "torch.version" or "option.depth". A later value for the same key replaces the earlier value.
  void SetMetadata(std::string_view key, std::string_view value);

  // Stores the text of a source file. `path` is the path in stack frames. `text` has at most kMaxTextBytes. A
  // later text with the same path replaces the earlier text.
  void AddSourceFile(std::string_view path, std::string_view text);
  // Stores a process's program of one step (glossary: Program). A later program of the same process replaces
  // the earlier one. A program larger than kMaxProgramBytes is left out.
  void AddProgram(uint32_t process, const ProgramText& program);
  // Calls `visit` with each frame, beginning with frame number `first` (1-based). Some frames occur more than
  // once. Returns the number that the next new frame will get.
  StackId VisitFrames(StackId first, const std::function<void(std::string_view)>& visit) const;

  // Appends events. Readers get them in this order. Times should not decrease, but may do so if a thread
  // reports late. Event::thread must be a number from AddThread; other threads count as threads of process 0.
  // Events of unknown types are left out.
  Status Append(std::span<const Event> events);
  // Writes pending events as a block, so that readers can see them.
  Status Flush();
  // Writes pending events, the index and the trailer. Afterwards, the writer accepts no more calls that
  // write.
  Status Close();

  uint64_t events_written() const;  // number of events that reached the sink
  uint64_t events_lost() const;     // number of events that the sink failed to write
  uint64_t bytes_written() const;

 private:
  class Impl;
  explicit TraceWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trace
