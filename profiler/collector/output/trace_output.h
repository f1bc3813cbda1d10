// SPDX-License-Identifier: Apache-2.0
// Where the events go: batches them into the trace writer, keeps their times from falling, and stops for good
// at the first failure or at the size limit. After that everything is counted as lost and nothing fails any
// more: the training is the boss.
//
// Instead of into a file they may go into a black box (black_box.h), which is written when somebody wants it.
#pragma once

#include <cstdint>
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
  // Takes over `sink`. `max_bytes` 0 = no limit. An error when not even the header can be written.
  static Result<std::unique_ptr<TraceOutput>> Create(std::unique_ptr<trace::ByteSink> sink,
                                                     const trace::TraceClock& clock, uint64_t max_bytes);

  // Keeps the last `steps` optimizer steps in memory and writes nothing by itself.
  static Result<std::unique_ptr<TraceOutput>> CreateBlackBox(const trace::TraceClock& clock, uint32_t steps);

  // From now on, source files that stacks name go into the trace too (source_embedder.h).
  void EmbedSources() { sources_.emplace(); }

  // The black box as a whole trace of its own; what is in it stays. Only for a black box.
  Status WriteBlackBox(std::unique_ptr<trace::ByteSink> sink);
  // True once after each out-of-memory error that has gone into the black box.
  bool TakeOutOfMemory();
  // Steps that the black box does not have any more.
  [[nodiscard]] uint64_t steps_before() const { return box_->steps_before(); }

  // The writer's interning and process tables; safe to use also after a stop.
  [[nodiscard]] trace::TraceWriter& writer() { return *writer_; }

  // `event.time_ns` earlier than the event before becomes that event's time: a thread that was interrupted
  // between reading the clock and publishing its record comes late, and what depends on its record comes
  // later still (see drain.h).
  void Add(const trace::Event& event);
  // Makes everything added so far readable in the file.
  void Flush();
  // Flush, and closes the trace. Once.
  void Close();

  // Stops recording with that sentence ("the disk is full"), unless it has stopped already.
  void Stop(std::string sentence);
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const std::string& stop_sentence() const { return stop_sentence_; }

  // Events that are in the file (the last one that was written of a black box), and those that came after the
  // stop or could not be written. Exact after Flush or Close.
  [[nodiscard]] uint64_t events() const { return box_ ? box_events_ : writer_->events_written(); }
  [[nodiscard]] uint64_t events_lost() const { return events_after_stop_ + writer_->events_lost(); }
  [[nodiscard]] uint64_t bytes() const { return box_ ? box_bytes_ : writer_->bytes_written(); }
  [[nodiscard]] uint64_t last_time_ns() const { return last_time_ns_; }

 private:
  static constexpr size_t kBatch = 4096;  // 320 KiB of events

  TraceOutput(std::unique_ptr<trace::TraceWriter> writer, uint64_t max_bytes);
  void WriteBatch();

  std::unique_ptr<trace::TraceWriter> writer_;  // of a black box: its definitions, never its events
  std::unique_ptr<BlackBox> box_;
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
