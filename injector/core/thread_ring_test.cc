// SPDX-License-Identifier: Apache-2.0
#include "injector/core/thread_ring.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "injector/core/api.h"
#include "injector/core/options.h"
#include "injector/core/test_session.h"

namespace vramscope::injector {
namespace {

constexpr uint64_t kRecordsThatFit = kTestRingBytes / trace::kRawUnitBytes;

std::map<uint32_t, std::vector<uint64_t>> ValuesByThread(const TestCollector& collector) {
  std::map<uint32_t, std::vector<uint64_t>> values;
  for (const TestRecord& record : collector.Of(trace::EventType::kMark)) {
    values[record.thread].push_back(record.field[trace::mark::kValue]);
  }
  return values;
}

TEST(ThreadRingTest, WhatThreadsRecordArrivesWholeAndInOrderThoughTheRingsAreSmall) {
  TestCollector& collector = FreshCollector();
  constexpr int kThreads = 4;
  constexpr uint64_t kRecords = kRecordsThatFit * 20;
  std::atomic<int> running = kThreads;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t value = 0; value < kRecords; ++value) ASSERT_TRUE(RecordCounter(value));
      --running;
    });
  }
  while (running > 0) collector.Drain();
  threads.clear();
  collector.Drain();

  const auto values = ValuesByThread(collector);
  ASSERT_EQ(values.size(), static_cast<size_t>(kThreads));
  for (const auto& [thread, seen] : values) {
    ASSERT_EQ(seen.size(), kRecords);
    for (uint64_t i = 0; i < kRecords; ++i) ASSERT_EQ(seen[i], i);
  }
  EXPECT_EQ(collector.Lost(), 0u);
}

TEST(ThreadRingTest, RecordsOfAllLengthsCrossTheEndOfTheRingWhole) {
  TestCollector& collector = FreshCollector();
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<size_t> counts;
  for (uint64_t i = 0; i < kRecordsThatFit * 8; ++i) {
    const uint64_t words[6] = {i, i + 1, i + 2, i + 3, i + 4, i + 5};  // kAlloc has six
    counts.push_back(1 + random() % 6);
    vramscope_record(static_cast<uint8_t>(trace::EventType::kAlloc), 0, 0, words, counts.back());
    if (i % 500 == 0) collector.Drain();
  }
  collector.Drain();
  const auto records = collector.Of(trace::EventType::kAlloc);
  ASSERT_EQ(records.size(), counts.size());
  const auto& layout = trace::kRawLayout[static_cast<size_t>(trace::EventType::kAlloc)];
  for (uint64_t i = 0; i < records.size(); ++i) {
    for (size_t word = 0; word < 6; ++word) {
      // Fields that were not given are 0, whatever the ring held there before.
      ASSERT_EQ(records[i].field[layout.word_field[word]], word < counts[i] ? i + word : 0)
          << i << " " << word;
    }
  }
}

TEST(ThreadRingTest, TheRingOfAnEndedThreadServesTheNextOne) {
  TestCollector& collector = FreshCollector();
  RecordCounter(0);
  collector.Drain();
  std::jthread([] { RecordCounter(1); }).join();
  collector.Drain();
  collector.Drain();  // a closed ring is free after the pass that emptied it
  const uint32_t rings = collector.Header(getpid())->ring_count.load();
  for (uint64_t i = 0; i < 20; ++i) {
    std::jthread([i] { RecordCounter(i); }).join();
    collector.Drain();
  }
  EXPECT_EQ(collector.Header(getpid())->ring_count.load(), rings);
  EXPECT_EQ(collector.Of(trace::EventType::kMark).size(), 22u);
}

TEST(ThreadRingTest, WithoutACollectorTheRunGoesOnAndTheLossIsCounted) {
  TestCollector& collector = FreshCollector();
  const uint64_t lost_before = collector.Lost();
  constexpr uint64_t kRecords = kRecordsThatFit * 3;
  collector.Unlock();
  const pid_t child = StartChild([] {
    for (uint64_t i = 0; i < kRecords; ++i) RecordCounter(i);
  });
  EXPECT_EQ(WaitFor(child), 0);
  collector.Lock();
  collector.Drain();
  const uint64_t seen = collector.Of(trace::EventType::kMark).size();
  EXPECT_EQ(seen, kRecordsThatFit);
  EXPECT_EQ(seen + collector.Lost() - lost_before, kRecords);
  EXPECT_EQ(collector.Header(child)->detached.load(), 1u);
}

TEST(ThreadRingTest, ACollectorThatSleepsIsWaitedForOnceAndThenRecordingResumes) {
  TestCollector& collector = FreshCollector();
  for (uint64_t i = 0; i < kRecordsThatFit; ++i) RecordCounter(i);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(RecordCounter(1));
  const auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited, std::chrono::nanoseconds(trace::kGiveUpNs));
  EXPECT_FALSE(RecordCounter(2));  // does not wait again
  EXPECT_LT(std::chrono::steady_clock::now() - begin - waited, std::chrono::nanoseconds(trace::kGiveUpNs));
  collector.Drain();
  EXPECT_TRUE(RecordCounter(3));
  EXPECT_GE(collector.Lost(), 2u);
}

TEST(ThreadRingTest, APausedProcessRecordsNothingAndLosesNothing) {
  TestCollector& collector = FreshCollector();
  RecordCounter(0);
  collector.Drain();
  const uint64_t lost = collector.Lost();
  collector.Header(getpid())->mode.store(0);
  EXPECT_FALSE(RecordCounter(1));
  collector.Header(getpid())->mode.store(trace::kModeRecord);
  EXPECT_TRUE(RecordCounter(2));
  collector.Drain();
  EXPECT_EQ(collector.Of(trace::EventType::kMark).size(), 2u);
  EXPECT_EQ(collector.Lost(), lost);
}

std::atomic<uint64_t> handler_records = 0;

TEST(ThreadRingTest, ASignalHandlerThatRecordsNeverBreaksARecord) {
  TestCollector& collector = FreshCollector();
  const uint64_t lost_before = collector.Lost();
  handler_records = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    RecordCounter(1'000'000'000);
    ++handler_records;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {.it_interval = {.tv_sec = 0, .tv_usec = 50},
                           .it_value = {.tv_sec = 0, .tv_usec = 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  constexpr uint64_t kRecords = 300'000;
  {
    const DrainingThread draining(collector);
    for (uint64_t i = 0; i < kRecords; ++i) RecordCounter(i);
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  collector.Drain();
  EXPECT_GT(handler_records, 10u);
  EXPECT_EQ(collector.Of(trace::EventType::kMark).size() + collector.Lost() - lost_before,
            kRecords + handler_records);
}

TEST(ThreadRingTest, WhatAKilledProcessHadRecordedIsThere) {
  auto* const counter = static_cast<std::atomic<uint64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    TestCollector& collector = FreshCollector();
    counter->store(0);
    const pid_t child = StartChild([counter] {
      for (uint64_t i = 1;; ++i) {
        RecordCounter(i);
        counter->store(i);
      }
    });
    while (counter->load() < 100) collector.Drain();
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 5000);
    while (std::chrono::steady_clock::now() < end) collector.Drain();
    kill(child, SIGKILL);
    WaitFor(child);
    collector.Drain();
    // The kill may fall between the record and the counter.
    const uint64_t seen = collector.Of(trace::EventType::kMark).size();
    EXPECT_GE(seen, counter->load());
    EXPECT_LE(seen, counter->load() + 1);
  }
  munmap(counter, 4096);
}

TEST(ThreadRingTest, AFileSizeLimitIsNoSignalAndNoRecord) {
  TestCollector& collector = FreshCollector();
  const size_t files = collector.FileCount();
  const pid_t child = StartChild([] {
    const rlimit limit = {.rlim_cur = 8192, .rlim_max = 8192};
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = 77;
    const bool recorded = RecordCounter(1);
    _exit(!recorded && errno == 77 ? 0 : 1);
  });
  EXPECT_EQ(WaitFor(child), 0);
  collector.Drain();
  EXPECT_EQ(collector.FileCount(), files);
}

}  // namespace
}  // namespace vramscope::injector
