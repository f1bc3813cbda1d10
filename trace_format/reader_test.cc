// SPDX-License-Identifier: Apache-2.0
#include "trace_format/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "trace_format/block_map.h"
#include "trace_format/block_writer.h"
#include "trace_format/crc32.h"
#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/testing/training_stream.h"

namespace vramscope::trace {
namespace {

using testing::FirstDifference;
using testing::FirstEvents;
using testing::MemorySink;
using testing::RandomEvent;
using testing::ReadAll;
using testing::ReaderOf;
using testing::WriteTrace;

std::string RefusalOf(ByteView bytes) {
  const auto reader = TraceReader::OpenBytes(bytes, "run.vms");
  return reader.ok() ? "opened" : reader.error().sentence;
}

TraceWriter::Options SmallBlocks(uint32_t events_per_block) {
  TraceWriter::Options options;
  options.events_per_block = events_per_block;
  return options;
}

TEST(ReaderTest, RefusesWhatIsNoTrace) {
  const std::string give = ". Give a file that `vramscope record` or torch.cuda.memory._dump_snapshot wrote.";
  EXPECT_EQ(RefusalOf({}), "run.vms: empty" + give);
  EXPECT_EQ(RefusalOf(AsBytes("hello")), "run.vms: neither a trace nor a snapshot of PyTorch" + give);
  const std::string long_text(10'000, 'x');
  EXPECT_NE(RefusalOf(AsBytes(long_text)), "opened");
  const auto missing = TraceReader::Open("/no/such/run.vms");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().sentence,
            "/no/such/run.vms: cannot be read: No such file or directory. Check the path.");
  const auto folder = TraceReader::Open("/");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().sentence, "/: cannot be read: it is not a file. Check the path.");
}

TEST(ReaderTest, RefusesANewerMajorNamingBothVersions) {
  Bytes bytes = WriteTrace(FirstEvents(5, 10));
  FileHeader header;
  header.major = 2;
  header.minor = 3;
  const auto newer = EncodeFileHeader(header);
  std::ranges::copy(newer, bytes.begin());
  EXPECT_EQ(RefusalOf(bytes),
            "run.vms: written in trace format 2.3; this vramscope reads 1.3. Use the vramscope "
            "version that recorded it, or a newer one.");
  header.major = kFormatMajor;
  header.minor = kFormatMinor + 9;
  std::ranges::copy(EncodeFileHeader(header), bytes.begin());
  EXPECT_EQ(RefusalOf(bytes), "opened");
}

TEST(ReaderTest, AnEmptyTraceIsATrace) {
  const Bytes bytes = WriteTrace({});
  const auto reader = ReaderOf(bytes);
  EXPECT_EQ(reader->event_count(), 0u);
  EXPECT_EQ(reader->first_time_ns(), 0u);
  EXPECT_EQ(reader->last_time_ns(), 0u);
  EXPECT_TRUE(ReadAll(*reader).empty());
  EXPECT_TRUE(reader->LiveAt(1000)->empty());
  EXPECT_EQ(reader->damage().sentence, "");
}

TEST(ReaderTest, StopsWhenTheVisitorHasEnough) {
  const Bytes bytes = WriteTrace(FirstEvents(5, 10'000), SmallBlocks(500));
  size_t batches = 0;
  EXPECT_TRUE(ReaderOf(bytes)->ForEachBatch([&](std::span<const Event>) { return ++batches < 3; }).ok());
  EXPECT_EQ(batches, 3u);
}

// Oracle: a filter over all events. Times fall back now and then, so blocks overlap.
TEST(ReaderTest, ARangeOfTimeGivesEveryEventInItAndFewOthers) {
  std::vector<Event> events = FirstEvents(5, 20'000);
  for (size_t i = 0; i < events.size(); i += 700) events[i].time_ns /= 2;
  for (size_t i = 0; i < events.size(); i += 3001) events[i].time_ns += events[i].time_ns / 3;
  const Bytes bytes = WriteTrace(events, SmallBlocks(256));
  const auto reader = ReaderOf(bytes);
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    const uint64_t begin = random() % reader->last_time_ns();
    const uint64_t end = begin + random() % (reader->last_time_ns() / 20);
    size_t wanted = 0;
    for (const Event& event : events) wanted += event.time_ns >= begin && event.time_ns < end;
    size_t got = 0;
    size_t visited = 0;
    ASSERT_TRUE(reader
                    ->ForEachBatch(begin, end,
                                   [&](std::span<const Event> batch) {
                                     visited += batch.size();
                                     for (const Event& event : batch)
                                       got += event.time_ns >= begin && event.time_ns < end;
                                     return true;
                                   })
                    .ok());
    EXPECT_EQ(got, wanted);
    EXPECT_LE(visited, events.size());
  }
  size_t everything = 0;
  (void)reader->ForEachBatch(0, ~uint64_t{0},
                             [&](std::span<const Event> batch) { return everything += batch.size(); });
  EXPECT_EQ(everything, events.size());
}

class LiveOracle {
 public:
  explicit LiveOracle(std::span<const Event> events) : events_(events) {}

  std::map<uint64_t, LiveBlock> At(uint64_t time_ns) const {
    size_t count = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].time_ns <= time_ns) count = i + 1;
    }
    std::map<std::pair<uint32_t, uint64_t>, LiveBlock> alive;
    uint64_t number = 0;
    for (const Event& event : events_.first(count)) {
      const std::pair key(event.thread, event.field[alloc::kAddress]);  // one process per thread
      if (event.type == EventType::kAlloc) {
        alive[key] = {++number,      key.second,  event.field[alloc::kSize], event.field[alloc::kDevice],
                      event.time_ns, event.thread};
      } else if (event.type == EventType::kFree) {
        alive.erase(key);
      }
    }
    std::map<uint64_t, LiveBlock> by_number;
    for (const auto& [key, block] : alive) by_number[block.number] = block;
    return by_number;
  }

 private:
  std::span<const Event> events_;
};

void ExpectLive(const TraceReader& reader, const LiveOracle& oracle, uint64_t time_ns) {
  const auto got = reader.LiveAt(time_ns);
  ASSERT_TRUE(got.ok());
  const auto wanted = oracle.At(time_ns);
  ASSERT_EQ(got->size(), wanted.size()) << "at " << time_ns;
  size_t i = 0;
  for (const auto& [number, block] : wanted) {
    const LiveBlock& live = (*got)[i++];
    EXPECT_EQ(live.number, number);
    EXPECT_EQ(live.address, block.address);
    EXPECT_EQ(live.size, block.size);
    EXPECT_EQ(live.device, block.device);
    EXPECT_EQ(live.time_ns, block.time_ns);
    EXPECT_EQ(live.process, block.process);
  }
}

// Oracle: replay of all events from the start into a std::map.
TEST(LiveAtTest, AgreesWithReplayFromTheStart) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  uint64_t time = 1000;
  for (int i = 0; i < 6000; ++i) {
    Event event = RandomEvent(random, 3);
    if (random() % 4 != 0) event.type = random() % 2 == 0 ? EventType::kAlloc : EventType::kFree;
    const EventSpec& spec = kEventSchema[static_cast<size_t>(event.type)];
    for (size_t field = 0; field < kMaxEventFields; ++field) {
      event.field[field] = field < spec.field_count ? random() % 1000 : 0;
    }
    time += random() % 100;
    event.time_ns = random() % 50 == 0 ? time - 900 : time;  // a late thread
    events.push_back(event);
  }
  const Bytes bytes = WriteTrace(events, SmallBlocks(100), 3);
  const auto reader = ReaderOf(bytes);
  const LiveOracle oracle(events);
  for (const uint64_t edge : {uint64_t{0}, events[0].time_ns, time, ~uint64_t{0}})
    ExpectLive(*reader, oracle, edge);
  for (int round = 0; round < 100; ++round) ExpectLive(*reader, oracle, random() % (time + 100));
  // Exactly when a block begins, and just before.
  for (size_t i = 100; i < events.size(); i += 300) {
    ExpectLive(*reader, oracle, events[i].time_ns);
    ExpectLive(*reader, oracle, events[i].time_ns - 1);
  }
}

TEST(LiveAtTest, ADamagedCheckpointIsReplacedByTheOneBefore) {
  const std::vector<Event> events = FirstEvents(5, 30'000);
  Bytes bytes = WriteTrace(events, SmallBlocks(512));
  std::vector<BlockEntry> checkpoints;
  for (const BlockEntry& block : MapBlocks(bytes).blocks) {
    if (block.header.type == BlockType::kCheckpoint) checkpoints.push_back(block);
  }
  ASSERT_GE(checkpoints.size(), 3u);
  bytes[checkpoints[1].offset + kBlockHeaderBytes + 5] ^= std::byte{1};
  const auto reader = ReaderOf(bytes);
  const LiveOracle oracle(events);
  ExpectLive(*reader, oracle, checkpoints[1].header.last_time_ns + 1);
  ExpectLive(*reader, oracle, checkpoints[2].header.last_time_ns + 1);
}

TEST(ReaderTest, ManyThreadsMayReadAtOnce) {
  const std::vector<Event> events = FirstEvents(5, 50'000);
  const Bytes bytes = WriteTrace(events, SmallBlocks(4096));
  const auto reader = ReaderOf(bytes);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      if (!FirstDifference(ReadAll(*reader), events).empty()) ++wrong;
      if (!reader->LiveAt(events[static_cast<size_t>(i) * 9000].time_ns).ok()) ++wrong;
      if (!reader->damage().sentence.empty()) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A copy of the trace with a block of `type` and `version` inserted after the file header. The offsets in its
// index are then wrong, so a reader walks the file.
Bytes WithBlock(const Bytes& trace, BlockType type, uint16_t version, ByteView payload) {
  Bytes block;
  BlockWriter blocks(std::make_unique<MemorySink>(&block), 3);
  BlockHeader header;
  header.type = type;
  header.version = version;
  header.count = 3;
  EXPECT_TRUE(blocks.Write(header, payload).ok());
  Bytes spliced = trace;
  spliced.insert(spliced.begin() + kFileHeaderBytes, block.begin(), block.end());
  return spliced;
}

TEST(ReaderTest, UnknownBlocksAreSteppedOver) {
  const std::vector<Event> events = FirstEvents(5, 3000);
  const Bytes bytes =
      WithBlock(WriteTrace(events), static_cast<BlockType>(4711), 9, AsBytes("from the future"));
  const auto reader = ReaderOf(bytes);
  EXPECT_EQ(FirstDifference(ReadAll(*reader), events), "");
  EXPECT_EQ(reader->damage().sentence, "");
}

TEST(ReaderTest, KnownBlocksOfANewerVersionAreSteppedOverAndReported) {
  const std::vector<Event> events = FirstEvents(5, 3000);
  const Bytes bytes = WithBlock(WriteTrace(events), BlockType::kCheckpoint, 2, AsBytes("from the future"));
  const auto reader = ReaderOf(bytes);
  EXPECT_EQ(FirstDifference(ReadAll(*reader), events), "");
  EXPECT_EQ(reader->damage().sentence,
            "run.vms: 1 block of a newer vramscope cannot be read; all 3,000 events are readable.");
}

TEST(ReaderTest, ABlockThatIsWholeAndMakesNoSenseIsSkippedAndTold) {
  const std::vector<Event> events = FirstEvents(5, 3000);
  const Bytes bytes = WithBlock(WriteTrace(events), BlockType::kEvents, 1, AsBytes("no columns at all"));
  const auto reader = ReaderOf(bytes);
  size_t seen = 0;
  const Status read =
      reader->ForEachBatch([&](std::span<const Event> batch) { return (seen += batch.size()) > 0; });
  EXPECT_EQ(seen, events.size());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().sentence,
            "run.vms: 3 events are in intact blocks that this vramscope cannot decode; "
            "the others were read. Record again.");
}

}  // namespace
}  // namespace vramscope::trace
