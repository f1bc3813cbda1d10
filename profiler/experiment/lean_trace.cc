// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/lean_trace.h"

#include <memory>
#include <utility>
#include <vector>

#include "trace_format/event.h"
#include "trace_format/writer.h"

namespace vramscope::experiment {
namespace {

using trace::Event;
using trace::EventType;

constexpr int kBestCompression = 19;  // written once, read often

class BytesSink final : public trace::ByteSink {
 public:
  explicit BytesSink(trace::Bytes* bytes) : bytes_(bytes) {}
  Status Write(std::span<const std::byte> bytes) override {
    trace::PutBytes(bytes, bytes_);
    return {};
  }

 private:
  trace::Bytes* bytes_;
};

// Facts about the machine that runs the program are not facts about the step.
bool IsNeeded(const Event& event) {
  switch (event.type) {
    case EventType::kCoverage:
    case EventType::kCounter:
      return false;
    default:
      return true;
  }
}

constexpr uint32_t kOfOthers = ~0U;

// The number of each thread of `full` in the new trace.
std::vector<uint32_t> AddThreadsOf(const trace::TraceReader& full, uint32_t pid, trace::TraceWriter& writer) {
  std::vector<uint32_t> numbers, processes;
  for (const trace::ProcessInfo& process : full.processes())
    processes.push_back(process.pid == pid ? writer.AddProcess(process) : kOfOthers);
  for (const trace::ThreadInfo& thread : full.threads()) {
    const uint32_t process = processes[thread.process];
    numbers.push_back(process == kOfOthers ? kOfOthers : writer.AddThread({process, thread.os_thread, ""}));
  }
  return numbers;
}

}  // namespace

Result<trace::Bytes> LeanTrace(const trace::TraceReader& full, uint32_t pid) {
  trace::Bytes bytes;
  auto made = VRAMSCOPE_TRY(trace::TraceWriter::Create(
      std::make_unique<BytesSink>(&bytes), full.clock(),
      {.zstd_level = kBestCompression, .events_per_block = trace::TraceWriter::kMaxEventsPerWriterBlock}));
  trace::TraceWriter& writer = *made;
  const std::vector<uint32_t> threads = AddThreadsOf(full, pid, writer);
  for (const auto& [key, value] : full.metadata()) writer.SetMetadata(key, value);
  std::vector<Event> kept;
  const Status read = full.ForEachBatch([&](std::span<const Event> batch) {
    kept.clear();
    for (Event event : batch) {
      if (!IsNeeded(event) || threads[event.thread] == kOfOthers) continue;
      event.thread = threads[event.thread];
      const trace::EventSpec& spec = trace::kEventSchema[static_cast<size_t>(event.type)];
      for (size_t i = 0; i < spec.field_count; ++i) {
        if (spec.fields[i].kind == trace::FieldKind::kStack) event.field[i] = 0;
        if (spec.fields[i].kind == trace::FieldKind::kString && event.field[i] != 0)
          event.field[i] = writer.InternString(full.String(static_cast<trace::StringId>(event.field[i])));
      }
      kept.push_back(event);
    }
    return writer.Append(kept).ok();
  });
  VRAMSCOPE_TRY(read);
  VRAMSCOPE_TRY(writer.Close());
  return bytes;
}

}  // namespace vramscope::experiment
