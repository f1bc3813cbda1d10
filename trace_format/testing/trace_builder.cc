// SPDX-License-Identifier: Apache-2.0
#include "trace_format/testing/trace_builder.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/text_dump.h"

namespace vramscope::trace::testing {

Bytes WriteTrace(std::span<const Event> events, const TraceWriter::Options& options, uint32_t threads) {
  Bytes bytes;
  auto writer = TraceWriter::Create(std::make_unique<MemorySink>(&bytes), {1, 2}, options);
  if (!writer.ok()) std::abort();
  for (uint32_t thread = 0; thread < threads; ++thread) {
    const uint32_t process = (*writer)->AddProcess({.pid = 100 + thread});
    (*writer)->AddThread({process, 200 + thread, "thread"});
  }
  if (!(*writer)->Append(events).ok() || !(*writer)->Close().ok()) std::abort();
  return bytes;
}

std::unique_ptr<TraceReader> ReaderOf(ByteView bytes) {
  return std::move(TraceReader::OpenBytes(bytes, "run.vms")).value();
}

std::vector<Event> ReadAll(const TraceReader& reader) {
  std::vector<Event> events;
  const Status read = reader.ForEachBatch([&](std::span<const Event> batch) {
    events.insert(events.end(), batch.begin(), batch.end());
    return true;
  });
  return read.ok() ? events : std::vector<Event>();
}

Event RandomEvent(std::mt19937_64& random, uint32_t threads) {
  Event event;
  event.type = static_cast<EventType>(1 + random() % (kEventTypeCount - 1));
  event.time_ns = random() % 8 == 0 ? random() : random() % 1'000'000;
  event.thread = static_cast<uint32_t>(random() % threads);
  const EventSpec& spec = kEventSchema[static_cast<size_t>(event.type)];
  for (size_t field = 0; field < spec.field_count; ++field) {
    const bool is_address = spec.fields[field].kind == FieldKind::kAddress;
    event.field[field] =
        is_address && random() % 8 != 0 ? 0x7f00'0000 + random() % 50 * 64 : random() >> random() % 64;
  }
  return event;
}

bool SameEvent(const Event& a, const Event& b) {
  return a.type == b.type && a.time_ns == b.time_ns && a.thread == b.thread &&
         std::ranges::equal(a.field, b.field);
}

std::string FirstDifference(std::span<const Event> got, std::span<const Event> wanted) {
  const size_t both = std::min(got.size(), wanted.size());
  for (size_t i = 0; i < both; ++i) {
    if (SameEvent(got[i], wanted[i])) continue;
    return "event " + std::to_string(i) + " is\n  " + EventText(got[i]) + "\ninstead of\n  " +
           EventText(wanted[i]);
  }
  if (got.size() == wanted.size()) return "";
  return std::to_string(got.size()) + " events instead of " + std::to_string(wanted.size());
}

}  // namespace vramscope::trace::testing
