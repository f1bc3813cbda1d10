// SPDX-License-Identifier: Apache-2.0
// Oracle: the full trace, event by event, with texts instead of their numbers.
#include "profiler/experiment/lean_trace.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/writer.h"

namespace vramscope::experiment {
namespace {

using trace::Event;
using trace::EventType;

// Everything except stacks: a lean trace has none.
std::vector<std::string> Lines(const trace::TraceReader& reader, bool lean) {
  std::vector<std::string> lines;
  for (const Event& event : trace::testing::ReadAll(reader)) {
    if (!lean && (event.type == EventType::kCoverage || event.type == EventType::kCounter)) continue;
    std::string line = std::to_string(static_cast<int>(event.type)) + " " + std::to_string(event.time_ns);
    const trace::EventSpec& spec = trace::kEventSchema[static_cast<size_t>(event.type)];
    for (size_t i = 0; i < spec.field_count; ++i) {
      const auto kind = spec.fields[i].kind;
      if (kind == trace::FieldKind::kStack) continue;
      const auto id = static_cast<trace::StringId>(event.field[i]);
      line += kind != trace::FieldKind::kString ? " " + std::to_string(event.field[i])
              : id == 0                         ? " none"
                                                : " \"" + std::string(reader.String(id)) + "\"";
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(LeanTraceTest, HasTheSameEventsAndTextsAndIsSmaller) {
  std::mt19937_64 random(7);
  trace::Bytes bytes;
  auto writer =
      trace::TraceWriter::Create(std::make_unique<trace::testing::MemorySink>(&bytes), {3, 4}).value();
  writer->AddThread({writer->AddProcess({.pid = 7}), 8, "main"});
  writer->SetMetadata("simulated.gpu", "rtx-4090");
  std::vector<trace::StringId> texts = {0, writer->InternString("")};
  for (int i = 0; i < 40; ++i) texts.push_back(writer->InternString("text " + std::to_string(i)));
  std::vector<Event> events;
  while (events.size() < 3000) {
    Event event = trace::testing::RandomEvent(random, 1);
    const trace::EventSpec& spec = trace::kEventSchema[static_cast<size_t>(event.type)];
    for (size_t i = 0; i < spec.field_count; ++i) {
      if (spec.fields[i].kind == trace::FieldKind::kString) event.field[i] = texts[random() % texts.size()];
    }
    events.push_back(event);
  }
  ASSERT_TRUE(writer->Append(events).ok());
  for (int i = 0; i < 2000; ++i) writer->InternString("unused " + std::to_string(random()));
  ASSERT_TRUE(writer->Close().ok());
  const auto full = trace::testing::ReaderOf(bytes);
  const auto lean = LeanTrace(*full, 7);
  ASSERT_TRUE(lean.ok());
  const auto reader = trace::testing::ReaderOf(*lean);
  EXPECT_EQ(Lines(*reader, true), Lines(*full, false));
  EXPECT_LT(lean->size(), bytes.size() * 9 / 10);
  EXPECT_EQ(reader->metadata(), full->metadata());
  EXPECT_EQ(reader->clock().start_realtime_ns, 3u);
}

TEST(LeanTraceTest, DropsFactsAboutTheMachine) {
  Event coverage{.type = EventType::kCoverage};
  Event done{.type = EventType::kMark};
  done.field[trace::mark::kKind] = static_cast<uint64_t>(trace::MarkKind::kOptimizerStepDone);
  const trace::Bytes bytes = trace::testing::WriteTrace(std::vector<Event>{coverage, done});
  const auto lean = LeanTrace(*trace::testing::ReaderOf(bytes), 100);
  ASSERT_TRUE(lean.ok());
  EXPECT_EQ(trace::testing::ReadAll(*trace::testing::ReaderOf(*lean)).size(), 1u);
}

TEST(LeanTraceTest, HasOneProcessAlone) {
  std::mt19937_64 random(3);
  std::vector<Event> events;
  for (int i = 0; i < 500; ++i) events.push_back(trace::testing::RandomEvent(random, 3));
  for (Event& event : events)
    for (size_t i = 0; i < std::size(event.field); ++i)
      if (trace::kEventSchema[static_cast<size_t>(event.type)].fields[i].kind == trace::FieldKind::kString)
        event.field[i] = 0;
  const trace::Bytes bytes = trace::testing::WriteTrace(events, {}, 3);
  const auto full = trace::testing::ReaderOf(bytes);
  size_t together = 0;
  for (uint32_t pid = 100; pid < 103; ++pid) {
    const auto lean = LeanTrace(*full, pid);
    ASSERT_TRUE(lean.ok());
    const auto reader = trace::testing::ReaderOf(*lean);
    ASSERT_EQ(reader->processes().size(), 1u);
    EXPECT_EQ(reader->processes()[0].pid, pid);
    ASSERT_EQ(reader->threads().size(), 1u);
    EXPECT_EQ(reader->threads()[0].os_thread, pid + 100);
    together += trace::testing::ReadAll(*reader).size();
  }
  const auto dropped = std::ranges::count_if(events, [](const Event& event) {
    return event.type == EventType::kCoverage || event.type == EventType::kCounter;
  });
  EXPECT_EQ(together, events.size() - static_cast<size_t>(dropped));
}

}  // namespace
}  // namespace vramscope::experiment
