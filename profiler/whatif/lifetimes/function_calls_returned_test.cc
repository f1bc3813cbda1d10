// SPDX-License-Identifier: Apache-2.0
// What functions return, as far as their sources tell.
#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_program.h"

namespace vramscope::whatif {
namespace {

// y = x * 2; z = y * 2; if w is not None: return z, w; return z: neither returns y.
TEST(FunctionCallsTest, WhatNoneOfSeveralReturnsNamesItsFunctionHadForItself) {
  const auto known = [](const char* returns, uint32_t maker) {
    return Program({"10-20 11-11(z", returns},
                   [](Program& p) {
                     p.Make("y", {31, 11});
                     p.Make("z", {32, 11}, {"y"});
                     p.Make("out", {12}, {"z"});
                     p.End();
                   })
        .AllKnown(maker);
  };
  EXPECT_TRUE(known("30-38 31-31=y 32-32=z 34-34?>z,w 36-36>z", 1));
  EXPECT_FALSE(known("30-38 31-31=y 32-32=z 34-34?>z,w 36-36>z", 2)) << "it may be in a tuple";
  EXPECT_FALSE(known("30-38 31-31=y 32-32=z 34-34?>z,y 36-36>z", 1));
  EXPECT_FALSE(known("30-38 31-31=y 32-32=z 34-34?>. 36-36>z", 1)) << "anything may be returned";
}

}  // namespace
}  // namespace vramscope::whatif
