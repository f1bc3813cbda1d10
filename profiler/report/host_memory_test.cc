// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/host_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/model/testing/driver_script.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"

namespace vramscope::report {
namespace {

using model::testing::DriverScript;
using model::testing::kCpuDevice;
using model::testing::kMiB;

constexpr uint64_t kSecond = 1'000'000'000;

void Sample(DriverScript& s, const std::string& name, uint64_t value) {
  s.Event(trace::EventType::kCounter, {s.trace().Intern(name), value, kCpuDevice});
}

// A trainer and two workers over ten steps of one second; each worker grows by `leak` bytes per step.
DriverScript Pipeline(uint64_t leak) {
  DriverScript s;
  s.EndingProcess(201, 12 * kSecond, 100).EndingProcess(202, 12 * kSecond, 100);
  for (uint64_t step = 1; step <= 10; ++step) {
    s.Process(100).At(step * kSecond);
    s.Alloc("x", 512).Saved("x");
    s.Backward([&] { s.Released("x"); });
    s.Optimizer("SGD", [] {});
    s.Free("x");
    Sample(s, "host.rss", 500 * kMiB);
    Sample(s, "host.rss_peak", 700 * kMiB);
    for (const uint32_t worker : {201u, 202u}) {
      s.Process(worker);
      Sample(s, "host.rss", 300 * kMiB + step * leak);
      Sample(s, "host.pss", 100 * kMiB + step * leak);
      Sample(s, "host.rss_shared", 50 * kMiB);
    }
  }
  s.Process(100).At(13 * kSecond);
  Sample(s, "host.shm_used", 64 * kMiB);
  Sample(s, "host.shm_size", 1024 * kMiB);
  return s;
}

std::optional<HostMemory> HostMemoryOf(const DriverScript& s) {
  const auto run = s.Load();
  return BuildAnswer(classify::Analysis(run), {}).value().host_memory;
}

TEST(HostMemoryTest, AddsUpTheWorkersAtOneTime) {
  DriverScript s = Pipeline(0);
  s.Take("libtorch_cuda.so", 0x600000000000, 5 * kMiB, trace::DriverMemory::kHostPinned);
  s.Take("user.so", 0x600010000000, 3 * kMiB, trace::DriverMemory::kHostRegistered);
  const HostMemory memory = HostMemoryOf(s).value();
  EXPECT_EQ(memory.main.pid, 100u);
  EXPECT_EQ(memory.main.peak_rss_bytes, 700 * kMiB) << "the kernel's own peak, between two samples";
  ASSERT_EQ(memory.workers.size(), 2u);
  EXPECT_EQ(memory.workers_peak_rss_bytes, 600 * kMiB);
  EXPECT_EQ(memory.workers_peak_pss_bytes, 200 * kMiB);
  EXPECT_EQ(memory.workers[0].peak_shared_bytes, 50 * kMiB);
  EXPECT_FALSE(memory.workers_growth.has_value());
  EXPECT_FALSE(memory.main.growth.has_value());
  EXPECT_EQ(memory.shm_peak_bytes, 64 * kMiB);
  EXPECT_EQ(memory.pinned->peak_bytes, 8 * kMiB);
  EXPECT_EQ(memory.pinned->peak_pytorch_bytes, 5 * kMiB);
}

TEST(HostMemoryTest, WorkersThatLeakAreToldWithTheirRate) {
  const HostMemory memory = HostMemoryOf(Pipeline(20 * kMiB)).value();
  ASSERT_TRUE(memory.workers_growth.has_value());
  const double per_step = static_cast<double>(memory.workers_growth->bytes_per_step) / kMiB;
  EXPECT_NEAR(per_step, 40, 8) << "20 MiB in each of two";
  EXPECT_FALSE(memory.main.growth.has_value());
}

TEST(HostMemoryTest, WorkersOfAnEpochMakeRoomForThoseOfTheNext) {
  DriverScript s;
  s.Alloc("x", 512);
  s.EndingProcess(201, 2 * kSecond, 100).EndingProcess(202, 4 * kSecond, 100);
  s.Process(201).At(kSecond);
  Sample(s, "host.rss", 300 * kMiB);
  s.Process(202).At(3 * kSecond);
  Sample(s, "host.rss", 400 * kMiB);
  s.Process(100);
  Sample(s, "host.rss", 100 * kMiB);
  EXPECT_EQ(HostMemoryOf(s)->workers_peak_rss_bytes, 400 * kMiB) << "not 700: they never lived together";
}

TEST(HostMemoryTest, GrowthIsWhatRisesThroughout) {
  const auto series = [](const auto& value_at) {
    std::vector<TimedValue> values;
    for (uint64_t i = 0; i < 100; ++i) values.push_back({i, value_at(i)});
    return values;
  };
  EXPECT_EQ(FindGrowth(series([](uint64_t i) { return 100 * kMiB + i * kMiB; }), 0, 100), 75 * kMiB);
  EXPECT_FALSE(
      FindGrowth(series([](uint64_t i) { return 100 * kMiB + i % 10 * 10 * kMiB; }), 0, 100).has_value())
      << "a saw";
  EXPECT_FALSE(FindGrowth(series([](uint64_t i) { return (i < 50 ? 100 : 400) * kMiB; }), 0, 100).has_value())
      << "one jump";
  EXPECT_FALSE(FindGrowth(series([](uint64_t i) { return 100 * kMiB + i * 1024; }), 0, 100).has_value())
      << "noise";
  EXPECT_FALSE(FindGrowth(series([](uint64_t i) { return 10'000 * kMiB + i * kMiB; }), 0, 100).has_value())
      << "less than two percent";
}

TEST(HostMemoryTest, NothingSampledIsNothing) {
  DriverScript s;
  s.Alloc("x", 512);
  EXPECT_FALSE(HostMemoryOf(s).has_value());
  const auto run = Pipeline(20 * kMiB).Load();
  const auto json = nlohmann::json::parse(ToJson(BuildAnswer(classify::Analysis(run), {}).value()));
  EXPECT_EQ(json["host_memory"]["workers"].size(), 2u);
  EXPECT_GT(json["host_memory"]["workers_growth"]["bytes_per_step"], 0);
  EXPECT_TRUE(json["host_memory"]["pinned"].is_null());
}

}  // namespace
}  // namespace vramscope::report
