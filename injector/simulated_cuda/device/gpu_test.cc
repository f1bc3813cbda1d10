// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/gpu.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/overheads.h"

namespace vramscope::simulated {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
TEST(GpuTest, SharedMemoryIsThatOfTheGuide) {
  const auto optin_kib = [](const char* name) {
    return AttributeOf(*FindGpu(name), 0, kMaxSharedMemoryPerBlockOptin) / 1024;
  };
  EXPECT_EQ(optin_kib("v100"), 96);
  EXPECT_EQ(optin_kib("t4"), 64);
  EXPECT_EQ(optin_kib("a100-40gb"), 163);
  EXPECT_EQ(optin_kib("rtx-3060"), 99);
  EXPECT_EQ(optin_kib("l4"), 99);
  EXPECT_EQ(optin_kib("h100-80gb"), 227);
}

TEST(GpuTest, ReadsADescriptionAsTheTableHasIt) {
  Gpu gpu = {};
  ASSERT_TRUE(ParseGpu("my-gpu;NVIDIA My GPU (x);8;6;28;12042;3;100;1536;16;1777;7501;192;250", &gpu));
  EXPECT_STREQ(gpu.name, "my-gpu");
  EXPECT_STREQ(gpu.product, "NVIDIA My GPU (x)");
  const Gpu& table = *FindGpu("rtx-3060");
  EXPECT_EQ(gpu.total_mib, table.total_mib);
  EXPECT_EQ(gpu.bus_bits, table.bus_bits);
  EXPECT_EQ(gpu.context_mib, 250u);
  EXPECT_EQ(gpu.context_basis, kGiven);
  for (int attribute = 1; attribute < 128; ++attribute)
    EXPECT_EQ(AttributeOf(gpu, 0, attribute), AttributeOf(table, 0, attribute)) << attribute;
  std::free(const_cast<char*>(gpu.name));
  std::free(const_cast<char*>(gpu.product));
  EXPECT_FALSE(ParseGpu("my-gpu;NVIDIA My GPU;8;6;28", &gpu));
  EXPECT_FALSE(ParseGpu("", &gpu));
}

// The seven measurements in gpus.def and the straight line through them.
TEST(GpuTest, ContextsFollowTheThreadsThatCanBeResident) {
  const auto by_line = [](const Gpu& gpu) {
    return 24.3 + 1.885 * gpu.multiprocessors * gpu.threads_per_multiprocessor / 1024;
  };
  for (const char* name :
       {"t4", "v100", "rtx-3090", "a100-40gb", "a100-80gb", "rtx-4090", "l40s", "h100-80gb", "h200"}) {
    const Gpu& gpu = *FindGpu(name);
    EXPECT_EQ(gpu.context_basis, kMeasured) << name;
    EXPECT_NEAR(static_cast<double>(gpu.context_mib) / by_line(gpu), 1.01, 0.065) << name;
  }
  for (const char* name : {"rtx-3060", "rtx-4060", "rtx-5090", "a10g", "l4", "b200", "rtx-a5000", "p100"}) {
    const Gpu& gpu = *FindGpu(name);
    EXPECT_EQ(gpu.context_basis, kDerived) << name;
    EXPECT_NEAR(static_cast<double>(gpu.context_mib), by_line(gpu), 1) << name;
  }
}

TEST(GpuTest, TotalsSayHowTheyAreKnown) {
  EXPECT_EQ(FindGpu("rtx-4080")->memory_basis, kNominal);
  EXPECT_STREQ(FindGpu("rtx-4080")->memory_source, "16 GiB");
  EXPECT_EQ(FindGpu("rtx-4080")->total_mib, 16u * 1024 * 96 / 100);
  EXPECT_EQ(FindGpu("rtx-5080")->memory_basis, kReported);
  EXPECT_STREQ(FindGpu("rtx-5080")->memory_source, "vllm-project/vllm, issue 14452");
  EXPECT_NEAR(static_cast<double>(FindGpu("rtx-5080")->total_mib), 15.48 * 1024, 1);
  EXPECT_EQ(FindGpu("mi300x")->memory_basis, kByCapacity);
  for (const char* name : {"rtx-3060-laptop",
                           "rtx-3070-ti",
                           "rtx-3080-12gb",
                           "rtx-3090-ti",
                           "rtx-4060-ti-16gb",
                           "rtx-4070-super",
                           "rtx-4090-laptop",
                           "rtx-5070-ti",
                           "rtx-a2000",
                           "rtx-a6000",
                           "rtx-6000-ada",
                           "rtx-pro-6000",
                           "p100",
                           "v100-32gb",
                           "a10",
                           "a30",
                           "a40",
                           "h100-pcie",
                           "h100-nvl",
                           "gh200",
                           "gb200",
                           "b300",
                           "mi355x"})
    ASSERT_NE(FindGpu(name), nullptr) << name;
}

TEST(GpuTest, WhatTheProgramAskedForIsExactAndAContextHasARange) {
  EXPECT_STREQ(CertaintyOf("cudaMalloc", kMeasured).basis, "exact");
  EXPECT_EQ(CertaintyOf("cudaMalloc", kMeasured).high_percent, 100u);
  EXPECT_STREQ(CertaintyOf("context", kDerived).basis, "derived");
  const Certainty measured = CertaintyOf("context", kMeasured);
  EXPECT_LT(measured.low_percent, 100u);
  EXPECT_GT(measured.high_percent, 100u);
  EXPECT_LT(measured.high_percent, CertaintyOf("context", kDerived).high_percent);
  EXPECT_EQ(CertaintyOf("context", kGiven).low_percent, 100u);
}

TEST(GpuTest, WhatItDoesNotKnowIsNotThere) {
  constexpr int kMulticast = 132;
  EXPECT_EQ(AttributeOf(*FindGpu("h100-80gb"), 0, kMulticast), 0);
  EXPECT_EQ(AttributeOf(*FindGpu("h100-80gb"), 0, 9999), 0);
  EXPECT_EQ(FindGpu("h100"), nullptr);
}

TEST(GpuTest, OccupancyIsTheSmallestOfTheLimits) {
  const Gpu& h100 = *FindGpu("h100-80gb");
  EXPECT_EQ(ResidentBlocks(h100, 1024, 0), 2);
  EXPECT_EQ(ResidentBlocks(h100, 32, 0), 32) << "by the number of blocks";
  EXPECT_EQ(ResidentBlocks(h100, 128, 100 * 1024), 2) << "by shared memory";
  EXPECT_EQ(ResidentBlocks(h100, 128, 1 << 30), 1) << "never 0: PyTorch divides by it";
}

}  // namespace
}  // namespace vramscope::simulated
