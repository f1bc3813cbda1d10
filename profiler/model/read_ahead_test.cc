// SPDX-License-Identifier: Apache-2.0
// Oracle: the source itself, read without a thread.
#include "profiler/model/read_ahead.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "profiler/model/testing/training_loop.h"

namespace vramscope::model {
namespace {

std::shared_ptr<const Source> Loop() {
  testing::TrainingShape shape;
  shape.events = 60'000;
  return testing::MakeTrainingTrace(shape);
}

std::vector<uint64_t> TimesOf(const Source& source) {
  std::vector<uint64_t> times;
  EXPECT_TRUE(source
                  .ForEachBatch([&](std::span<const trace::Event> events) {
                    for (const trace::Event& event : events) times.push_back(event.time_ns);
                    return true;
                  })
                  .ok());
  return times;
}

// Sends some events and then fails, like a file that cannot be read any further.
class Failing final : public ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;
  Status ForEachBatch(const Visit& visit) const override {
    size_t batches = 0;
    (void)source().ForEachBatch(
        [&](std::span<const trace::Event> events) { return visit(events) && ++batches < 20; });
    if (throws) throw std::runtime_error("no memory");
    return Error{"the rest cannot be read."};
  }
  bool throws = false;
};

TEST(ReadAheadTest, EveryEventComesInItsOrder) {
  const auto source = Loop();
  const std::vector<uint64_t> times = TimesOf(ReadAhead(source));
  EXPECT_GT(times.size(), 60'000u - 1);
  EXPECT_EQ(times, TimesOf(*source));
}

TEST(ReadAheadTest, WhoStopsGetsNoMore) {
  const ReadAhead ahead(Loop());
  for (const int wanted : {1, 2, 4}) {
    int batches = 0;
    EXPECT_TRUE(ahead.ForEachBatch([&](std::span<const trace::Event>) { return ++batches < wanted; }).ok());
    EXPECT_EQ(batches, wanted);
  }
}

TEST(ReadAheadTest, WhatAVisitThrowsArrives) {
  const ReadAhead ahead(Loop());
  EXPECT_THROW(
      (void)ahead.ForEachBatch([](std::span<const trace::Event>) -> bool { throw std::bad_alloc(); }),
      std::bad_alloc);
}

TEST(ReadAheadTest, WhatTheSourceSaysOrThrowsArrivesAfterItsEvents) {
  const auto failing = std::make_shared<Failing>(Loop());
  const ReadAhead ahead(failing);
  size_t events = 0;
  const auto count = [&](std::span<const trace::Event> batch) {
    events += batch.size();
    return true;
  };
  const Status told = ahead.ForEachBatch(count);
  EXPECT_EQ(told.error().sentence, "the rest cannot be read.");
  const size_t before = events;
  EXPECT_GT(before, 0u);
  failing->throws = true;
  EXPECT_THROW((void)ahead.ForEachBatch(count), std::runtime_error);
  EXPECT_EQ(events, 2 * before);
}

}  // namespace
}  // namespace vramscope::model
