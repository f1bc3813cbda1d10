// SPDX-License-Identifier: Apache-2.0
// Oracles: a scan of all values, and model::DriverDevice::UsedAfter.
#include "profiler/timeline/step_line.h"

#include <gtest/gtest.h>

#include <random>

namespace vramscope::timeline {
namespace {

using model::EventIndex;

TEST(StepLineTest, EveryStretchHasTheExtremesOfItsStates) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr EventIndex kEvents = 900;
  std::vector<model::Since> values;
  std::vector<std::optional<int64_t>> truth(kEvents);  // after every event
  for (EventIndex event = 20; event < kEvents; ++event) {
    truth[event] = truth[event - 1];
    for (unsigned i = random() % 3; i > 1; --i) {  // none, or one, or the same event again
      values.push_back({event, static_cast<int64_t>(random() % 1000)});
      truth[event] = values.back().value;
    }
  }
  const StepLine line(values);
  for (int i = 0; i < 3000; ++i) {
    EventIndex first = random() % kEvents;
    EventIndex last = random() % kEvents;
    if (first > last) std::swap(first, last);
    Extremes expected;
    for (EventIndex event = first; event <= last; ++event) {
      if (truth[event]) expected.Add(*truth[event], event);
    }
    const Extremes found = line.Over(first, last);
    ASSERT_EQ(found.low, expected.low) << first << " to " << last;
    ASSERT_EQ(found.high, expected.high) << first << " to " << last;
  }
}

TEST(StepLineTest, TheDriversLineIsWhatTheDriverSaysAtEveryEvent) {
  model::DriverDevice device(1, {0});
  const uint32_t row = device.FindRow({0, model::DriverOwner::kPyTorch, 0});
  std::mt19937 random(3);
  int64_t taken = 0;
  for (EventIndex event = 1; event < 2000; ++event) {
    const bool gives_back = taken > 0 && random() % 2 == 0;
    const int64_t bytes = gives_back ? -taken : static_cast<int64_t>(random() % 5000);
    if (random() % 3 != 0) {
      device.AddChange({event, row, bytes});
      taken += bytes;
    }
    if (event > 50 && random() % 20 == 0)
      device.AddSample({event, 0, static_cast<uint64_t>(taken) + 100 + random() % 50, 1 << 20, 0});
  }
  const StepLine line = UsedLine(device);
  for (EventIndex event = 0; event < 2000; ++event)
    ASSERT_EQ(line.After(event), device.UsedAfter(event)) << event;
}

}  // namespace
}  // namespace vramscope::timeline
