// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/trace_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace_format/file_sink.h"

namespace vramscope::collector {

namespace {

// 400 MB: a step with more events is kept in part.
constexpr size_t kMostEventsOfABlackBox = 4'000'000;
constexpr size_t kMostEventsBetweenParts = 1'000'000;

class NoSink final : public trace::ByteSink {
 public:
  Status Write(std::span<const std::byte>) override { return {}; }
};

// A limit can be exceeded by one block, so a small limit gets small blocks.
trace::TraceWriter::Options WriterOptions(uint64_t max_bytes) {
  trace::TraceWriter::Options options;
  if (max_bytes != 0) {
    options.events_per_block =
        static_cast<uint32_t>(std::clamp<uint64_t>(max_bytes / 64, 1024, options.events_per_block));
  }
  return options;
}

}  // namespace

Result<std::unique_ptr<TraceOutput>> TraceOutput::Create(std::unique_ptr<trace::ByteSink> sink,
                                                         const trace::TraceClock& clock, uint64_t max_bytes) {
  auto writer = VRAMSCOPE_TRY(trace::TraceWriter::Create(std::move(sink), clock, WriterOptions(max_bytes)));
  return std::unique_ptr<TraceOutput>(new TraceOutput(std::move(writer), clock, max_bytes));
}

Result<std::unique_ptr<TraceOutput>> TraceOutput::CreateBlackBox(const trace::TraceClock& clock,
                                                                 uint32_t steps) {
  auto output = VRAMSCOPE_TRY(Create(std::make_unique<NoSink>(), clock, 0));
  output->box_ = std::make_unique<BlackBox>(steps, kMostEventsOfABlackBox);
  return output;
}

void TraceOutput::SetStepsBefore(const BlackBox& box) {
  writer_->SetMetadata("black_box.steps_before", std::to_string(box.steps_before()));
  for (const auto& [process, steps] : box.steps_before_of())
    writer_->SetMetadata(fmt::format("process.{}.steps_before", process), std::to_string(steps));
}

Result<std::unique_ptr<TraceOutput>> TraceOutput::CreateParts(std::unique_ptr<trace::ByteSink> sink,
                                                              const trace::TraceClock& clock,
                                                              uint64_t part_bytes, NextSink next) {
  auto output = VRAMSCOPE_TRY(Create(std::move(sink), clock, part_bytes));
  output->max_bytes_ = 0;
  output->parts_.emplace(Parts{part_bytes, std::move(next), BlackBox(1, kMostEventsBetweenParts)});
  output->writer_->SetMetadata("recording.part", "1");
  return output;
}

Status TraceOutput::OpenNextPart() {
  std::unique_ptr<trace::ByteSink> sink = VRAMSCOPE_TRY(parts_->next());
  writer_ = VRAMSCOPE_TRY(trace::TraceWriter::CreateLike(*writer_, std::move(sink), clock_));
  return {};
}

void TraceOutput::StartNextPart() {
  parts_->events_lost += writer_->events_lost();
  Status status = writer_->Close();
  if (status.ok()) status = OpenNextPart();
  if (status.ok()) {
    writer_->SetMetadata("recording.part", std::to_string(++parts_->number));
    SetStepsBefore(parts_->state);
    parts_->steps_done = parts_->state.steps_done();
    status = writer_->Append(parts_->state.Events());
  }
  if (!status.ok()) Stop(status.error().sentence);
}

Status TraceOutput::WriteBlackBox(std::unique_ptr<trace::ByteSink> sink) {
  if (sources_) sources_->Update(*writer_);
  SetStepsBefore(*box_);
  auto writer = VRAMSCOPE_TRY(trace::TraceWriter::CreateLike(*writer_, std::move(sink), clock_));
  Status status = writer->Append(box_->Events());
  if (Status closed = writer->Close(); status.ok()) status = closed;
  box_events_ = writer->events_written();
  box_bytes_ = writer->bytes_written();
  return status;
}

bool TraceOutput::TakeOutOfMemory() { return std::exchange(out_of_memory_, false); }

TraceOutput::TraceOutput(std::unique_ptr<trace::TraceWriter> writer, const trace::TraceClock& clock,
                         uint64_t max_bytes)
    : writer_(std::move(writer)), clock_(clock), max_bytes_(max_bytes) {
  batch_.reserve(kBatch);
}

void TraceOutput::Add(const trace::Event& event) {
  if (stopped_) {
    if (event.type != trace::EventType::kLost) ++events_after_stop_;  // our own loss record does not count
    return;
  }
  batch_.push_back(event);
  last_time_ns_ = std::max(last_time_ns_, event.time_ns);
  batch_.back().time_ns = last_time_ns_;
  if (event.type == trace::EventType::kOutOfMemory) out_of_memory_ = true;
  if (box_) {
    box_->Add(batch_.back(), writer_->ProcessOf(event.thread));
    batch_.clear();
    return;
  }
  if (parts_) parts_->state.Add(batch_.back(), writer_->ProcessOf(event.thread));
  if (batch_.size() == kBatch) WriteBatch();
}

void TraceOutput::WriteBatch() {
  if (batch_.empty()) return;
  const Status status = writer_->Append(batch_);
  batch_.clear();
  const uint64_t room_for_the_end =
      std::min<uint64_t>(max_bytes_ / 8, 1 << 20);  // for pending data, index and trailer
  if (!status.ok()) {
    Stop(status.error().sentence);
  } else if (max_bytes_ != 0 && writer_->bytes_written() + room_for_the_end >= max_bytes_) {
    Stop(fmt::format("the trace has reached the limit of {} bytes (--max-size)", max_bytes_));
  } else if (parts_ && writer_->bytes_written() >= parts_->bytes) {
    const bool ended_a_step = parts_->state.steps_done() > parts_->steps_done;
    if (ended_a_step || writer_->bytes_written() >= parts_->bytes * 3 / 2) StartNextPart();
  }
}

void TraceOutput::Flush() {
  if (stopped_ || box_) return;
  WriteBatch();
  if (stopped_) return;
  if (sources_) sources_->Update(*writer_);
  if (const Status status = writer_->Flush(); !status.ok()) Stop(status.error().sentence);
}

void TraceOutput::Close() {
  if (box_) return;
  Flush();
  if (const Status status = writer_->Close(); !status.ok()) Stop(status.error().sentence);
}

void TraceOutput::Stop(std::string sentence) {
  if (stopped_) return;
  stopped_ = true;
  stop_sentence_ = std::move(sentence);
}

}  // namespace vramscope::collector
