// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/to_trace.h"

#include <unordered_map>
#include <vector>

#include "trace_format/writer.h"

namespace vramscope::snapshot {
namespace {

using trace::FieldKind;

class Copy {
 public:
  Copy(const model::Source& source, trace::TraceWriter* writer) : source_(source), writer_(*writer) {}

  Status Run() {
    for (const trace::ProcessInfo& process : source_.processes()) writer_.AddProcess(process);
    for (const trace::ThreadInfo& thread : source_.threads()) writer_.AddThread(thread);
    for (const auto& [key, value] : source_.metadata()) writer_.SetMetadata(key, value);
    Status written;
    const Status read = source_.ForEachBatch([&](std::span<const trace::Event> events) {
      batch_.assign(events.begin(), events.end());
      for (trace::Event& event : batch_) Translate(&event);
      written = writer_.Append(batch_);
      return written.ok();
    });
    VRAMSCOPE_TRY(written);
    VRAMSCOPE_TRY(read);
    return writer_.Close();
  }

 private:
  // Ids are those of the source; the writer has different ones.
  void Translate(trace::Event* event) {
    const trace::EventSpec& spec = trace::kEventSchema[static_cast<size_t>(event->type)];
    for (size_t i = 0; i < spec.field_count; ++i) {
      if (spec.fields[i].kind == FieldKind::kString) event->field[i] = String(event->field[i]);
      if (spec.fields[i].kind == FieldKind::kStack) event->field[i] = Stack(event->field[i]);
    }
  }

  uint64_t String(uint64_t id) {
    if (id == 0) return 0;
    const auto [known, fresh] = strings_.try_emplace(id, 0);
    if (fresh) known->second = writer_.InternString(source_.String(static_cast<trace::StringId>(id)));
    return known->second;
  }

  uint64_t Stack(uint64_t id) {
    if (id == 0) return 0;
    const auto [known, fresh] = stacks_.try_emplace(id, 0);
    if (!fresh) return known->second;
    trace::StackId stack = 0;
    for (const trace::StringId frame : source_.Stack(static_cast<trace::StackId>(id))) {
      stack = writer_.InternFrame(stack, static_cast<trace::StringId>(String(frame)));
    }
    return known->second = stack;
  }

  const model::Source& source_;
  trace::TraceWriter& writer_;
  std::vector<trace::Event> batch_;
  std::unordered_map<uint64_t, trace::StringId> strings_;
  std::unordered_map<uint64_t, trace::StackId> stacks_;
};

}  // namespace

Status WriteTrace(const model::Source& source, std::unique_ptr<trace::ByteSink> sink) {
  auto writer = VRAMSCOPE_TRY(trace::TraceWriter::Create(std::move(sink), source.clock()));
  return Copy(source, writer.get()).Run();
}

}  // namespace vramscope::snapshot
