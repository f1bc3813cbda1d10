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
  EXPECT_TRUE(known("30-38 31-31=y 32-32=z 36-36>{z", 1)) << "a dict of z";
  EXPECT_FALSE(known("30-38 31-31=y 32-32=z 36-36>{z", 2)) << "the dict has it";
  EXPECT_FALSE(known("30-38 31-31=y 32-32=z 36-36>{z,y", 1));
  EXPECT_FALSE(known("30-38 31-31=y 32-32=z 36-36>.", 1));
}

// y = x * 2; z = y * 2; return z, in a function that another one calls, of which nobody knows what it
// returns.
TEST(FunctionCallsTest, WhatAFunctionDoesNotReturnItsCallersCannotHandOn) {
  const auto known = [](const char* returns, uint32_t maker) {
    return Program({"10-20 11-11(z", "30-38 31-31(z 32-32>.", returns},
                   [](Program& p) {
                     p.Make("y", {51, 31, 11});
                     p.Make("z", {52, 31, 11}, {"y"});
                     p.Make("more", {32, 11}, {"z"});
                     p.Make("out", {12}, {"more"});
                     p.End();
                   })
        .AllKnown(maker);
  };
  EXPECT_TRUE(known("50-58 51-51=y 52-52=z 53-53>z", 1));
  EXPECT_FALSE(known("50-58 51-51=y 52-52=z 53-53>z", 2)) << "they have it";
  EXPECT_FALSE(known("50-58 51-51=y 52-52=z 53-53>z,y", 1));
  EXPECT_FALSE(known("50-58 51-51=y 52-52=z 53-53>z,w", 1)) << "w may be anything";
  EXPECT_FALSE(known("50-58 51-51=y 52-52=z 53-53>.", 1));
}

// y, z = mask(y, z), which computes nothing: what is worked on behind it somebody must have.
TEST(FunctionCallsTest, WhatAFunctionWithoutOperatorsIsGivenItHandsBackWhereThatIsUsedBehindIt) {
  const auto until = [](const char* function, const char* used) {
    return Program({function},
                   [used](Program& p) {
                     p.Make("y", {11});
                     p.Make("other", {13});
                     p.Make("out", {15}, {used});
                     p.Make("more", {16}, {"out"});
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until("10-20 11-11=y 14-14(y,z", "y"), 5u);
  EXPECT_EQ(until("10-20 11-11=y 14-14(y,z", "x"), 3u) << "not used any more";
  EXPECT_EQ(until("10-20 11-11=y 14-14=y", "y"), 3u) << "no call";
}

// y = x * 2; a, b = f(y), of which b is one of two: y goes before b is seen to go.
TEST(FunctionCallsTest, VariablesGoBeforeALaterOneOfWhichSeveralBlocksMayBeIt) {
  const auto goes_before = [](const char* function) {
    return Program({function},
                   [](Program& p) {
                     p.Make("y", {11});
                     p.Make("a", {31, 12}, {"y"});
                     p.Make("b", {32, 12}, {"y"});
                     p.Make("out", {13}, {"a"});
                     p.s.Free("b");
                     for (const char* const name : {"y", "a", "out"}) p.s.Free(name);
                   })
        .GoesBefore(1, 3);
  };
  EXPECT_TRUE(goes_before("10-20 11-11=y 12-12(a,b"));
  EXPECT_FALSE(goes_before("10-20 11-11=y 13-13=out")) << "no variable's";
}

}  // namespace
}  // namespace vramscope::whatif
