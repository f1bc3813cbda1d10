// SPDX-License-Identifier: Apache-2.0
#include "trace_format/writer.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "trace_format/block_index.h"
#include "trace_format/block_writer.h"
#include "trace_format/checkpoint.h"
#include "trace_format/event_encoder.h"
#include "trace_format/live_set.h"
#include "trace_format/pending_definitions.h"

namespace vramscope::trace {
namespace {

// A live block takes about five bytes in a checkpoint, and an event about two in its block. With this many
// events between two checkpoints of a large live set, checkpoints add at most some ten percent.
constexpr uint64_t kEventsPerCheckpointedBlock = 25;

std::array<uint8_t, 16> RandomUuid() {
  std::random_device random;
  std::array<uint8_t, 16> uuid;
  for (uint8_t& byte : uuid) byte = static_cast<uint8_t>(random());
  uuid[6] = (uuid[6] & 0x0f) | 0x40;  // version 4, variant 1 of RFC 4122
  uuid[8] = (uuid[8] & 0x3f) | 0x80;
  return uuid;
}

}  // namespace

class TraceWriter::Impl {
 public:
  Impl(std::unique_ptr<ByteSink> sink, const Options& options)
      : options_(options), blocks_(std::move(sink), options.zstd_level), encoder_(live_) {
    options_.events_per_block = std::clamp(options.events_per_block, 1u, kMaxEventsPerWriterBlock);
  }

  Status WriteHeader(const TraceClock& clock) {
    FileHeader header;
    header.uuid = RandomUuid();
    header.start_realtime_ns = clock.start_realtime_ns;
    header.start_monotonic_ns = clock.start_monotonic_ns;
    return blocks_.WriteBare(EncodeFileHeader(header));
  }

  Status Append(std::span<const Event> events) {
    if (closed_) return Error{"The trace is closed and accepts no more events. Start another recording."};
    Status status;
    for (const Event& event : events) {
      const size_t type = static_cast<size_t>(event.type);
      if (type >= kEventTypeCount || kEventSchema[type].name == nullptr) continue;
      const uint32_t process = definitions_.ProcessOf(event.thread);
      encoder_.Add(event, process, allocs_);
      if (event.type == EventType::kAlloc) ++allocs_;
      live_.Apply(event, process, allocs_);
      if (encoder_.count() < options_.events_per_block) continue;
      if (Status flushed = Flush(); !flushed.ok() && status.ok()) status = flushed;
    }
    return status;
  }

  Status Flush() {
    Status status = definitions_.Write(&blocks_, Position());
    if (encoder_.count() == 0) return status;
    Status written = WriteEvents();
    if (written.ok() && CheckpointIsDue()) written = WriteCheckpoint();
    return status.ok() ? written : status;
  }

  Status Close() {
    if (closed_) return {};
    Status status = Flush();
    closed_ = true;
    const uint64_t index_offset = blocks_.bytes_written();
    BlockHeader header = Position();
    header.type = BlockType::kIndex;
    header.count = static_cast<uint32_t>(blocks_.entries().size());
    Status written = blocks_.WriteIndex(header, EncodeIndex(blocks_.entries()));
    if (written.ok()) written = blocks_.WriteBare(EncodeTrailer({index_offset, events_}));
    return status.ok() ? written : status;
  }

  PendingDefinitions& definitions() { return definitions_; }
  const Options& options() const { return options_; }
  uint64_t events_written() const { return events_ - events_lost_; }
  uint64_t events_lost() const { return events_lost_; }
  uint64_t bytes_written() const { return blocks_.bytes_written(); }

 private:
  // A header for a block at the current position of the trace.
  BlockHeader Position() const {
    BlockHeader header;
    header.first_time_ns = header.last_time_ns = last_time_ns_;
    header.first_event = events_;
    header.first_alloc = allocs_of_blocks_;
    return header;
  }

  Status WriteEvents() {
    BlockHeader header = Position();
    header.type = BlockType::kEvents;
    header.count = static_cast<uint32_t>(encoder_.count());
    header.first_time_ns = encoder_.first_time_ns();
    header.last_time_ns = encoder_.last_time_ns();
    Status written = blocks_.Write(header, encoder_.Finish());
    // Lost or not, the events keep their numbers; a reader sees the gap.
    events_ += header.count;
    events_since_checkpoint_ += header.count;
    allocs_of_blocks_ = allocs_;
    last_time_ns_ = std::max(last_time_ns_, header.last_time_ns);
    if (!written.ok()) events_lost_ += header.count;
    return written;
  }

  bool CheckpointIsDue() const {
    if (live_.size() > kMaxEventsPerBlock) return false;
    const uint64_t interval = uint64_t{options_.events_per_block} * options_.blocks_per_checkpoint;
    return events_since_checkpoint_ >= std::max(interval, live_.size() * kEventsPerCheckpointedBlock);
  }

  Status WriteCheckpoint() {
    const std::vector<LiveBlock> alive = live_.Sorted();
    BlockHeader header = Position();
    header.type = BlockType::kCheckpoint;
    header.count = static_cast<uint32_t>(alive.size());
    events_since_checkpoint_ = 0;
    return blocks_.Write(header, EncodeCheckpoint(alive));
  }

  Options options_;
  BlockWriter blocks_;
  PendingDefinitions definitions_;
  LiveSet live_;
  EventEncoder encoder_;
  uint64_t allocs_ = 0;            // kAlloc events so far
  uint64_t allocs_of_blocks_ = 0;  // of those in blocks, written or lost
  uint64_t events_ = 0;            // in blocks, written or lost
  uint64_t events_lost_ = 0;
  uint64_t events_since_checkpoint_ = 0;
  uint64_t last_time_ns_ = 0;
  bool closed_ = false;
};

TraceWriter::TraceWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceWriter::~TraceWriter() = default;

Result<std::unique_ptr<TraceWriter>> TraceWriter::Create(std::unique_ptr<ByteSink> sink,
                                                         const TraceClock& clock, const Options& options) {
  auto impl = std::make_unique<Impl>(std::move(sink), options);
  VRAMSCOPE_TRY(impl->WriteHeader(clock));
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(impl)));
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::Create(std::unique_ptr<ByteSink> sink,
                                                         const TraceClock& clock) {
  return Create(std::move(sink), clock, Options());
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::CreateLike(const TraceWriter& other,
                                                             std::unique_ptr<ByteSink> sink,
                                                             const TraceClock& clock) {
  auto writer = Create(std::move(sink), clock, other.impl_->options());
  if (writer.ok()) (*writer)->impl_->definitions().CopyFrom(other.impl_->definitions());
  return writer;
}

StringId TraceWriter::InternString(std::string_view text) {
  return impl_->definitions().strings.Intern(text);
}

StackId TraceWriter::InternFrame(StackId parent, StringId frame) {
  return impl_->definitions().stacks.Intern({parent, frame});
}

uint32_t TraceWriter::AddProcess(const ProcessInfo& info) { return impl_->definitions().AddProcess(info); }

void TraceWriter::UpdateProcess(uint32_t process, const ProcessInfo& info) {
  impl_->definitions().UpdateProcess(process, info);
}

uint32_t TraceWriter::AddThread(const ThreadInfo& info) { return impl_->definitions().AddThread(info); }

uint32_t TraceWriter::ProcessOf(uint32_t thread) const { return impl_->definitions().ProcessOf(thread); }

void TraceWriter::SetMetadata(std::string_view key, std::string_view value) {
  impl_->definitions().SetMetadata(key, value);
}
void TraceWriter::AddSourceFile(std::string_view path, std::string_view text) {
  impl_->definitions().AddSourceFile(path, text);
}
void TraceWriter::AddProgram(uint32_t process, const ProgramText& program) {
  impl_->definitions().AddProgram(process, program);
}
StackId TraceWriter::VisitFrames(StackId first, const std::function<void(std::string_view)>& visit) const {
  const PendingDefinitions& definitions = impl_->definitions();
  StackId next = std::max<StackId>(first, 1);
  for (; next <= definitions.stacks.count(); ++next) {
    const StringId frame = definitions.stacks.at(next).frame;
    if (frame != 0 && frame <= definitions.strings.count()) visit(definitions.strings.at(frame));
  }
  return next;
}

Status TraceWriter::Append(std::span<const Event> events) { return impl_->Append(events); }
Status TraceWriter::Flush() { return impl_->Flush(); }
Status TraceWriter::Close() { return impl_->Close(); }
uint64_t TraceWriter::events_written() const { return impl_->events_written(); }
uint64_t TraceWriter::events_lost() const { return impl_->events_lost(); }
uint64_t TraceWriter::bytes_written() const { return impl_->bytes_written(); }

}  // namespace vramscope::trace
