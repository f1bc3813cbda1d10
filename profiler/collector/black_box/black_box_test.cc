// SPDX-License-Identifier: Apache-2.0
// What a black box keeps, with synthetic events. tests/black_box shows with PyTorch that the last steps of a
// whole run are the same as in a full recording.
#include "profiler/collector/black_box/black_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace vramscope::collector {
namespace {

using trace::Event;
using trace::EventType;
using trace::MarkKind;

Event Make(EventType type, std::initializer_list<uint64_t> fields, uint32_t thread = 0) {
  Event event;
  event.type = type;
  event.thread = thread;
  std::copy(fields.begin(), fields.end(), event.field);
  return event;
}
Event Alloc(uint64_t address) { return Make(EventType::kAlloc, {address, 512, 0, 0, 0, 500, 4096, 8192}); }
Event Free(uint64_t address) { return Make(EventType::kFree, {address, 512}); }
Event Label(uint64_t address, uint64_t source, uint64_t tensor) {
  return Make(EventType::kLabel,
              {address, 512, static_cast<uint64_t>(trace::Role::kParameter), source, 7, tensor});
}
Event StepDone(uint64_t optimizer) {
  return Make(EventType::kMark, {static_cast<uint64_t>(MarkKind::kOptimizerStepDone), 1, 0, optimizer});
}

class BlackBoxTest : public ::testing::Test {
 protected:
  void Add(const Event& event, uint32_t process = 0) { box_.Add(event, process); }
  void Steps(int count) {
    for (int i = 0; i < count; ++i) Add(StepDone(1));
  }
  [[nodiscard]] std::vector<Event> Of(EventType type) const {
    std::vector<Event> events = box_.Events();
    std::erase_if(events, [&](const Event& event) { return event.type != type; });
    return events;
  }

  BlackBox box_{2, 1000};
};

TEST_F(BlackBoxTest, TheLastStepsAreKeptWhole) {
  for (uint64_t step = 1; step <= 5; ++step) {
    Add(Alloc(step));
    Add(Free(step));
    Steps(1);
  }
  Add(Alloc(6));
  EXPECT_EQ(box_.steps_before(), 3u);
  const std::vector<Event> allocs = Of(EventType::kAlloc);
  ASSERT_EQ(allocs.size(), 3u);  // of steps 4 and 5, and of the current one
  EXPECT_EQ(allocs[0].field[trace::alloc::kAddress], 4u);
  EXPECT_EQ(allocs[0].field[trace::alloc::kTotalAllocated], 4096u);
}

TEST_F(BlackBoxTest, ABlockThatLivesKeepsItsAllocationAndItsNewestLabelOfEachSource) {
  Add(Alloc(1));
  Add(Label(1, 2, 10));
  Add(Label(1, 3, 11));
  Add(Label(1, 2, 12));
  Add(Alloc(2));
  Add(Free(2));
  Steps(3);
  EXPECT_EQ(Of(EventType::kFree).size(), 0u);
  ASSERT_EQ(Of(EventType::kAlloc).size(), 1u);
  EXPECT_EQ(Of(EventType::kAlloc)[0].field[trace::alloc::kTotalAllocated],
            0u);  // it counts blocks that are left out
  const std::vector<Event> labels = Of(EventType::kLabel);
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].field[trace::label::kTensor], 11u);
  EXPECT_EQ(labels[1].field[trace::label::kTensor], 12u);
}

TEST_F(BlackBoxTest, TheSameAddressInAnotherProcessIsAnotherBlock) {
  Add(Alloc(1), 0);
  Add(Alloc(1), 1);
  Add(Free(1), 1);
  Steps(3);
  EXPECT_EQ(Of(EventType::kAlloc).size(), 1u);
}

TEST_F(BlackBoxTest, AReferenceOfAutogradIsKeptUntilItIsReleased) {
  Add(Alloc(1));
  Add(Make(EventType::kSaved, {1, 512, 3, 0}));
  Add(Make(EventType::kSaved, {1, 512, 4, 0}));
  Add(Make(EventType::kSavedReleased, {1, 512}));
  Steps(3);
  EXPECT_EQ(Of(EventType::kSaved).size(), 1u);
}

TEST_F(BlackBoxTest, WhatIsOpenAtTheBeginningOfTheWindowIsOpenThere) {
  Add(Make(EventType::kRangeBegin, {8, 1, 0}));
  Add(Make(EventType::kRangeBegin, {5, 2, 0}));
  Add(Make(EventType::kRangeEnd, {5, 2, 0}));
  Steps(3);
  Add(Make(EventType::kRangeEnd, {8, 1, 0}));
  ASSERT_EQ(Of(EventType::kRangeBegin).size(), 1u);
  EXPECT_EQ(Of(EventType::kRangeBegin)[0].field[trace::range::kKind], 8u);
  EXPECT_EQ(Of(EventType::kRangeEnd).size(), 1u);
}

TEST_F(BlackBoxTest, AnotherOptimizerMakesNoSteps) {
  Steps(1);
  for (int i = 0; i < 10; ++i) Add(StepDone(2));
  Add(StepDone(1), 1);
  EXPECT_EQ(box_.steps_before(), 0u);
}

TEST_F(BlackBoxTest, EachProcessHasItsOwnStepsBefore) {
  Steps(1);
  Add(StepDone(2));
  Add(StepDone(7), 1);
  Add(StepDone(7), 1);
  Steps(3);  // the window begins after the second step of process 0
  Add(StepDone(7), 1);
  EXPECT_EQ(box_.steps_before_of(), (std::map<uint32_t, uint64_t>{{0, 2}, {1, 2}}));
}

TEST_F(BlackBoxTest, AStepThatIsTooLargeIsKeptInPart) {
  for (uint64_t i = 0; i < 3000; ++i) {
    Add(Alloc(i % 10));
    Add(Free(i % 10));
  }
  EXPECT_EQ(box_.Events().size(), 1000u);
  EXPECT_EQ(box_.steps_before(), 0u);
}

TEST_F(BlackBoxTest, TheDriversMemoryIsKept) {
  const uint64_t device = trace::DriverFlags(trace::DriverMemory::kDevice, 0);
  const uint64_t pool = trace::DriverFlags(trace::DriverMemory::kPoolBlock, 5);
  Add(Make(EventType::kDriverAlloc, {1, 512, 0, 0, 1, 2, device, 0}));
  Add(Make(EventType::kDriverAlloc, {2, 512, 0, 0, 1, 2, pool, 0}));
  Add(Make(EventType::kDriverAlloc, {3, 512, 0, 0, 1, 2, pool, 0}));
  Add(Make(EventType::kDriverFree, {3, 512, 0, 1, 2, 0, pool}));
  Steps(3);
  EXPECT_EQ(Of(EventType::kDriverAlloc).size(), 2u);
}

}  // namespace
}  // namespace vramscope::collector
