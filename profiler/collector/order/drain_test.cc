// SPDX-License-Identifier: Apache-2.0
// Oracle: the order of the test's own actions, and the trace read back by the reader.
#include "profiler/collector/order/drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "profiler/collector/testing/trace_rig.h"

namespace vramscope::collector {
namespace {

using ::testing::ElementsAre;
using testing::RingMemory;
using testing::RingWriter;
using testing::TraceRig;
using trace::Event;
using trace::EventType;
using trace::MarkKind;

std::vector<uint64_t> Times(const std::vector<Event>& events) {
  std::vector<uint64_t> times;
  for (const Event& event : events) times.push_back(event.time_ns);
  return times;
}

TEST(DrainTest, RecordsOfAllRingsAndProcessesComeInTheOrderOfTime) {
  RingMemory one({.pid = 1});
  RingMemory two({.pid = 2});
  RingWriter a(one);
  RingWriter b(one);
  RingWriter c(two);
  TraceRig rig;
  rig.Add(one);
  rig.Add(two);
  for (const uint64_t time : {10, 40, 70}) a.Alloc(time, time * 64, 8);
  for (const uint64_t time : {20, 50, 80}) b.Alloc(time, time * 64, 8);
  for (const uint64_t time : {30, 60, 90}) c.Alloc(time, time * 64, 8);
  const Drain::PassResult result = rig.drain->Pass(1000);
  EXPECT_EQ(result.records, 9U);
  EXPECT_THAT(Times(rig.Events()), ElementsAre(10, 20, 30, 40, 50, 60, 70, 80, 90));
}

TEST(DrainTest, RecordsAtOrAfterTheWatermarkWaitForTheNextPass) {
  RingMemory memory({.pid = 1});
  RingWriter a(memory);
  RingWriter b(memory);
  TraceRig rig;
  rig.Add(memory);
  a.Alloc(99, 64, 8);
  a.Alloc(100, 128, 8);
  EXPECT_EQ(rig.drain->Pass(100).records, 1U);
  b.Alloc(95, 192, 8);  // published late, as if its thread was interrupted
  b.Alloc(98, 256, 8);
  EXPECT_EQ(rig.drain->Pass(200).records, 3U);
  EXPECT_THAT(Times(rig.Events()), ElementsAre(99, 99, 99, 100)) << "times never fall";
}

TEST(DrainTest, AClockThatIsImpossiblyFarAheadDoesNotBlockItsRing) {
  RingMemory memory({.pid = 1});
  RingWriter writer(memory);
  TraceRig rig;
  rig.Add(memory);
  writer.Alloc(UINT64_MAX, 64, 8);
  writer.Alloc(50, 128, 8);
  EXPECT_EQ(rig.drain->Pass(100).records, 2U);
}

TEST(DrainTest, AnEndedProcessIsReadToItsEndAndItsRingsAreGivenUp) {
  RingMemory memory({.pid = 1});
  RingWriter writer(memory);
  TraceRig rig;
  TargetProcess& process = rig.Add(memory);
  writer.Alloc(150, 64, 8);
  process.SetEnded(120, 256);
  EXPECT_EQ(rig.drain->Pass(100).records, 1U);
  EXPECT_TRUE(process.retired());
  EXPECT_EQ(rig.Reader().processes()[0].exit_status, 256);
  EXPECT_EQ(rig.Reader().processes()[0].end_ns, 120U);
}

TEST(DrainTest, EachThreadOfEachProcessIsAThreadOfTheTrace) {
  RingMemory memory({.pid = 1});
  RingWriter a(memory, 11);
  RingWriter b(memory, 12);
  TraceRig rig;
  rig.Add(memory);
  a.Alloc(1, 64, 8);
  b.Alloc(2, 128, 8);
  a.Close();
  rig.drain->Pass(10);
  RingWriter c(memory, 13);  // takes the ring of the thread that has ended
  c.Alloc(20, 192, 8);
  rig.drain->Pass(30);
  const auto events = rig.Events();
  std::vector<uint32_t> os_threads;
  for (const Event& event : events) os_threads.push_back(rig.Reader().threads()[event.thread].os_thread);
  EXPECT_THAT(os_threads, ElementsAre(11, 12, 13));
}

TEST(DrainTest, NamesAndStacksOfOneThreadServeAllThreads) {
  RingMemory memory({.pid = 1});
  RingWriter a(memory);
  RingWriter b(memory);
  TraceRig rig;
  rig.Add(memory);
  a.DefineString(1, 1, "main");
  a.DefineString(2, 2, "layer.weight");
  const uint64_t frames[] = {1, 2};
  a.DefineStack(3, 7, frames);
  const uint64_t label[] = {64, 8, 0, 1};
  b.Record(static_cast<uint8_t>(EventType::kLabel), 1, 2, 4, label);
  const uint64_t alloc[] = {128, 8, 0, 8, 0, 0};
  b.Record(static_cast<uint8_t>(EventType::kAlloc), 0, 7, 5, alloc);
  rig.drain->Pass(100);
  const auto events = rig.Events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(rig.Reader().String(static_cast<uint32_t>(events[0].field[trace::label::kName])), "layer.weight");
  const auto stack = rig.Reader().Stack(static_cast<uint32_t>(events[1].field[trace::alloc::kStack]));
  ASSERT_EQ(stack.size(), 2U);
  EXPECT_EQ(rig.Reader().String(stack[0]), "main");
  EXPECT_EQ(rig.Metadata("check.unknown_ids"), "0");
}

TEST(DrainTest, MetadataMarksBecomeMetadataAndNotEvents) {
  RingMemory memory({.pid = 1});
  RingWriter writer(memory);
  TraceRig rig;
  rig.Add(memory);
  writer.DefineString(1, 1, "meta:torch.version=2.15.0");
  writer.DefineString(2, 2, "meta:vramscope.version=forged");
  writer.DefineString(3, 3, "a mark of the user");
  writer.DefineString(4, 4, "meta:own.mesh=pp 2/4");
  writer.DefineString(5, 5, "meta:own.rank=7");
  writer.DefineString(6, 6, "meta:own.world=3/4");
  for (uint32_t text = 1; text <= 6; ++text) writer.Mark(6 + text, MarkKind::kUser, 0, text);
  rig.drain->Pass(100);
  EXPECT_EQ(rig.Metadata("torch.version"), "2.15.0");
  EXPECT_EQ(rig.Metadata("process.0.mesh"), "pp 2/4");
  EXPECT_EQ(rig.Metadata("process.0.world"), "3/4");
  EXPECT_EQ(rig.Metadata("process.0.rank"), "");
  EXPECT_EQ(rig.Metadata("vramscope.version"), "");
  EXPECT_EQ(rig.Events().size(), 1U);
}

TEST(DrainTest, WhatTheTargetDroppedIsAnEventWithItsTimes) {
  RingMemory memory({.pid = 1});
  RingWriter writer(memory);
  TraceRig rig;
  rig.Add(memory);
  writer.Alloc(10, 64, 8);
  writer.CountLost(5, 20);
  writer.CountLost(2, 30);
  memory.header().lost_without_ring.store(4);
  rig.drain->Pass(100);
  rig.drain->Pass(200);
  const auto events = rig.Events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].type, EventType::kLost);
  EXPECT_EQ(events[1].field[trace::lost::kCount], 7U);
  EXPECT_EQ(events[1].field[trace::lost::kFirstNs], 20U);
  EXPECT_EQ(events[1].field[trace::lost::kLastNs], 30U);
  EXPECT_EQ(events[2].field[trace::lost::kCount], 4U);
  EXPECT_EQ(rig.drain->lost(), 11U);
}

TEST(DrainTest, AnExecEndsTheImageUnlessMoreFollows) {
  RingMemory gone({.pid = 1});
  RingMemory failed({.pid = 2});
  RingWriter a(gone);
  RingWriter b(failed);
  TraceRig rig;
  rig.Add(gone);
  rig.Add(failed);
  a.Mark(10, MarkKind::kExec, 0);
  b.Mark(11, MarkKind::kExec, 0);
  b.Alloc(12, 64, 8);
  rig.drain->Pass(100);
  EXPECT_EQ(rig.Reader().processes()[0].end_ns, 10U);
  EXPECT_EQ(rig.Reader().processes()[1].end_ns, 0U);
}

TEST(DrainTest, AForkedChildUsesItsParentsNamesAndProgram) {
  RingMemory parent({.pid = 1});
  RingMemory child({.pid = 2, .forked_from = 1, .forked_from_image = 0, .first_own_string = 2});
  RingWriter a(parent);
  RingWriter b(child);
  TraceRig rig;
  rig.Add(parent, "1.0.ring");
  auto file = RingFile::Attach(child.data(), child.size(), "2.0.ring");
  rig.drain->AddProcess(std::move(*file), "", "", "");
  a.DefineString(1, 1, "shared");
  b.Mark(2, MarkKind::kUser, 0, 1);
  rig.drain->Pass(100);
  const auto events = rig.Events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(rig.Reader().String(static_cast<uint32_t>(events[0].field[trace::mark::kName])), "shared");
  EXPECT_EQ(rig.Reader().processes()[1].executable, "/bin/target");
}

TEST(DrainTest, AFullDiskStopsTheTraceAndCountsTheRest) {
  RingMemory memory({.pid = 1, .ring_bytes = 1 << 20});
  RingWriter writer(memory);
  TraceRig rig(1000);
  rig.Add(memory);
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < 10'000; ++i) writer.Alloc(i, random() % (1 << 30), random() % (1 << 20));
  rig.drain->Pass(1 << 20);
  rig.output->Flush();
  EXPECT_TRUE(rig.output->stopped());
  EXPECT_THAT(rig.output->stop_sentence(), ::testing::HasSubstr("No space"));
  writer.Alloc(10'000, 64, 8);
  rig.drain->Pass(1 << 21);
  rig.output->Close();
  EXPECT_EQ(rig.output->events() + rig.output->events_lost(), 10'001U);
  EXPECT_EQ(rig.output->events(), 0U);
}

TEST(DrainTest, TheSizeLimitEndsTheTraceCleanly) {
  RingMemory memory({.pid = 1, .ring_bytes = 1 << 20});
  RingWriter writer(memory);
  constexpr uint64_t kLimit = 2'000'000;
  TraceRig rig(SIZE_MAX, kLimit);
  rig.Add(memory);
  std::mt19937_64 random(1);
  uint64_t written = 0;
  for (int pass = 0; pass < 40; ++pass) {
    for (int i = 0; i < 10'000; ++i) writer.Alloc(++written, random(), random());
    rig.drain->Pass(1 << 30);
  }
  EXPECT_TRUE(rig.output->stopped());
  EXPECT_TRUE(rig.Reader().damage().closed_cleanly);
  EXPECT_LE(rig.output->bytes(), kLimit + (1 << 20));
  EXPECT_EQ(rig.output->events() + rig.output->events_lost(), written);
  EXPECT_EQ(rig.Events().size(), rig.output->events());
}

TEST(DrainTest, GarbageInTheRingsNeverCrashesAndNeverReachesTheTraceUnknown) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    RingMemory memory({.pid = 1, .rings = 3, .ring_bytes = 8192});
    TraceRig rig;
    rig.Add(memory);
    memory.header().ring_count.store(3);
    for (int pass = 0; pass < 20; ++pass) {
      for (uint32_t ring = 0; ring < 3; ++ring) {
        auto* words = reinterpret_cast<uint64_t*>(memory.ring_data(ring));
        for (size_t i = 0; i < 1024; ++i) words[i] = random();
        // Every fourth unit looks like the beginning of a record, so that the walk goes further than one
        // step.
        for (size_t i = 0; i < 1024; i += 16)
          words[i] = (words[i] & ~uint64_t{0xFFFF}) | (random() % 4) << 8 | random() % 30;
        if (random() % 4 == 0) words[0] = (words[0] & ~uint64_t{0xFFFF}) | 0x20F0 | (random() & 1);
        memory.ring(ring).head.fetch_add(random() % 256 * (random() % 8 == 0 ? 31 : 32));
        memory.ring(ring).state.store(static_cast<uint32_t>(random() % 4));
        memory.ring(ring).lost_count.store(random() % 3);
        memory.ring(ring).generation = static_cast<uint32_t>(random() % 2);
      }
      rig.drain->Pass(1000 + static_cast<uint64_t>(pass));
    }
    for (const Event& event : rig.Events())
      ASSERT_LT(static_cast<size_t>(event.type), trace::kEventTypeCount) << "seed " << seed;
  }
}

// An allocator with few addresses, protected by a lock. Its threads record like the injector: a free before
// the block is given back, an allocation after it was returned.
class SharedAddresses {
 public:
  explicit SharedAddresses(uint64_t count) {
    for (uint64_t i = 1; i <= count; ++i) free_.push_back(i * 64);
  }
  uint64_t Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return 0;
    const uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }
  void GiveBack(uint64_t address) {
    const std::lock_guard lock(mutex_);
    free_.push_back(address);
  }

 private:
  std::mutex mutex_;
  std::vector<uint64_t> free_;
};

void ChurnAddresses(SharedAddresses& addresses, RingMemory& memory, uint32_t thread, int rounds) {
  RingWriter writer(memory, thread);
  std::vector<uint64_t> held;
  const auto give_one_back = [&] {
    const uint64_t address = held.back();
    held.pop_back();
    writer.Free(MonotonicNs(), address);
    addresses.GiveBack(address);
  };
  for (int i = 0; i < rounds;) {
    const uint64_t taken = addresses.Take();
    if (taken != 0) {
      writer.Alloc(MonotonicNs(), taken, 8);
      held.push_back(taken);
      ++i;
    }
    if (!held.empty() && (taken == 0 || held.size() > thread % 4)) give_one_back();
    if (taken == 0) std::this_thread::yield();
  }
  while (!held.empty()) give_one_back();
  writer.Close();
}

TEST(DrainTest, AnAddressIsAlwaysFreedBeforeItIsHandedOutAgainByWhicheverThread) {
  constexpr uint32_t kThreads = 72;
  constexpr int kRounds = 1000;
  RingMemory memory({.pid = 1, .rings = kThreads, .ring_bytes = 1 << 14});
  TraceRig rig;
  rig.Add(memory);
  SharedAddresses addresses(100);
  std::atomic<uint32_t> running = kThreads;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ChurnAddresses(addresses, memory, 100 + i, kRounds);
      --running;
    });
  }
  while (running != 0) rig.drain->Pass(MonotonicNs());
  for (std::thread& thread : threads) thread.join();
  rig.drain->Pass(MonotonicNs());
  std::map<uint64_t, bool> alive;
  uint64_t allocations = 0;
  uint64_t last_time = 0;
  for (const Event& event : rig.Events()) {
    ASSERT_GE(event.time_ns, last_time);
    last_time = event.time_ns;
    ASSERT_NE(event.type, EventType::kLost);
    bool& is_alive = alive[event.field[trace::alloc::kAddress]];
    ASSERT_EQ(is_alive, event.type == EventType::kFree) << "event " << allocations;
    is_alive = !is_alive;
    if (event.type == EventType::kAlloc) ++allocations;
  }
  EXPECT_EQ(allocations, uint64_t{kThreads} * kRounds);
  for (const auto& [address, is_alive] : alive) EXPECT_FALSE(is_alive) << address;
}

}  // namespace
}  // namespace vramscope::collector
