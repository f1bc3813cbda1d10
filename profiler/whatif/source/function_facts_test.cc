// SPDX-License-Identifier: Apache-2.0
// What variables of functions hold, as their lines say: forward passes with the lines that call operators.
#include "profiler/whatif/source/function_facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/testing/written_program.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

TEST(FunctionFactsTest, AVariableHoldsUntilItsFunctionReturns) {
  const Program program({"10-20", "30-34 31-31=y"}, [](Program& p) {
    p.Make("y", {31, 11});
    p.Make("z", {32, 11}, {"y"});
    p.Make("out", {33, 11}, {"z"});
    p.Make("more", {12}, {"out"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 4u) << "y = x * 2; z is an expression's; the function of line 12 goes on";
  EXPECT_EQ(program.HeldUntil(2), 0u);
}

TEST(FunctionFactsTest, UntilItIsGivenSomethingElse) {
  const Program program({"10-20 11-11=y 13-13=y 15-15~y"}, [](Program& p) {
    p.Make("first", {11});
    p.Make("between", {12}, {"first"});
    p.Make("second", {13}, {"first"});
    p.Make("third", {14});
    p.Make("last", {16});
    p.Make("behind", {17});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 4u) << "y stands for the second when that is there";
  EXPECT_EQ(program.HeldUntil(3), 5u) << "del y stands between line 14 and 16";
}

TEST(FunctionFactsTest, AStatementThatMayBePassedOverTakesNothingAway) {
  const Program program({"10-20 11-11=y 13-13?~y"}, [](Program& p) {
    p.Make("y", {11});
    p.Make("z", {14});
    p.Make("out", {15});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 4u);
}

// def f(x): z = x * 2; x = x * 3; ... What z stood for was seen to go when f returned.
TEST(FunctionFactsTest, ArgumentsGoBeforeOtherVariables) {
  const auto goes_before = [](const char* function) {
    const Program program({"10-20", function}, [](Program& p) {
      p.Make("z", {31, 11});
      p.Make("changed", {32, 11});
      p.Make("out", {33, 11});
      p.s.Free("z");
      p.Make("more", {12}, {"out"});
      for (const char* const name : {"changed", "out", "more"}) p.s.Free(name);
    });
    return program.GoesBefore(2, 1);
  };
  EXPECT_TRUE(goes_before("30-34 args=x 31-31=z 32-32=x"));
  EXPECT_FALSE(goes_before("30-34 31-31=z 32-32=x")) << "as statements name them";
}

TEST(FunctionFactsTest, AnotherNameHoldsItToo) {
  const Program program({"10-20 11-11=y 12-12<kept<y 13-13=y"}, [](Program& p) {
    p.Make("y", {11});
    p.Make("other", {13}, {"y"});
    p.Make("out", {14});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 4u);
}

TEST(FunctionFactsTest, AFunctionHoldsWhatItIsGiven) {
  for (const bool keeps : {true, false}) {
    const Program program({"10-20", keeps ? "30-34 args" : "30-34 31-31=x"}, [](Program& p) {
      p.Make("given", {11});
      p.Make("inner", {31, 12}, {"given"});
      p.Make("out", {32, 12}, {"inner"});
      p.Make("more", {13}, {"out"});
      p.End();
    });
    EXPECT_EQ(program.HeldUntil(1), keeps ? 4u : 0u) << "a line gives the argument something else";
  }
}

TEST(FunctionFactsTest, ACallFromAnotherLineOrFromItsBeginIsAnotherCall) {
  const auto until = [](int line, int caller) {
    return Program({"10-20", "30-34 31-31=y"},
                   [&](Program& p) {
                     p.Make("y", {31, 11});
                     p.Make("z", {33, 11}, {"y"});
                     p.Make("w", {line, caller});
                     p.Make("out", {34, caller}, {"w"});
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until(33, 11), 5u);
  EXPECT_EQ(until(33, 12), 3u);
  EXPECT_EQ(until(31, 11), 3u) << "f(x), f(x)";
}

TEST(FunctionFactsTest, ALoopGoesBack) {
  const Program program({"10-20 11-11=y 12-14@ 13-13?=y"}, [](Program& p) {
    p.Make("before", {11});
    p.Make("a", {13}, {"before"});
    p.Make("b", {14}, {"a"});
    p.Make("c", {13}, {"a"});
    p.Make("d", {14}, {"c"});
    p.Make("out", {15}, {"c"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 3u);
  EXPECT_EQ(program.HeldUntil(2), 5u) << "the second turn has given y something else";
  EXPECT_EQ(program.HeldUntil(4), 7u);
}

TEST(FunctionFactsTest, AStatementThatRunsTwiceInARowGivesOneOfTwo) {
  for (const bool loop : {true, false}) {
    const Program program({loop ? "10-20 12-14@ 13-13?=y" : "10-20 13-13?=y"}, [](Program& p) {
      p.Make("a", {13});
      p.Make("b", {13}, {"a"});
      p.Make("out", {15}, {"b"});
      p.End();
    });
    EXPECT_EQ(program.AllKnown(1), !loop);
  }
}

// The recorder tells eight, of which the outermost may be any.
TEST(FunctionFactsTest, TooManyCallersTellNothing) {
  const Program program({"10-20 11-11=y"}, [](Program& p) {
    p.Make("y", {11});
    p.Make("deep", {12, 12, 12, 12, 12, 12, 12, 12}, {"y"});
    p.Make("out", {13}, {"y"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 4u);
  EXPECT_FALSE(program.AllKnown(2));
}

TEST(FunctionFactsTest, WhatIsNotUnderstoodIsLeftOut) {
  for (const char* const told :
       {"", "10", "10-", "20-10", "10-20 11=y", "10-20 11-11", "10-20 11-11=", "10-20 11-11<y", "10-20 new",
        "10-20 11-11!", "10-20 11-11=x -2147483648-2147483647=y", "99999999999-99999999999",
        "10-20  11-11=y"}) {
    const Program program({told}, [](Program& p) {
      p.Make("y", {11});
      p.Make("out", {12});
      p.End();
    });
    EXPECT_EQ(program.HeldUntil(1), 0u) << told;
  }
}

// A thread waits for the interpreter between the operator's begin and its callers; others go on meanwhile.
TEST(FunctionFactsTest, CallersOfSeveralThreadsComeInAnyOrder) {
  WrittenStep written;
  written.Module("net", 5, 90);
  const uint32_t node = written.Node(110), y = written.AddBlock(11, 150);
  written.Work(10, node, {written.AddBlock(1, 150), y});
  written.Work(20, node, {y, written.AddBlock(21, 150)});
  written.Work(30, node, {y, written.AddBlock(31, 150)});
  for (uint32_t op = 0; op < 3; ++op) written.step_.blocks[written.step_.operands[2 * op + 1].block].op = op;
  FunctionFacts facts;
  facts.AddMark("net.py:10-20 11-11=y");
  const char* const frames[] = {"f (net.py:11)", "f (net.py:12)", "f (net.py:13)"};
  for (const uint32_t op : {1, 0, 2}) facts.AddCaller(op, op, frames[op]);
  facts.Tell(written.step_);
  const auto named = std::find_if(written.step_.named.begin(), written.step_.named.end(),
                                  [&](const Named& one) { return one.block == y; });
  ASSERT_TRUE(named != written.step_.named.end());
  EXPECT_GT(named->until, 32) << "the function goes on behind the first operator";
}

TEST(FunctionFactsTest, NoneOfTheseFunctionsIsKnown) {
  const Program program({"10-20 11-11=y"}, [](Program& p) {
    p.Make("y", {21});
    p.Make("out", {22}, {"y"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 0u);
}

TEST(FunctionFactsTest, WhatIsConvertedOnTheHostIsNoneOfItsBlocks) {
  const Program program({"10-20 11-11=y 12-12=z"}, [](Program& p) {
    p.Make("y", {11});
    p.ToOnHost(12);
    p.Make("out", {13}, {"y"});
    p.End();
  });
  EXPECT_TRUE(program.AllKnown(1));
  EXPECT_EQ(program.ConvertedUntil(2), 0u);
}

}  // namespace
}  // namespace vramscope::whatif
