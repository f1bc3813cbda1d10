// SPDX-License-Identifier: Apache-2.0
// Batches events into the trace writer. Stops at the first failure or at the size limit. After that, every
// event counts as lost and no call fails.
//
// Events may also go into a black box (black_box.h), which is written on request.
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
  // `max_bytes` 0 = no limit. An error if the header cannot be written.
  static Result<std::unique_ptr<TraceOutput>> Create(std::unique_ptr<trace::ByteSink> sink,
                                                     const trace::TraceClock& clock, uint64_t max_bytes);

  using NextSink = std::function<Result<std::unique_ptr<trace::ByteSink>>()>;
  // Writes a series of files of about `part_bytes` each, closed at the end of a step. `next` returns the sink
  // of the next file. Each file begins with the state that is still valid and with the last step
  // (black_box.h). So each file is a complete trace, and any file may be removed.
  static Result<std::unique_ptr<TraceOutput>> CreateParts(std::unique_ptr<trace::ByteSink> sink,
                                                          const trace::TraceClock& clock, uint64_t part_bytes,
                                                          NextSink next);

  // Keeps the last `steps` optimizer steps in memory. Writes nothing by itself.
  static Result<std::unique_ptr<TraceOutput>> CreateBlackBox(const trace::TraceClock& clock, uint32_t steps);

  // From now on, also embeds source files (source_embedder.h).
  void EmbedSources() { sources_.emplace(); }

  // Writes a complete trace and keeps the contents. Only for a black box.
  Status WriteBlackBox(std::unique_ptr<trace::ByteSink> sink);
  // True once after each out-of-memory error in the black box.
  bool TakeOutOfMemory();
  // Number of steps that the black box has dropped.
  [[nodiscard]] uint64_t steps_before() const { return box_->steps_before(); }
  // Number of complete optimizer steps. Only for a black box.
  [[nodiscard]] uint64_t steps_done() const { return box_->steps_done(); }

  // For interning and process tables, also after a stop. Do not keep the reference: each part has its own
  // writer.
  [[nodiscard]] trace::TraceWriter& writer() { return *writer_; }

  // If `event.time_ns` is before the previous event, it is raised to that time: a thread may publish a record
  // late.
  void Add(const trace::Event& event);
  // Makes all added events readable in the file.
  void Flush();
  // Flushes and closes the trace. Call once.
  void Close();

  // Stops recording, unless it has already stopped. `sentence`: the reason, such as "the disk is full".
  void Stop(std::string sentence);
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const std::string& stop_sentence() const { return stop_sentence_; }

  // events: number in the file, or in the last file of a black box. events_lost: events after the stop, and
  // events that could not be written. Exact after Flush or Close.
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
    uint64_t number = 1;       // of the part that is being written
    uint64_t steps_done = 0;   // when that part began
    uint64_t events_lost = 0;  // in the parts before it
  };

  std::unique_ptr<trace::TraceWriter> writer_;  // for a black box: its definitions, never its events
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
