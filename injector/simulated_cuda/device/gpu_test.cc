// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/gpu.h"

#include <gtest/gtest.h>

#include "injector/simulated_cuda/abi.h"

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
