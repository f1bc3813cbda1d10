// SPDX-License-Identifier: Apache-2.0
// Writes events into a trace file in batches. Writing stops at the first failure or at the size limit. After
// that, every event counts as lost. Add, Flush and Close may still be called.
//
// A TraceOutput may also keep the events in a black box (black_box.h), which is written only on request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/collector/black_box/black_box.h"
#include "profiler/collector/launch/source_embedder.h"
#include "trace_format/result.h"
#include "trace_format/writer.h"

namespace vramscope::collector {

class TraceOutput {
 public:
  // Creates an output for one trace file. `max_bytes` 0 = no limit. Returns an error if the file header
  // cannot be written.
  static Result<std::unique_ptr<TraceOutput>> Create(std::unique_ptr<trace::ByteSink> sink,
                                                     const trace::TraceClock& clock, uint64_t max_bytes);

  using NextSink = std::function<Result<std::unique_ptr<trace::ByteSink>>()>;
  // Creates an output for a series of files (parts). A part is closed at the end of a step, when the file has
  // about `part_bytes`. `next` returns the sink of the next part. Each part begins with the live blocks and
  // other state, and with the last step of the previous part (black_box.h). So each part is a complete trace,
  // and any part may be removed.
  static Result<std::unique_ptr<TraceOutput>> CreateParts(std::unique_ptr<trace::ByteSink> sink,
                                                          const trace::TraceClock& clock, uint64_t part_bytes,
                                                          NextSink next);

  // Creates an output that keeps the last `steps` optimizer steps in memory. Only WriteBlackBox() writes a
  // file.
  static Result<std::unique_ptr<TraceOutput>> CreateBlackBox(const trace::TraceClock& clock, uint32_t steps);

  // After this call, source files of recorded stacks are written into the trace (source_embedder.h).
  void EmbedSources() { sources_.emplace(); }

  // Writes the black box to `sink` as a complete trace. The black box keeps its contents.
  Status WriteBlackBox(std::unique_ptr<trace::ByteSink> sink);
  // Returns true once after each out-of-memory error. Only for a black box.
  bool TakeOutOfMemory();
  // Number of steps that the black box no longer has. Only for a black box.
  [[nodiscard]] uint64_t steps_before() const { return box_->steps_before(); }
  // Number of complete optimizer steps. Only for a black box.
  [[nodiscard]] uint64_t steps_done() const { return box_->steps_done(); }

  // The writer, for the tables of texts, stacks and processes, also after a stop. Do not keep the reference,
  // because each part has its own writer.
  [[nodiscard]] trace::TraceWriter& writer() { return *writer_; }

  // Adds an event. If `event.time_ns` is before the time of the previous event, the event gets the time of
  // the previous event, because a thread may publish a record late.
  void Add(const trace::Event& event);
  // Makes all added events readable in the file.
  void Flush();
  // Flushes and closes the trace. Call once.
  void Close();

  // Stops writing, unless writing has already stopped. `sentence` is the reason, such as "the disk is full".
  void Stop(std::string sentence);
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const std::string& stop_sentence() const { return stop_sentence_; }

  // events() is the number of events in the file, or in the last file of a black box. events_lost() counts
  // events after the stop and events that could not be written. Both are exact after Flush() or Close().
  [[nodiscard]] uint64_t events() const { return box_ ? box_events_ : writer_->events_written(); }
  [[nodiscard]] uint64_t events_lost() const {
    return events_after_stop_ + writer_->events_lost() + (parts_ ? parts_->events_lost : 0);
  }
  [[nodiscard]] uint64_t bytes() const { return box_ ? box_bytes_ : writer_->bytes_written(); }
  [[nodiscard]] uint64_t last_time_ns() const { return last_time_ns_; }

 private:
  static constexpr size_t kBatch = 4096;  // 320 KiB of events

  TraceOutput(std::unique_ptr<trace::TraceWriter> writer, const trace::TraceClock& clock, uint64_t max_bytes);
  void WriteBatch();
  void SetStepsBefore(const BlackBox& box);
  void StartNextPart();
  Status OpenNextPart();

  struct Parts {
    uint64_t bytes = 0;
    NextSink next;
    BlackBox state;
    uint64_t number = 1;       // 1-based number of the current part
    uint64_t steps_done = 0;   // number of complete steps when the current part began
    uint64_t events_lost = 0;  // lost events of earlier parts
  };

  std::unique_ptr<trace::TraceWriter> writer_;  // for a black box: only definitions, no events
  std::unique_ptr<BlackBox> box_;
  std::optional<Parts> parts_;
  std::optional<SourceEmbedder> sources_;
  trace::TraceClock clock_;
  bool out_of_memory_ = false;
  uint64_t box_events_ = 0;
  uint64_t box_bytes_ = 0;
  uint64_t max_bytes_;
  std::vector<trace::Event> batch_;
  uint64_t last_time_ns_ = 0;
  uint64_t events_after_stop_ = 0;
  bool stopped_ = false;
  std::string stop_sentence_;
};

}  // namespace vramscope::collector
