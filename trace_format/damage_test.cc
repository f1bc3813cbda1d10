// SPDX-License-Identifier: Apache-2.0
// Truncated, flipped and overwritten traces: whole parts are read, losses are reported, nothing crashes.
#include "trace_format/damage.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "trace_format/block_map.h"
#include "trace_format/reader.h"
#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/testing/training_stream.h"

namespace vramscope::trace {
namespace {

using testing::FirstDifference;
using testing::FirstEvents;
using testing::ReadAll;
using testing::SameEvent;
using testing::WriteTrace;

Bytes SmallTrace(const std::vector<Event>& events, uint32_t events_per_block) {
  TraceWriter::Options options;
  options.events_per_block = events_per_block;
  return WriteTrace(events, options);
}

// `got` is `wanted` with whole blocks of events left out.
bool IsSubsequence(const std::vector<Event>& got, const std::vector<Event>& wanted) {
  size_t at = 0;
  for (const Event& event : got) {
    while (at < wanted.size() && !SameEvent(event, wanted[at])) ++at;
    if (at == wanted.size()) return false;
    ++at;
  }
  return true;
}

// How many events lie in blocks that end within the first `size` bytes.
size_t EventsWithin(const BlockMap& map, size_t size) {
  size_t events = 0;
  for (const BlockEntry& block : map.blocks) {
    if (block.header.type == BlockType::kEvents && block.end() <= size) events += block.header.count;
  }
  return events;
}

TEST(CutTraceTest, EveryLengthGivesTheEventsOfItsWholeBlocks) {
  const std::vector<Event> events = FirstEvents(9, 1500);
  const Bytes whole = SmallTrace(events, 200);
  const BlockMap map = MapBlocks(whole);
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(),
                    whole.begin() + static_cast<ptrdiff_t>(size));  // copy: sanitizers see reads past its end
    const auto reader = TraceReader::OpenBytes(cut, "run.vms");
    if (!reader.ok()) {
      EXPECT_LT(size, kFileHeaderBytes) << reader.error().sentence;
      EXPECT_FALSE(reader.error().sentence.empty());
      continue;
    }
    const size_t wanted = EventsWithin(map, size);
    ASSERT_EQ(FirstDifference(ReadAll(**reader), std::span(events).first(wanted)), "") << "cut at " << size;
    const Damage& damage = (*reader)->damage();
    EXPECT_FALSE(damage.closed_cleanly);
    EXPECT_FALSE(damage.sentence.empty());
    EXPECT_EQ(damage.events_readable, wanted);
  }
}

TEST(CutTraceTest, ASourceFileIsThereWholeOrNotAtAll) {
  const std::string before(3000, 'a');
  const std::string after = "import torch\n";
  Bytes whole;
  {
    auto writer = TraceWriter::Create(std::make_unique<testing::MemorySink>(&whole), {1, 1}).value();
    writer->AddSourceFile("train.py", before);
    ASSERT_TRUE(writer->Flush().ok());
    writer->AddSourceFile("train.py", after);
    ASSERT_TRUE(writer->Close().ok());
  }
  size_t with_none = 0, with_before = 0, with_after = 0;
  for (size_t size = kFileHeaderBytes; size <= whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto reader = TraceReader::OpenBytes(cut, "run.vms");
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    const SourceFiles& files = (*reader)->source_files();
    const std::string_view text = files.empty() ? "" : files.find("train.py")->second;
    ASSERT_TRUE(files.empty() || text == before || text == after) << "cut at " << size;
    ++(files.empty() ? with_none : text == before ? with_before : with_after);
  }
  EXPECT_GT(with_none, 0u);
  EXPECT_GT(with_before, 0u);
  EXPECT_GT(with_after, 0u);
}

TEST(CutTraceTest, TheSentenceSaysWhatIsLeft) {
  const std::vector<Event> events = FirstEvents(9, 100'000);
  const Bytes whole = SmallTrace(events, 25'000);
  const BlockMap map = MapBlocks(whole);
  const auto sentence_at = [&](uint64_t size) {
    return TraceReader::OpenBytes(ByteView(whole).first(size), "run.vms").value()->damage().sentence;
  };
  std::vector<BlockEntry> blocks;
  for (const BlockEntry& block : map.blocks) {
    if (block.header.type == BlockType::kEvents) blocks.push_back(block);
  }
  ASSERT_EQ(blocks.size(), 4u);
  const std::string in_block = sentence_at(blocks[3].end() - 20'000);
  EXPECT_EQ(in_block.substr(0, 24), "run.vms: cut off after 2") << in_block;
  EXPECT_NE(in_block.find(" of at least 2"), std::string::npos) << in_block;
  EXPECT_NE(in_block.find(" KiB; 75,000 events before that are readable. Record again for the rest."),
            std::string::npos)
      << in_block;
  EXPECT_EQ(sentence_at(whole.size() - 1).substr(0, 23), "run.vms: cut off after ");
  EXPECT_NE(sentence_at(whole.size() - 1).find("; all 100,000 events are readable."), std::string::npos)
      << sentence_at(whole.size() - 1);
  EXPECT_EQ(sentence_at(whole.size() - kTrailerBytes - 1),
            "run.vms: cut off in the index at its end; all 100,000 events are readable.");
}

#if !defined(__has_feature)  // clang has __has_feature; GCC defines the other two
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
constexpr int kFlips = 2'000;  // each takes twenty times as long; reader_fuzz tries many more
#else
constexpr int kFlips = 10'000;
#endif

TEST(DamagedTraceTest, ThousandsOfBitFlipsNeverGiveAWrongEvent) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<Event> events = FirstEvents(9, 1200);
  const Bytes whole = SmallTrace(events, 100);
  for (int round = 0; round < kFlips; ++round) {
    Bytes spoiled = whole;
    const size_t at = random() % spoiled.size();
    spoiled[at] ^= static_cast<std::byte>(1 << random() % 8);
    const auto reader = TraceReader::OpenBytes(spoiled, "run.vms");
    ASSERT_TRUE(reader.ok()) << "byte " << at << ": " << reader.error().sentence;
    const std::vector<Event> read = ReadAll(**reader);
    const Damage& damage = (*reader)->damage();
    ASSERT_FALSE(damage.sentence.empty()) << "byte " << at;
    ASSERT_EQ(damage.events_readable, read.size()) << "byte " << at;
    ASSERT_EQ(damage.events_lost, events.size() - read.size()) << "byte " << at << " " << damage.sentence;
    ASSERT_GE(read.size() + 100, events.size()) << "one flip costs one block at most; byte " << at;
    ASSERT_TRUE(IsSubsequence(read, events)) << "byte " << at;
    ASSERT_TRUE((*reader)->LiveAt(events[600].time_ns).ok());
  }
}

TEST(DamagedTraceTest, SpoiledStretchesAreSteppedOver) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<Event> events = FirstEvents(9, 2000);
  const Bytes whole = SmallTrace(events, 100);
  for (int round = 0; round < 1000; ++round) {
    Bytes spoiled = whole;
    const size_t begin = random() % spoiled.size();
    const size_t end = std::min<size_t>(spoiled.size(), begin + random() % 3000);
    for (size_t at = begin; at < end; ++at) spoiled[at] = static_cast<std::byte>(random());
    if (random() % 3 == 0)
      spoiled.erase(spoiled.begin() + static_cast<ptrdiff_t>(begin),
                    spoiled.begin() + static_cast<ptrdiff_t>(end));
    const auto reader = TraceReader::OpenBytes(spoiled, "run.vms");
    if (!reader.ok()) continue;  // nothing whole is left
    const std::vector<Event> read = ReadAll(**reader);
    EXPECT_TRUE(IsSubsequence(read, events));
    EXPECT_EQ((*reader)->damage().events_readable, read.size());
  }
}

TEST(DamagedTraceTest, TheSentenceCountsTheLoss) {
  const std::vector<Event> events = FirstEvents(9, 3000);
  Bytes bytes = SmallTrace(events, 1000);
  for (const BlockEntry& block : MapBlocks(bytes).blocks) {
    if (block.header.first_event == 1000 && block.header.type == BlockType::kEvents)
      bytes[block.offset + 70] ^= std::byte{1};
  }
  const auto reader = TraceReader::OpenBytes(bytes, "run.vms");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(
      (*reader)->damage().sentence,
      "run.vms: damaged in 1 place; 1,000 events are lost, 2,000 are readable. Record again for the rest.");
  EXPECT_TRUE((*reader)->damage().closed_cleanly);
  EXPECT_EQ((*reader)->event_count(), 3000u);
  EXPECT_EQ(ReadAll(**reader).size(), 2000u);
}

TEST(DamagedTraceTest, ADamagedHeaderCostsOnlyTheTimeOfDay) {
  const std::vector<Event> events = FirstEvents(9, 3000);
  Bytes bytes = SmallTrace(events, 1000);
  bytes[3] ^= std::byte{0x40};
  const auto reader = TraceReader::OpenBytes(bytes, "run.vms");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(FirstDifference(ReadAll(**reader), events), "");
  EXPECT_EQ((*reader)->clock().start_realtime_ns, 0u);
  EXPECT_EQ(
      (*reader)->damage().sentence,
      "run.vms: its header is damaged, so the time of day is not known; all 3,000 events are readable.");
}

// A write that failed half way, after which the writer went on: the whole block inside the claimed length of
// the broken one is found.
TEST(DamagedTraceTest, ABlockWrittenAfterHalfABlockIsFound) {
  const std::vector<Event> events = FirstEvents(9, 3000);
  Bytes bytes = SmallTrace(events, 1000);
  std::vector<BlockEntry> blocks;
  for (const BlockEntry& block : MapBlocks(bytes).blocks) {
    if (block.header.type == BlockType::kEvents) blocks.push_back(block);
  }
  const auto half = static_cast<ptrdiff_t>(blocks[1].offset + kBlockHeaderBytes + 50);
  bytes.erase(bytes.begin() + half, bytes.begin() + static_cast<ptrdiff_t>(blocks[1].end()));
  const auto reader = TraceReader::OpenBytes(bytes, "run.vms");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadAll(**reader).size(), 2000u);
  EXPECT_EQ((*reader)->damage().events_lost, 1000u);
}

}  // namespace
}  // namespace vramscope::trace
