// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "trace_format/event_decoder.h"
#include "trace_format/event_encoder.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/testing/training_stream.h"

namespace vramscope::trace {
namespace {

using testing::FirstDifference;
using testing::RandomEvent;
using testing::ReadAll;
using testing::TrainingStream;
using testing::WriteTrace;

std::vector<Event> ThroughATrace(const std::vector<Event>& events, const TraceWriter::Options& options = {},
                                 uint32_t threads = 4) {
  const Bytes bytes = WriteTrace(events, options, threads);
  const auto reader = TraceReader::OpenBytes(bytes, "run.vms");
  return reader.ok() ? ReadAll(**reader) : std::vector<Event>();
}

std::vector<Event> Decode(ByteView payload, uint32_t count) {
  EventDecoder decoder;
  std::vector<Event> events;
  if (!decoder.Open(payload, count)) return events;
  for (auto batch = decoder.Next(); !batch.empty(); batch = decoder.Next()) {
    events.insert(events.end(), batch.begin(), batch.end());
  }
  return events;
}

TEST(EventCodecTest, EveryTypeComesBackWithExtremeValues) {
  const uint64_t extremes[] = {0, 1, 255, 256, uint64_t{1} << 63, std::numeric_limits<uint64_t>::max()};
  std::vector<Event> events;
  for (size_t type = 1; type < kEventTypeCount; ++type) {
    for (const uint64_t first : extremes) {
      for (const uint64_t second : extremes) {
        Event event{second, static_cast<uint32_t>(type % 4), static_cast<EventType>(type), {}};
        for (size_t field = 0; field < kEventSchema[type].field_count; ++field) {
          event.field[field] = field % 2 == 0 ? first : second;
        }
        events.push_back(event);
      }
    }
  }
  EXPECT_EQ(FirstDifference(ThroughATrace(events), events), "");
}

TEST(EventCodecTest, RandomEventsComeBackInTheirOrder) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (const uint32_t events_per_block : {1u, 7u, 1024u, 1025u, 1u << 16}) {
    std::vector<Event> events(events_per_block < 100 ? 500 : 80'000);
    for (Event& event : events) event = RandomEvent(random, 4);
    TraceWriter::Options options;
    options.events_per_block = events_per_block;
    EXPECT_EQ(FirstDifference(ThroughATrace(events, options), events), "") << events_per_block;
  }
}

TEST(EventCodecTest, ATrainingRunComesBackInLessThanThreeBytesAnEvent) {
  std::vector<Event> events;
  TrainingStream stream(1);
  while (events.size() < 300'000) stream.AppendStep(&events);
  const Bytes bytes = WriteTrace(events);
  EXPECT_LT(static_cast<double>(bytes.size()) / static_cast<double>(events.size()), 3.0);
  EXPECT_EQ(FirstDifference(ThroughATrace(events, {}, 1), events), "");
}

TEST(EventCodecTest, AThreadThatWasNeverAddedKeepsItsNumber) {
  const std::vector<Event> events = {{5, 77, EventType::kOpEnd, {}}};
  EXPECT_EQ(FirstDifference(ThroughATrace(events), events), "");
}

// Two threads of different processes free the same address: each means its own block.
TEST(EventCodecTest, AddressesBelongToTheirProcess) {
  std::vector<Event> events;
  for (uint32_t thread = 0; thread < 2; ++thread) {
    events.push_back({thread, thread, EventType::kAlloc, {0x1000, 64 + thread, 1}});
  }
  for (uint32_t thread = 0; thread < 2; ++thread) {
    events.push_back({10 + thread, thread, EventType::kFree, {0x1000, 64 + thread, 1}});
  }
  EXPECT_EQ(FirstDifference(ThroughATrace(events), events), "");
}

// What a newer writer adds: a type, a field of a known type, and a column of the block as a whole, each
// stored in ways unknown here.
TEST(EventCodecTest, UnknownTypesFieldsAndColumnsAreSkipped) {
  const std::vector<uint64_t> types = {static_cast<uint64_t>(EventType::kAlloc), 200, 0,
                                       static_cast<uint64_t>(EventType::kOpEnd)};
  ColumnSetWriter writer;
  writer.AddCounted(0, block_column::kType, 0, types);
  writer.AddCounted(0, block_column::kThread, 0, std::vector<uint64_t>{3});
  writer.Add(1, alloc::kSize, 0, std::vector<uint64_t>{512});
  writer.Add(1, 99, 0x0f, std::vector<uint64_t>{1});
  writer.Add(200, 0, 0x0f, std::vector<uint64_t>{1, 2});
  writer.Add(0, 77, 0x0f, std::vector<uint64_t>{1, 2, 3});
  writer.Add(11, 0, 0, std::vector<uint64_t>{5});  // kOpEnd has no fields here
  const Bytes payload = writer.Finish();

  const std::vector<Event> wanted = {{0, 3, EventType::kAlloc, {0, 512}}, {0, 3, EventType::kOpEnd, {}}};
  EXPECT_EQ(FirstDifference(Decode(payload, 4), wanted), "");
}

TEST(EventCodecTest, ABatchOfUnknownTypesDoesNotEndTheBlock) {
  std::vector<uint64_t> types(EventDecoder::kBatchEvents * 2, 250);
  types.push_back(static_cast<uint64_t>(EventType::kOpEnd));
  ColumnSetWriter writer;
  writer.AddCounted(0, block_column::kType, 0, types);
  writer.AddCounted(0, block_column::kThread, 0, std::vector<uint64_t>{0});
  EXPECT_EQ(Decode(writer.Finish(), static_cast<uint32_t>(types.size())).size(), 1u);
}

class MalformedPayloadTest : public ::testing::Test {
 protected:
  // A payload of two allocs and what `spoil` adds.
  template <typename Spoil>
  bool Opens(Spoil spoil) {
    ColumnSetWriter writer;
    writer.AddCounted(0, block_column::kType, 0, std::vector<uint64_t>{1, 1});
    writer.AddCounted(0, block_column::kThread, 0, std::vector<uint64_t>{0});
    spoil(&writer);
    const Bytes payload = writer.Finish();
    EventDecoder decoder;
    return decoder.Open(payload, 2);
  }
};

TEST_F(MalformedPayloadTest, ColumnsMustFitTheEvents) {
  const std::vector<uint64_t> two = {5, 6};
  const std::vector<uint64_t> three = {5, 6, 7};
  EXPECT_TRUE(Opens([](ColumnSetWriter*) {}));
  EXPECT_TRUE(Opens([&](ColumnSetWriter* writer) { writer->Add(1, 1, 0, two); }));
  EXPECT_FALSE(Opens([&](ColumnSetWriter* writer) { writer->Add(1, 1, 0, three); }));
  EXPECT_FALSE(Opens([&](ColumnSetWriter* writer) { writer->Add(1, 1, 0x0f, two); })) << "unknown transform";
  EXPECT_FALSE(Opens([&](ColumnSetWriter* writer) { writer->Add(1, 0x80, 0, two); }))
      << "literals of nothing";
  EXPECT_FALSE(Opens([&](ColumnSetWriter* writer) { writer->Add(1, 0, 2, two); }))
      << "an alloc that refers to allocs";
  EXPECT_FALSE(Opens([&](ColumnSetWriter* writer) { writer->Add(1, 1, 0xf4, two); })) << "sibling field 15";
}

// References and repeats that point before the start of the block read as literals. When the literals run
// out, the last one repeats.
TEST_F(MalformedPayloadTest, ReferencesOutOfRangeStayInside) {
  ColumnSetWriter writer;
  writer.AddCounted(0, block_column::kType, 0, std::vector<uint64_t>{2, 1, 2});
  writer.AddCounted(0, block_column::kThread, 0, std::vector<uint64_t>{0});
  writer.Add(1, 0, static_cast<uint8_t>(Transform::kRepeat), std::vector<uint64_t>{1});
  writer.Add(2, 0, static_cast<uint8_t>(Transform::kReference), std::vector<uint64_t>{~uint64_t{0}, 2});
  writer.Add(2, 1, static_cast<uint8_t>(Transform::kReferredSize), std::vector<uint64_t>{2, 4});
  const std::vector<Event> events = Decode(writer.Finish(), 3);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].field[free_::kAddress], 0u);
  EXPECT_EQ(events[1].field[alloc::kAddress], 0u);
  EXPECT_EQ(events[2].field[free_::kSize], 2u);
}

TEST(EventDecoderTest, BytesOfAPayloadMayBeAnything) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<Event> events(300);
  for (Event& event : events) event = RandomEvent(random, 4);
  LiveSet live;
  EventEncoder encoder(live);
  for (const Event& event : events) encoder.Add(event, 0, 0);
  const Bytes whole = encoder.Finish();
  for (int round = 0; round < 3000; ++round) {
    Bytes spoiled = whole;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      spoiled[random() % spoiled.size()] ^= static_cast<std::byte>(1 << random() % 8);
    }
    EXPECT_LE(Decode(spoiled, 300).size(), 300u);
  }
}

}  // namespace
}  // namespace vramscope::trace
