// SPDX-License-Identifier: Apache-2.0
// What functions hand to each other and to modules, and what they convert, as their lines say.
#include "profiler/whatif/lifetimes/function_calls.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "profiler/whatif/testing/written_program.h"

namespace vramscope::whatif {
namespace {

// y = y.to(...) gives y a copy where y has another type; else y itself, for as long as the function runs.
TEST(FunctionCallsTest, WhatIsConvertedIsAnother) {
  const Program program({"10-20 11-11=y 12-12=y"}, [](Program& p) {
    p.Make("y", {11});
    p.To("y", 12);
    p.Make("out", {13}, {"y"});
    p.Make("more", {14}, {"out"});
    p.End();
  });
  EXPECT_EQ(program.UnconvertedUntil(1), 3u);
  EXPECT_EQ(program.HeldUntil(1), 5u);
  EXPECT_EQ(program.ConvertedUntil(2), 5u) << "what it returns has the name until the function returns";
}

// wide = y.to(...); f(wide), which holds what it is given: of the copy, where there is one.
TEST(FunctionCallsTest, WhatIsGivenBehindAConversionMayBeTheCopy) {
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

// f(y): norm(y.to(...)); g(y): what f was given is y itself, however much it converts.
TEST(FunctionCallsTest, WhatIsGivenIsNoneOfTheCopiesThatAreMadeOfItThen) {
  const Program program({"10-20 11-11=y", "30-34 args"}, [](Program& p) {
    p.Make("y", {11});
    p.To("y", 31, 13);
    p.Make("inner", {32, 13}, {"y"});
    p.Make("more", {33, 13}, {"inner"});
    p.End();
  });
  EXPECT_LT(program.ConvertedUntil(2), 4u);
  EXPECT_EQ(program.UnconvertedUntil(1), 5u);
}

// view = y.view(...); view = view.to(...); out = ...; view = ...; other = y.view(...): y is no copy.
TEST(FunctionCallsTest, WhatIsSeenBesideAConversionIsNotTheCopy) {
  const Program program({"10-20 11-11=y 12-12=view 13-13=view 15-15=view 16-16=other"}, [](Program& p) {
    p.Make("y", {11});
    p.View("y", 8, 12);
    p.To("y", 13, 0, 8);
    p.Make("out", {14});
    p.Make("more", {15});
    p.View("y", 9, 16);
    p.Make("last", {17});
    p.End();
  });
  EXPECT_EQ(program.ConvertedUntil(3), 6u) << "until view is something else";
  EXPECT_EQ(program.HeldUntil(1), 8u) << "other is y";
}

// y = y.to(...); view = y.view(...).to(...); f(y), which holds the first copy, where there is one: that of
// the view is another.
TEST(FunctionCallsTest, WhatIsSeenBesideAConversionMayBeAnEarlierOnesCopy) {
  const auto program = [](bool first) {
    return Program({"10-20 11-11=y 12-12=y 13-13=view", "30-34 args"}, [first](Program& p) {
      p.Make("y", {11});
      if (first) p.To("y", 12);
      p.View("y", 8, 13);
      p.To("y", 13, 0, 8);
      p.Make("inner", {31, 14}, {"y"});
      p.Make("more", {32, 14}, {"inner"});
      p.End();
    });
  };
  EXPECT_EQ(program(true).UnconvertedUntil(1), 3u) << "it has a name until the statement is behind";
  EXPECT_EQ(program(true).ConvertedUntil(2), 7u);
  EXPECT_EQ(program(false).UnconvertedUntil(1), 6u) << "it is y itself";
}

// y = attention(...); y = y.reshape(...), or joined = y.reshape(...): where that copies, y has what was
// before.
TEST(FunctionCallsTest, AVariableThatIsGivenAViewHoldsWhatIsMadeThen) {
  const auto until = [](const char* function, uint32_t before) {
    return Program({function},
                   [](Program& p) {
                     p.Make("y", {11});
                     p.View("y", 8, 12);
                     p.Make("out", {13}, {"y"});
                     p.Make("more", {14}, {"out"});
                     p.End();
                   })
        .AsMadeUntil(1, before);
  };
  EXPECT_EQ(until("10-20 11-11=y 12-12=y", 2), 3u);
  EXPECT_EQ(until("10-20 11-11=y 12-12=y", 3), 5u) << "the view is what it was before";
  EXPECT_EQ(until("10-20 11-11=y 12-12=joined", 2), 5u);
}

// mean = x.mean(); y = x * mean; y = y * weight; return y, in a function that lets go of mean then.
TEST(FunctionCallsTest, TheLastStatementGivesItsVariableBeforeTheOthersGo) {
  const Program program({"10-20", "30-34 args 31-31=mean 32-32=y 33-33=y 34-34>y"}, [](Program& p) {
    p.Make("mean", {31, 11});
    p.Make("y", {32, 11});
    p.Make("out", {33, 11}, {"y"});
    p.s.Free("mean");
    p.Make("more", {12}, {"out"});
    for (const char* const name : {"y", "out", "more"}) p.s.Free(name);
  });
  EXPECT_TRUE(program.GoesBefore(2, 1));
}

// for i in ...: y = a[:, i] * b[:, i], and a loop that comes back to that line with nothing between.
TEST(FunctionCallsTest, SeveralViewsInALoopsStatementAreNoSeveralTurns) {
  const auto known = [](const std::function<void(Program&)>& body, uint32_t maker) {
    return Program({"10-20 11-12@ 11-11=y 12-12=z"},
                   [&](Program& p) {
                     body(p);
                     p.Make("z", {12});
                     p.End();
                   })
        .AllKnown(maker);
  };
  const auto turn = [](Program& p, const char* made) {
    for (const uint64_t tensor : {11, 12}) p.View("x", tensor, 11);
    p.Make(made, {11});
  };
  EXPECT_TRUE(known([&](Program& p) { turn(p, "y"); }, 3));
  EXPECT_FALSE(known([&](Program& p) { turn(p, "y"), turn(p, "again"); }, 3));
  EXPECT_FALSE(known([](Program& p) { p.View("x", 11, 11), p.Make("y", {11}), p.Make("again", {11}); }, 2));
}

// y = x * 2
// z = f(
//     y * 2)      which runs before f, a line above
TEST(FunctionCallsTest, WhatStandsFurtherDownInAStatementMayRunBefore) {
  const Program program({"10-20 11-11=y 12-14=z"}, [](Program& p) {
    p.Make("y", {11});
    p.Make("inner", {13});
    p.Make("outer", {12}, {"inner"});
    p.Make("out", {15});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 5u) << "the function has not returned between";
  EXPECT_EQ(program.HeldUntil(3), 5u);
}

// y = self.norm(x * 2), whose operators follow, and y = x * 2; self.norm(...)
TEST(FunctionCallsTest, WhatAModuleReturnsIsNotKnown) {
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

// y = x * 2; self.norm(y), which is the last thing that the module does. The operators are y and that of
// norm.
TEST(FunctionCallsTest, WhatAModulesOwnVariableHoldsGoesWhenItsCallEnds) {
  const auto until = [](const char* function, std::initializer_list<int> lines) {
    return Program({function, "30-34 31-31=y"},
                   [&](Program& p) {
                     p.Make("y", lines);
                     p.s.Module("net.norm", [&] { p.Make("normed", {}, {"y"}); });
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until("10-20 11-11=y", {11}), 3u);
  EXPECT_EQ(until("10-20 11-11=y 12-12(z", {11}), 3u) << "z = self.norm(y)";
  EXPECT_EQ(until("10-20 11-11=y 12-12(y", {11}), 2u) << "y = self.norm(y)";
  EXPECT_EQ(until("10-20 11-11=y 12-12?~y", {11}), 2u) << "which may be passed over";
  EXPECT_EQ(until("10-20 11-12@ 11-11=y 12-12(z", {11}), 2u) << "in a loop that gives y another";
  EXPECT_EQ(until("10-20 11-11(w", {31, 11}), 2u) << "another function's, which has returned";
}

// h = self.mix(x * 2, y * 2) may be either of them; of h = self.norm(x * 2 * 2) the first has no name.
TEST(FunctionCallsTest, WhatAModuleIsGivenMayBeWhatItReturns) {
  for (const bool two : {true, false}) {
    const Program program({"10-20 11-11(h"}, [two](Program& p) {
      p.Make("first", {11});
      p.Make("second", {11}, {two ? "x" : "first"});
      p.s.Module("net.mix", [&] { p.Make("mixed", {}, {"second"}); });
      p.Make("out", {12}, {"mixed"});
      p.End();
    });
    EXPECT_EQ(program.AllKnown(1), !two);
    EXPECT_FALSE(program.AllKnown(2));
  }
}

// w = f(x), with y = x * 2; z = y * 2; return y. The operators are y, z, out and more.
TEST(FunctionCallsTest, WhatAFunctionReturnsIsItsCallers) {
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
TEST(FunctionCallsTest, SeveralThatAreReturnedEachHaveAName) {
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
  EXPECT_EQ(program.UnconvertedUntil(1), 4u) << "y itself goes with its function";
  EXPECT_EQ(program.HeldUntil(1), 5u) << "unless it is what was returned";
  EXPECT_EQ(program.ConvertedUntil(3), 5u) << "b, which line 13 takes away";
}

// z = y.float() * 2, in line 12
TEST(FunctionCallsTest, AConversionThatGetsNoNameGoesIntoOneOperator) {
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
  const Program viewed({"10-20 11-11=y 12-12=z", "30-34"}, [](Program& p) {
    p.Make("y", {11});
    p.To("y", 12);
    p.To("y", 12);  // any operator that returns a view
    p.End();
  });
  EXPECT_FALSE(viewed.Taken(2)) << "z = y.float().view(...)";
  EXPECT_FALSE(taken("10-20 11-11=y 12-12=z", {31, 12}, "y")) << "f(y.float())";
  EXPECT_FALSE(taken("10-20 12-12(a,b", {12}, "y")) << "a, b = y.float(), y * 2";
}

TEST(FunctionCallsTest, WhatIsHeldElsewhereIsNotWhollyKnown) {
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

// x = self.norm(x); x = gelu(self.convolve(x)); self.last(x). The operators are those of norm and convolve,
// gelu, that of last, and one more.
TEST(FunctionCallsTest, WhatAModuleReturnedIsHeldUntilAnothersResultIsComputedOn) {
  const auto until = [](const char* function, int line) {
    return Program({function},
                   [line](Program& p) {
                     const auto call = [&p](const char* module, const char* x, const char* result) {
                       p.s.Module(module, [&] {
                         p.s.Label(x, trace::Role::kHeld, trace::LabelSource::kVariable, "x");
                         p.Make(result, {}, {x});
                       });
                     };
                     call("net.norm", "x", "normed");
                     call("net.convolve", "normed", "convolved");
                     p.Make("activated", {line}, {"convolved"});
                     call("net.last", "activated", "out");
                     p.Make("more", {15}, {"out"});
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until("10-20 11-11(x 12-12=x", 12), 4u) << "behind gelu";
  EXPECT_EQ(until("10-20 11-11(x 12-12(x 13-13=x", 13), 0u) << "x = self.convolve(x), in its own statement";
  EXPECT_EQ(until("10-20 11-11(x 12-12(y 13-13=x", 13), 4u) << "y = self.convolve(x)";
  EXPECT_EQ(until("10-20 11-11(x 12-12=y", 12), 0u) << "y = gelu(...), and x is told of something else";
  EXPECT_EQ(until("10-20 11-12@ 11-11(x 12-12=x", 12), 0u) << "in a loop it may be any of them";
}

// a, b = [t * 2 for t in (a, b)]: what a was goes when the second one is there as well, and both stay then.
TEST(FunctionCallsTest, WhatIsComputedOfEachGetsItsNameWhenAllIsThere) {
  const auto until = [](const char* function, uint32_t maker) {
    return Program({function},
                   [](Program& p) {
                     p.Make("a", {11});
                     p.Make("b", {12});
                     for (const char* const each : {"a", "b"}) {
                       p.Make(each == std::string_view("a") ? "a wide" : "b wide", {13}, {each});
                       p.View(each == std::string_view("a") ? "a wide" : "b wide", 8, 13);
                     }
                     p.Make("other", {14}, {"a wide"});
                     p.Make("out", {15}, {"other"});
                     p.Make("more", {16}, {"out"});
                     p.End();
                   })
        .HeldUntil(maker);
  };
  const char* const each = "10-20 11-11=a 12-12=b 13-13[a,b 15-15=a";
  EXPECT_EQ(until(each, 1), 7u) << "a is something else behind both";
  EXPECT_EQ(until(each, 2), 7u);
  EXPECT_EQ(until(each, 3), 9u) << "until line 15 gives a another value";
  EXPECT_EQ(until(each, 5), 10u) << "as long as the function runs";
  const char* const three = "10-20 11-11=a 12-12=b 13-13[a,b,c 15-15=a";
  EXPECT_EQ(until(three, 1), 7u);
  EXPECT_EQ(until(three, 3), 0u) << "four operators are not of three values";
}

// a, b = [f(t) for t in (a, b)], where f holds what it computes first until it returns.
TEST(FunctionCallsTest, WhatAFunctionComputesOfEachIsWhatItReturns) {
  const auto until = [](const char* function, uint32_t maker) {
    return Program({"10-20 13-13[a,b", function},
                   [](Program& p) {
                     for (const char* const each : {"a", "b"}) {
                       const bool first = each == std::string_view("a");
                       p.Make(first ? "a inner" : "b inner", {31, 13});
                       p.Make(each, {32, 13}, {first ? "a inner" : "b inner"});
                     }
                     p.Make("out", {14}, {"a"});
                     p.Make("more", {15}, {"out"});
                     p.End();
                   })
        .HeldUntil(maker);
  };
  EXPECT_EQ(until("30-34 31-31=t 32-32>=", 2), 7u);
  EXPECT_EQ(until("30-34 31-31=t 32-32>=", 4), 7u);
  EXPECT_EQ(until("30-34 31-31=t 32-32>=", 1), 3u) << "t goes when it returns";
  EXPECT_EQ(until("30-34 31-31=t 32-32=w 33-33>t", 1), 7u);
  EXPECT_EQ(until("30-34 31-31=t 32-32=w 33-33>t", 3), 7u);
  EXPECT_EQ(until("30-34 31-31=t 32-32>.", 2), 0u) << "anything";
}

// a, b = [net(t * 2) for t in (a, b)]: what each stands for is what the module made.
TEST(FunctionCallsTest, WhatIsComputedOfEachForAModuleIsNotWhatItReturns) {
  const Program program({"10-20 13-13[a,b"}, [](Program& p) {
    for (const char* const each : {"a", "b"}) {
      p.Make(each, {13});
      p.s.Module("net.inner", [&] { p.Make(each == std::string_view("a") ? "a out" : "b out", {}, {each}); });
    }
    p.Make("more", {14}, {"a out"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 0u);
  EXPECT_EQ(program.HeldUntil(3), 0u);
}

}  // namespace
}  // namespace vramscope::whatif
