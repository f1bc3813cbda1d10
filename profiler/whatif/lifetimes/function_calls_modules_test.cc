// SPDX-License-Identifier: Apache-2.0
// Calls of modules whose lines are told, as functions of programs written down by hand make them.
#include <gtest/gtest.h>

#include <string>

#include "profiler/whatif/testing/written_program.h"

namespace vramscope::whatif {
namespace {

constexpr const char* kOfTorch = "Part.forward (/torch/nn/modules/part.py:5)";

// A module that makes `result` of what x is, called in that line; line 0: that is not told. `helper`: the
// function that calls it there, of that line.
void Call(Program& p, int line, const char* given, const char* result, uint64_t place = 2,
          const char* forward = kOfTorch, const char* helper = nullptr) {
  p.s.Module("net.part", [&] {
    if (helper != nullptr) p.s.Mark(trace::MarkKind::kCaller, place, helper);
    if (line > 0)
      p.s.Mark(trace::MarkKind::kCaller, place, "Net.forward (net.py:" + std::to_string(line) + ")");
    p.s.Label(given, trace::Role::kHeld, trace::LabelSource::kVariable, "x");
    p.s.Op("aten::mul", [&] {
      p.s.Alloc(result, kProgramBytes);
      p.s.Event(trace::EventType::kOpScalar, {trace::kOpCaller, p.s.trace().Intern(forward)});
      p.s.Event(trace::EventType::kOpTensor, {trace::kTensorIsOutput, 0, 9, p.s.AddressOf(result), 0,
                                              p.s.trace().Intern("1024,64"), p.s.trace().Intern("64,1"), 6});
    });
  });
}

// Operators: first, that of part, scaled, out, more.
uint32_t Until(const char* function, int line, uint32_t maker) {
  return Program({function},
                 [line](Program& p) {
                   p.Make("first", {11});
                   Call(p, line, "first", "parted");
                   p.Make("scaled", {13}, {"parted"});
                   p.Make("out", {14}, {"scaled"});
                   p.Make("more", {15}, {"out"});
                   for (const char* const name : {"parted"}) p.s.Free(name);
                   p.End();
                 })
      .HeldUntil(maker);
}

// x = x * 2; x = self.part(x); y = x * scale; x = y * 2
TEST(FunctionCallsModulesTest, AStatementOfItsOwnGivesWhatTheModuleReturns) {
  EXPECT_EQ(Until("10-20 11-11=x 12-12(x 13-13=y 14-14=x", 12, 1), 3u) << "gone when the module returns";
  EXPECT_EQ(Until("10-20 11-11=x 12-12(x 13-13=y 14-14=x", 12, 2), 5u) << "until x is something else";
}

// x = x * 2; x = self.part(x) * scale; y = x * 2
TEST(FunctionCallsModulesTest, AStatementThatComputesOnGivesItBehindItsLastOperator) {
  EXPECT_EQ(Until("10-20 11-11=x 13-13=x 14-14=y", 13, 1), 4u) << "x is what it was while that is computed";
  EXPECT_EQ(Until("10-20 11-11=x 13-13=x 14-14=y", 13, 2), 0u) << "what the module returns has no name";
}

// x = self.part(x): a module of torch's keeps nothing of what it returns; of another one that is not known.
TEST(FunctionCallsModulesTest, OnlyItsCallersVariablesHoldWhatAModuleOfTorchsReturned) {
  const auto known = [](const char* forward) {
    return Program({"10-20 12-12(x 13-13=x"},
                   [forward](Program& p) {
                     Call(p, 12, "x", "parted", 2, forward);
                     p.Make("out", {13}, {"parted"});
                     p.s.Free("parted");
                     p.End();
                   })
        .AllKnown(1);
  };
  EXPECT_TRUE(known("Part.forward (/torch/nn/modules/part.py:5)"));
  EXPECT_FALSE(known("Part.forward (/parts/part.py:5)"));
}

// return self.attend(x), of a class that is no module, whose __call__ does y = ...; y = self.part(y).
TEST(FunctionCallsModulesTest, AFunctionThatObjectsAreCalledByGoesOnBehindTheModulesThatItCalls) {
  const Program program({"10-20 12-12>=", "30-38 31-31=y 33-33(y 35-35>y"}, [](Program& p) {
    p.Make("y", {31, 12});
    Call(p, 12, "y", "parted", 2, kOfTorch, "Attend.__call__ (net.py:33)");
    p.Make("out", {34, 12}, {"parted"});
    for (const char* const name : {"y", "parted", "out"}) p.s.Free(name);
  });
  EXPECT_EQ(program.HeldUntil(1), 3u) << "y is what the module made";
  EXPECT_EQ(program.HeldUntil(2), 4u) << "until it returns";
}

// x = self.part(x), which a library's class calls as its own __call__ does: that is no caller.
TEST(FunctionCallsModulesTest, AModulesOwnWayIntoItIsNoneOfItsCallersFunctions) {
  const Program program({"10-20 11-11=x 12-12(x 13-13=x"}, [](Program& p) {
    p.Make("first", {11});
    Call(p, 12, "first", "parted", 2, kOfTorch, "Layer.__call__ (/library/layers.py:33)");
    p.Make("out", {13}, {"parted"});
    p.Make("more", {14}, {"out"});
    p.s.Free("parted");
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 3u);
  EXPECT_EQ(program.HeldUntil(2), 4u);
}

// for ...: x = self.part(x): one line alone runs, again and again.
TEST(FunctionCallsModulesTest, ALoopThatComesBackToACallGivesWhatTheLastOneReturned) {
  const Program program({"10-20 12-13@ 11-11=x 12-12?(x 15-15=x"}, [](Program& p) {
    p.Make("first", {11});
    Call(p, 12, "first", "one");
    Call(p, 12, "one", "two");
    p.Make("out", {14}, {"two"});
    p.Make("more", {15}, {"out"});
    for (const char* const name : {"one", "two"}) p.s.Free(name);
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 3u);
  EXPECT_EQ(program.HeldUntil(2), 4u) << "until the second turn's call returns";
  EXPECT_EQ(program.HeldUntil(3), 6u);
}

}  // namespace
}  // namespace vramscope::whatif
