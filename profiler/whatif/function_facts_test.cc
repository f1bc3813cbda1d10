// SPDX-License-Identifier: Apache-2.0
// What variables of functions hold, as their lines say: forward passes with the lines that call operators.
#include "profiler/whatif/function_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>

#include "profiler/whatif/predict.h"
#include "profiler/whatif/testing/tensor_script.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kBytes = 1024 * 64 * 4;

// A module, "net", that runs three times in deep steps. `function`: what is told of the lines of net.py.
class Program : public TensorScript {
 public:
  Program(std::initializer_list<const char*> functions, const std::function<void(Program&)>& body) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("x", kBytes);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
    for (const char* const function : functions)
      s.Mark(trace::MarkKind::kFunction, 0, std::string("net.py:") + function);
    for (int call = 1; call <= 3; ++call) s.Module("", [&] { s.Module("net", [&] { body(*this); }); });
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
  }

  // An operator that makes a block, called in these lines of net.py, innermost first.
  void Make(const char* result, std::initializer_list<int> lines,
            std::initializer_list<const char*> from = {"x"}) {
    s.Op("aten::mul", [&] {
      Operands(from, lines);
      s.Alloc(result, kBytes);
      Out(result, "1024,64", "64,1");
    });
    names_.push_back(result);
  }
  // x.to(torch.float32), which hands on what it is given.
  void To(const char* block, int line, int caller = 0) {
    s.Op("aten::to", [&] {
      caller == 0 ? Operands({block}, {line}) : Operands({block}, {line, caller});
      Out(block, "1024,64", "64,1");
    });
  }
  // The same of a tensor in the host's memory.
  void ToOnHost(int line) {
    s.Op("aten::to", [&] {
      for (const uint64_t flags : {uint64_t{0}, uint64_t{trace::kTensorIsOutput}})
        s.Event(trace::EventType::kOpTensor,
                {flags, 0, 8, 1, 0, s.trace().Intern("1024,64"), s.trace().Intern("64,1"), 6});
      Operands({}, {line});
    });
  }
  void End() {
    for (const char* const name : names_) s.Free(name);
    names_.clear();
  }

  // By operator of the module's call, counted from 1, in the last step: the first one that begins when
  // nothing holds the block any more which the operator `maker` made; 0: no variable was seen to hold it.
  [[nodiscard]] uint32_t HeldUntil(uint32_t maker) const {
    const uint32_t block = OutputsOf(step_, step_.ops[maker - 1])[0].block;
    for (const Named& named : step_.named)
      if (named.block == block) return FirstBehind(named.until);
    return 0;
  }
  // Whether no other variable holds it, for sure.
  [[nodiscard]] bool AllKnown(uint32_t maker) const {
    const uint32_t block = OutputsOf(step_, step_.ops[maker - 1])[0].block;
    return std::any_of(step_.named.begin(), step_.named.end(),
                       [&](const Named& named) { return named.block == block && named.all; });
  }
  // HeldUntil of what that operator converts.
  [[nodiscard]] uint32_t ConvertedUntil(uint32_t op) const { return FirstBehind(step_.ops[op - 1].named); }
  // Whether what it converts goes into the operator behind it alone.
  [[nodiscard]] bool Taken(uint32_t op) const { return step_.ops[op - 1].taken; }

 private:
  [[nodiscard]] uint32_t FirstBehind(Position until) const {
    uint32_t next = 0;
    while (next < step_.ops.size() && step_.ops[next].begin < until) ++next;
    return until == kBefore ? 0 : next + 1;
  }
  void Operands(std::initializer_list<const char*> blocks, std::initializer_list<int> lines) {
    uint64_t argument = 0;
    for (const char* const block : blocks) In(block, "1024,64", "64,1", argument++);
    for (const int line : lines)
      s.Event(trace::EventType::kOpScalar,
              {trace::kOpCaller, s.trace().Intern("f (net.py:" + std::to_string(line) + ")")});
  }

  std::vector<const char*> names_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  Step step_;
};

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

// y = y.to(...) gives y a copy where y has another type: how long that lives is not said here.
TEST(FunctionFactsTest, WhatIsConvertedIsAnother) {
  const Program program({"10-20 11-11=y 12-12=y"}, [](Program& p) {
    p.Make("y", {11});
    p.To("y", 12);
    p.Make("out", {13}, {"y"});
    p.Make("more", {14}, {"out"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 3u);
  EXPECT_EQ(program.ConvertedUntil(2), 5u) << "what it returns has the name until the function returns";
}

// wide = y.to(...); f(wide), which holds what it is given: of the copy, where there is one.
TEST(FunctionFactsTest, WhatIsGivenBehindAConversionMayBeTheCopy) {
  const Program program({"10-20 11-11=y", "30-34 args"}, [](Program& p) {
    p.Make("y", {11});
    p.To("y", 12);
    p.Make("inner", {31, 13}, {"y"});
    p.Make("more", {32, 13}, {"inner"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 5u);
  EXPECT_EQ(program.ConvertedUntil(2), 5u);
}

// y = self.norm(x * 2), whose operators follow, and y = x * 2; self.norm(...)
TEST(FunctionFactsTest, WhatAModuleReturnsIsNotKnown) {
  for (const char* const told : {"10-20 11-11(y", "10-20 11-11=y"}) {
    const Program program({told}, [](Program& p) {
      p.Make("given", {11});
      p.s.Module("net.norm", [&] { p.Make("normed", {}, {"given"}); });
      p.Make("out", {12}, {"normed"});
      p.Make("more", {13}, {"out"});
      p.End();
    });
    EXPECT_EQ(program.HeldUntil(1), told[11] == '(' ? 0u : 5u) << told;
  }
}

// w = f(x), with y = x * 2; z = y * 2; return y. The operators are y, z, out and more.
TEST(FunctionFactsTest, WhatAFunctionReturnsIsItsCallers) {
  const auto until = [](const char* returned, uint32_t maker) {
    return Program({"10-20 11-11(w", (std::string("30-34 31-31=y 32-32=z") + returned).c_str()},
                   [](Program& p) {
                     p.Make("y", {31, 11});
                     p.Make("z", {32, 11}, {"y"});
                     p.Make("out", {12});
                     p.Make("more", {13});
                     p.End();
                   })
        .HeldUntil(maker);
  };
  EXPECT_EQ(until(" 34-34>y", 1), 5u) << "w holds it until its own function returns";
  EXPECT_EQ(until(" 34-34>y", 2), 3u);
  EXPECT_EQ(until(" 34-34>z", 1), 3u);
  EXPECT_EQ(until(" 34-34>z", 2), 5u);
  EXPECT_EQ(until(" 34-34>=", 2), 5u) << "what was computed last";
  EXPECT_EQ(until(" 33-33?>y 34-34>z", 1), 3u) << "one of two that differ: w may be any";
  EXPECT_EQ(until(" 33-33?>y 34-34>z", 2), 3u);
  EXPECT_EQ(until(" 33-33?>y 34-34>y", 1), 5u);
  EXPECT_EQ(until(" 31-31?>z 34-34>y", 2), 3u) << "a return that is behind already";
  EXPECT_EQ(until(" 34-34>.", 1), 3u);
}

// a, b = f(x), with y = x * 2; z = y * 2; return z, y.to(kind)
TEST(FunctionFactsTest, SeveralThatAreReturnedEachHaveAName) {
  const Program program({"10-20 11-11(a,b 13-13~b", "30-34 31-31=y 32-32=z 34-34>z,="}, [](Program& p) {
    p.Make("y", {31, 11});
    p.Make("z", {32, 11}, {"y"});
    p.To("y", 34, 11);
    p.Make("out", {12});
    p.Make("more", {14});
    p.Make("last", {15});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(2), 7u) << "a";
  EXPECT_EQ(program.HeldUntil(1), 4u) << "y itself goes with its function";
  EXPECT_EQ(program.ConvertedUntil(3), 5u) << "b, which line 13 takes away";
}

// z = y.float() * 2, in line 12
TEST(FunctionFactsTest, AConversionThatGetsNoNameGoesIntoOneOperator) {
  const auto taken = [](const char* function, std::initializer_list<int> lines, const char* by) {
    return Program({function, "30-34"},
                   [&](Program& p) {
                     p.Make("y", {11});
                     p.To("y", 12);
                     p.Make("z", lines, {by});
                     p.End();
                   })
        .Taken(2);
  };
  EXPECT_TRUE(taken("10-20 11-11=y 12-12=z", {12}, "y"));
  EXPECT_FALSE(taken("10-20 11-11=y 12-12=z", {12}, "x")) << "it works on something else";
  EXPECT_FALSE(taken("10-20 11-11=y 12-12=y", {13}, "y")) << "y = y.float()";
  EXPECT_FALSE(taken("10-20 11-11=y 12-12=z", {31, 12}, "y")) << "f(y.float())";
  EXPECT_FALSE(taken("10-20 12-12(a,b", {12}, "y")) << "a, b = y.float(), y * 2";
}

TEST(FunctionFactsTest, WhatIsHeldElsewhereIsNotWhollyKnown) {
  const auto known = [](const char* caller, const char* function) {
    return Program({caller, function},
                   [](Program& p) {
                     p.Make("y", {31, 11});
                     p.Make("z", {33, 11}, {"y"});
                     p.Make("out", {12});
                     p.End();
                   })
        .AllKnown(1);
  };
  EXPECT_TRUE(known("10-20 11-11(w", "30-34 31-31=y 33-33=z 34-34>z"));
  EXPECT_FALSE(known("10-20 11-11(w", "30-34 31-31=y 32-32!y 33-33=z 34-34>z")) << "kept.append(y)";
  EXPECT_TRUE(known("10-20 11-11(w", "30-34 31-31=y 32-32?!y 33-33=z 34-34>z"));
  EXPECT_FALSE(known("10-20 11-11(w", "30-34 31-31=y 33-33=z 34-34>.")) << "return Output(y, z)";
  EXPECT_FALSE(known("10-20 11-11(w", "30-34 31-31=y 33-33=z 34-34>z,y")) << "w is a tuple";
  EXPECT_FALSE(known("10-20 11-11(a,b,c", "30-34 31-31=y 33-33=z 34-34>z,y"));
  EXPECT_TRUE(known("10-20 11-11(a,b", "30-34 31-31=y 33-33=z 34-34>z,y"));
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
