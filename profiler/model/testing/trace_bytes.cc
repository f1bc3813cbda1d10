// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/testing/trace_bytes.h"

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "trace_format/event.h"
#include "trace_format/testing/memory_sink.h"
#include "trace_format/writer.h"

namespace vramscope::model::testing {

trace::Bytes TraceBytes(const Source& source) {
  trace::Bytes bytes;
  auto writer =
      trace::TraceWriter::Create(std::make_unique<trace::testing::MemorySink>(&bytes), source.clock())
          .value();
  for (const trace::ProcessInfo& process : source.processes()) writer->AddProcess(process);
  for (const trace::ThreadInfo& thread : source.threads()) writer->AddThread(thread);
  for (const auto& [key, value] : source.metadata()) writer->SetMetadata(key, value);
  const Status read = source.ForEachBatch([&](std::span<const trace::Event> batch) {
    std::vector<trace::Event> events(batch.begin(), batch.end());
    for (trace::Event& event : events) {
      const trace::EventSpec& spec = trace::kEventSchema[static_cast<size_t>(event.type)];
      for (size_t i = 0; i < spec.field_count; ++i) {
        if (spec.fields[i].kind == trace::FieldKind::kStack) event.field[i] = 0;
        if (spec.fields[i].kind == trace::FieldKind::kString && event.field[i] != 0)
          event.field[i] = writer->InternString(source.String(static_cast<trace::StringId>(event.field[i])));
      }
    }
    return writer->Append(events).ok();
  });
  if (!read.ok() || !writer->Close().ok()) std::abort();
  return bytes;
}

}  // namespace vramscope::model::testing
