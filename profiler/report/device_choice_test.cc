// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"
#include "profiler/report/build.h"
#include "profiler/report/failed.h"

namespace vramscope::report {
namespace {

using model::testing::kCpuDevice;
using model::testing::kCuda0;
using model::testing::kCuda1;
using model::testing::Script;
using ::testing::HasSubstr;

void Fail(Script& s, uint64_t device, uint64_t bytes) {
  s.Event(trace::EventType::kOutOfMemory, {bytes, 8, 8, device, 0});
}

// Ranks in processes 100 and 101 with one GPU each, and a launcher, process 99, with neither.
Script TwoRanks() {
  Script s;
  s.Device(kCpuDevice).Process(99).Alloc("table", 9000);
  s.Process(100).Device(kCuda0).Alloc("small", 400);
  s.Process(101).Device(kCuda1).Alloc("large", 700);
  return s;
}

std::string Meant(const model::Run& run, const Request& request = {}) {
  const auto curves = CurvesOf(run);
  const auto device = ChooseDevice(run, curves, request);
  return device.ok() ? SpokenOf(run, *device).text : device.error().sentence;
}

Request Rank(uint32_t rank) {
  Request request;
  request.rank = rank;
  return request;
}

TEST(DeviceChoiceTest, TheFullestGpuIsMeantAndTheOthersAreCounted) {
  const model::Run run = TwoRanks().Load();
  const Answer answer = BuildAnswer(classify::Analysis(run), {}).value();
  EXPECT_EQ(answer.about, "rank 1 (process 101), cuda:1");
  EXPECT_EQ(answer.rank, 1u);
  EXPECT_EQ(answer.others, 1u);
  EXPECT_EQ(BuildAnswer(classify::Analysis(run), Rank(0))->others, 0u);
}

TEST(DeviceChoiceTest, RanksAreCountedByTheProcessesThatUseAGpu) {
  const model::Run run = TwoRanks().Load();
  EXPECT_EQ(Meant(run, Rank(0)), "rank 0 (process 100), cuda:0");
  EXPECT_THAT(Meant(run, Rank(2)), HasSubstr("no allocations on a device of rank 2; it has"));
}

TEST(DeviceChoiceTest, ARankThatTheEnvironmentSaidComesFirst) {
  Script s = TwoRanks();
  s.trace().SetMetadata("process.0.rank", "5");
  s.trace().SetMetadata("process.2.rank", "4");
  const model::Run run = s.Load();
  EXPECT_EQ(Meant(run, Rank(5)), "rank 5 (process 100), cuda:0");
  EXPECT_EQ(Meant(run, Rank(4)), "rank 4 (process 101), cuda:1");
}

TEST(DeviceChoiceTest, TheDeviceOnWhichTheRunEndedComesBeforeAFullerOne) {
  Script s = TwoRanks();
  s.Process(100);
  Fail(s, kCuda0, 5000);
  const model::Run run = s.Load();
  EXPECT_EQ(Meant(run), "rank 0 (process 100), cuda:0");
  EXPECT_EQ(Meant(run, Rank(1)), "rank 1 (process 101), cuda:1");
}

TEST(DeviceChoiceTest, AFailureThatTheProgramSurvivesDecidesNothing) {
  Script s = TwoRanks();
  s.Process(100);
  Fail(s, kCuda0, 5000);
  s.Mark(trace::MarkKind::kOptimizerStepDone, 1);
  EXPECT_EQ(Meant(s.Load()), "rank 1 (process 101), cuda:1");
}

TEST(DeviceChoiceTest, TheFailureOfSeveralIsTheFirstThatEndedItsProcess) {
  Script s = TwoRanks();
  s.Process(100);
  Fail(s, kCuda0, 1000);
  s.Mark(trace::MarkKind::kOptimizerStepDone, 1);
  s.Process(101);
  Fail(s, kCuda1, 2000);
  s.Process(100);
  Fail(s, kCuda0, 3000);
  const model::Run run = s.Load();
  const auto failure = ChooseFailure(run, {}, 0);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(run.out_of_memory[failure->index].requested, 2000u);
  EXPECT_EQ(failure->all, 3u);
  EXPECT_EQ(run.out_of_memory[ChooseFailure(run, {}, 3)->index].requested, 3000u);
  EXPECT_EQ(ChooseFailure(run, {}, 3)->number_on_device, 2u);
  EXPECT_FALSE(ChooseFailure(run, {}, 4).has_value());
  EXPECT_FALSE(ChooseFailure(run, Rank(1), 2).has_value());
}

TEST(DeviceChoiceTest, TheMomentOfTheFailureIsOnItsDevice) {
  Script s = TwoRanks();
  s.Process(100).Device(kCuda0);
  Fail(s, kCuda0, 5000);
  s.Mark(trace::MarkKind::kOptimizerStepDone, 1).Free("small");
  Request request;
  request.at = {ParseMoment("oom").value()};
  const model::Run run = s.Load();
  const Answer answer = BuildAnswer(classify::Analysis(run), request).value();
  EXPECT_EQ(answer.device, "cuda:0");
  EXPECT_EQ(answer.moments[0].allocated_bytes, 400u);
}

TEST(DeviceChoiceTest, ForVerbsThatJudgeAllEachGpuOfEachProcessIsMeant) {
  const model::Run run = TwoRanks().Load();
  const auto all = ChooseDevices(run, CurvesOf(run), {}).value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(SpokenOf(run, all[0]).device, "cuda:0");
  EXPECT_EQ(SpokenOf(run, all[1]).device, "cuda:1");
  EXPECT_EQ(ChooseDevices(run, CurvesOf(run), Rank(1))->size(), 1u);
}

// One process that allocated a block and ended with that status.
model::testing::MemoryTrace Ended(int32_t exit_status) {
  model::testing::MemoryTrace trace;
  trace::ProcessInfo info;
  info.pid = 100;
  info.exit_status = exit_status;
  trace.AddThread({trace.AddProcess(info), 100, "main"});
  trace::Event block;
  block.type = trace::EventType::kAlloc;
  block.field[trace::alloc::kAddress] = 0x1000;
  block.field[trace::alloc::kSize] = 400;
  block.field[trace::alloc::kDevice] = kCuda0;
  trace.Append(block);
  return trace;
}

std::string HowItEnded(const model::testing::MemoryTrace& trace) {
  return HowItFailed(*model::Load(std::make_shared<model::testing::MemoryTrace>(trace)), 0);
}

TEST(FailedRunTest, SaysHowTheRunEndedWhereItDidNotSucceed) {
  EXPECT_EQ(HowItEnded(Ended(0)), "");
  EXPECT_EQ(HowItEnded(Ended(-1)), "") << "not known";
  EXPECT_THAT(HowItEnded(Ended(1 << 8)),
              HasSubstr("The run failed (exit 1), so its later memory use is not known"));
  model::testing::MemoryTrace ran_out = Ended(9);
  trace::Event failure;
  failure.type = trace::EventType::kOutOfMemory;
  failure.field[trace::oom::kRequested] = 5000;
  failure.field[trace::oom::kDevice] = kCuda0;
  ran_out.Append(failure);
  EXPECT_THAT(HowItEnded(ran_out),
              HasSubstr("An allocation on cuda:0 failed and ended the run (killed by signal 9 (Killed))"));
}

TEST(MomentChoiceTest, EventsAreNumberedFromTheTracesStart) {
  const model::Run run = TwoRanks().Load();
  Request request = Rank(1);
  request.at = {ParseMoment("event:0").value(), ParseMoment("event:2").value(), ParseMoment("end").value()};
  const Answer answer = BuildAnswer(classify::Analysis(run), request).value();
  EXPECT_EQ(answer.moments[0].allocated_bytes, 0u);
  EXPECT_EQ(answer.moments[1].allocated_bytes, 0u) << "the other rank's block";
  EXPECT_EQ(answer.moments[2].allocated_bytes, 700u);
  EXPECT_EQ(answer.moments[2].events, run.event_count());
}

}  // namespace
}  // namespace vramscope::report
