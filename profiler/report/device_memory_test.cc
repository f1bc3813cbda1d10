// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/device_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/model/testing/driver_script.h"
#include "profiler/report/build.h"
#include "profiler/report/explain.h"
#include "profiler/report/json.h"

namespace vramscope::report {
namespace {

using model::testing::DriverScript;
using model::testing::kMiB;
using ::testing::Contains;
using ::testing::HasSubstr;
using trace::DriverMemory;

constexpr uint64_t kHeap = 0x7f0000000000;
constexpr const char* kTorch = "libc10_cuda.so";

// Two segments of 20 MiB with 30 MiB of blocks at the peak, NCCL, a context, a user's library, and 5 MiB
// without a recorded allocation.
DriverScript Training() {
  DriverScript s;
  s.Context(300 * kMiB).Total(300 * kMiB);
  s.Take(kTorch, kHeap, 20 * kMiB).Block("weight", kHeap, 10 * kMiB, 20 * kMiB);
  s.Take("/opt/libnccl.so.2", kHeap + 100 * kMiB, 64 * kMiB);
  s.Take("/opt/mine/fused.so", kHeap + 200 * kMiB, 6 * kMiB);
  s.Take(kTorch, kHeap + 20 * kMiB, 20 * kMiB).Block("activation", kHeap + 20 * kMiB, 20 * kMiB, 40 * kMiB);
  s.Total(415 * kMiB);
  s.Unblock("activation");
  return s;
}

Answer AskOf(const DriverScript& script, const Request& request = {}) {
  const auto run = script.Load();
  return BuildAnswer(classify::Analysis(run), request).value();
}

Result<Explanation> ExplainOf(const model::testing::Script& script, const Request& request = {}) {
  const auto run = script.Load();
  return Explain(classify::Analysis(run), request);
}

TEST(DeviceMemoryTest, RowsSumToWhatTheDriverSays) {
  const DriverScript s = Training();
  Request at_the_end;
  at_the_end.at.push_back(ParseMoment("100000").value());
  const Answer answer = AskOf(s, at_the_end);
  ASSERT_TRUE(answer.peak.driver.has_value());
  const DeviceMemory& peak = *answer.peak.driver;
  EXPECT_EQ(peak.Of(DeviceRow::kAllocated), int64_t{30 * kMiB});
  EXPECT_EQ(peak.Of(DeviceRow::kCached), int64_t{10 * kMiB});
  EXPECT_EQ(peak.Of(DeviceRow::kNccl), int64_t{64 * kMiB});
  EXPECT_EQ(peak.Of(DeviceRow::kContext), int64_t{300 * kMiB});
  EXPECT_EQ(peak.Of(DeviceRow::kUser), int64_t{6 * kMiB});
  EXPECT_EQ(peak.Of(DeviceRow::kUnattributed), 0) << "the driver was not asked again before the peak";
  EXPECT_EQ(peak.used, 410 * kMiB);
  ASSERT_EQ(peak.libraries.size(), 1u);
  EXPECT_EQ(peak.libraries[0].library, "fused.so");

  const DeviceMemory& end = *answer.moments.at(0).driver;
  EXPECT_EQ(end.Of(DeviceRow::kAllocated), int64_t{10 * kMiB});
  EXPECT_EQ(end.Of(DeviceRow::kCached), int64_t{30 * kMiB});
  EXPECT_EQ(end.Of(DeviceRow::kUnattributed), int64_t{5 * kMiB});
  for (const Moment& moment : {Moment(answer.peak), answer.moments[0]}) {
    EXPECT_EQ(moment.device_used_bytes, static_cast<uint64_t>(moment.driver->Sum()));
  }
  EXPECT_EQ(answer.devices.at(0).peak_used_bytes, 415 * kMiB);
  EXPECT_THAT(answer.notes, Contains(HasSubstr("at 1 of 2 samples, by 5242880 bytes at most")));
}

TEST(DeviceMemoryTest, TheJsonHasAllRows) {
  const auto json = nlohmann::json::parse(ToJson(AskOf(Training())));
  EXPECT_EQ(json["peak"]["device_used_bytes"], 410 * kMiB);
  const auto& rows = json["devices"][0]["driver"];
  EXPECT_EQ(rows.size(), kDeviceRowCount);
  EXPECT_EQ(rows["nccl"], 64 * kMiB);
  EXPECT_EQ(rows["unattributed"], 0);
  EXPECT_EQ(json["devices"][0]["driver_libraries"][0],
            (nlohmann::json{{"library", "fused.so"}, {"row", "user"}, {"bytes", 6 * kMiB}}));
  EXPECT_EQ(json["anomalies"]["driver_mismatches"], 1);

  model::testing::Script without;
  without.Device(model::testing::kCuda0).Alloc("block", 512);
  const auto run = without.Load();
  const auto unknown = nlohmann::json::parse(ToJson(BuildAnswer(classify::Analysis(run), {}).value()));
  EXPECT_TRUE(unknown["peak"]["driver"].is_null());
  EXPECT_TRUE(unknown["peak"]["device_used_bytes"].is_null());
  EXPECT_TRUE(unknown["devices"][0]["driver"].is_null());
}

TEST(DeviceMemoryTest, ContradictionsAreSaid) {
  DriverScript s = Training();
  s.Block("foreign", 0x7e0000000000, 50 * kMiB).Total(100 * kMiB);
  const Answer answer = AskOf(s);
  EXPECT_EQ(answer.peak.driver->Of(DeviceRow::kCached), -int64_t{20 * kMiB})
      << "60 MiB of blocks in 40 of segments";
  EXPECT_THAT(answer.notes,
              Contains(HasSubstr("1 block lies in segments whose allocation was not recorded")));
  EXPECT_THAT(answer.notes,
              Contains(HasSubstr("reported less use than the recorded calls took at 1 sample")));
}

TEST(ExplainTest, TellsWhatLiesBetween) {
  const Explanation explanation = ExplainOf(Training()).value();
  EXPECT_EQ(explanation.device, "cuda:0");
  EXPECT_EQ(explanation.moment.asked, "peak");
  EXPECT_EQ(explanation.difference_bytes, int64_t{380 * kMiB});
  ASSERT_EQ(explanation.between.size(), 4u);
  EXPECT_EQ(explanation.between[0], std::pair(DeviceRow::kContext, int64_t{300 * kMiB}))
      << "the largest first";
  EXPECT_EQ(explanation.between[3], std::pair(DeviceRow::kUser, int64_t{6 * kMiB}));
}

TEST(ExplainTest, UnattributedComesLastHoweverLargeItIs) {
  DriverScript s;
  s.Context(10 * kMiB).Total(900 * kMiB).Block("block", kHeap, 512);
  const Explanation explanation = ExplainOf(s).value();
  EXPECT_EQ(explanation.between.back(), std::pair(DeviceRow::kUnattributed, int64_t{890 * kMiB}));
}

TEST(ExplainTest, AGpuWithoutTensorsIsExplainedToo) {
  DriverScript s;
  s.Context(300 * kMiB).Total(300 * kMiB).Take("libnccl.so.2", kHeap, 64 * kMiB).GiveBack(kHeap);
  const Explanation explanation = ExplainOf(s).value();
  EXPECT_EQ(explanation.moment.device_used_bytes, 364 * kMiB) << "when most was in use";
  EXPECT_EQ(explanation.moment.allocated_bytes, 0u);
}

TEST(ExplainTest, SaysWhatToRecordWhenItCannot) {
  model::testing::Script on_cpu;
  on_cpu.Alloc("block", 512);
  EXPECT_THAT(ExplainOf(on_cpu).error().sentence, HasSubstr("vramscope dryrun --gpu"));
  model::testing::Script on_gpu;
  on_gpu.Device(model::testing::kCuda0).Alloc("block", 512);
  EXPECT_THAT(ExplainOf(on_gpu).error().sentence, HasSubstr("no CUDA driver calls"));
  Request elsewhere;
  elsewhere.device = "cuda:7";
  EXPECT_FALSE(ExplainOf(Training(), elsewhere).ok());
}

}  // namespace
}  // namespace vramscope::report
