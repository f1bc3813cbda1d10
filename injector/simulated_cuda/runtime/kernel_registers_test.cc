// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/kernel_registers.h"

#include <gtest/gtest.h>

namespace vramscope::simulated {
namespace {

TEST(KernelRegistersTest, SortsOfShortKeysHaveAMultiprocessorForThemselves) {
  EXPECT_TRUE(
      TakesAllRegisters("_ZN3cub6detail10radix_sort30DeviceRadixSortDownsweepKernelI13__nv_bfloat16E"));
  EXPECT_FALSE(TakesAllRegisters("_ZN3cub6detail10radix_sort29DeviceRadixSortOnesweepKernelIfE"));
}

}  // namespace
}  // namespace vramscope::simulated
