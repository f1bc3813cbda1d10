// SPDX-License-Identifier: Apache-2.0
// Variables of a module's own function that calls of other modules show with another block, as lines of
// programs written down by hand: residual = hidden in a branch, as layers of transformers write it.
//
//   residual = x * 2                      line 11
//   hidden = residual * 2                      12
//   self.norm(hidden)                          13    residual is what line 11 made
//   if before: residual = hidden               14
//   self.convolve(hidden)                      15    residual is what line 12 made: the other is gone
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "profiler/whatif/testing/written_program.h"

namespace vramscope::whatif {
namespace {

constexpr const char* kFunction = "10-20 11-11=residual 12-12=hidden 14-14?<residual<hidden";

using Variables = std::vector<std::pair<const char*, const char*>>;  // name, block

void Call(Program& p, const char* module, const Variables& variables, const char* result,
          const char* given = "second") {
  p.s.Module(module, [&] {
    for (const auto& [name, block] : variables)
      p.s.Label(block, trace::Role::kHeld, trace::LabelSource::kVariable, name);
    p.Make(result, {}, {given});
  });
}

// Until which operator what line 11 made is held: first, second, that of norm, that of convolve, out, more.
uint32_t Until(const char* function, const Variables& in_norm, const Variables& in_convolve) {
  return Program({function},
                 [&](Program& p) {
                   p.Make("first", {11});
                   p.Make("second", {12}, {"first"});
                   Call(p, "net.norm", in_norm, "normed");
                   Call(p, "net.convolve", in_convolve, "convolved");
                   p.Make("out", {16}, {"convolved"});
                   p.Make("more", {17}, {"out"});
                   p.End();
                 })
      .HeldUntil(1);
}

TEST(SeenInCallsTest, AVariableThatACallShowsWithAnotherBlockHasLetGoOfTheOneBefore) {
  EXPECT_EQ(Until(kFunction, {{"residual", "first"}}, {{"residual", "second"}}), 4u);
  EXPECT_EQ(Until(kFunction, {{"residual", "first"}}, {{"residual", "first"}}), 7u) << "not taken";
  EXPECT_EQ(Until(kFunction, {}, {}), 7u) << "nothing is seen";
  EXPECT_EQ(Until(kFunction, {{"other", "second"}}, {{"other", "second"}}), 7u);
}

// residual = x * 2; hidden = self.norm(residual); if before: residual = hidden; self.convolve(hidden)
TEST(SeenInCallsTest, WhatTheLastOperatorBeforeTheCallsGaveIsKnownByThen) {
  const Program program(
      {"10-20 11-11=residual 12-12(hidden 13-13?<residual<hidden 14-14(hidden"}, [](Program& p) {
        p.Make("first", {11});
        p.s.Module("net.norm", [&] {
          p.s.Label("first", trace::Role::kHeld, trace::LabelSource::kVariable, "residual");
          p.Make("normed", {}, {"first"});
        });
        p.s.Module("net.convolve", [&] {
          p.s.Label("normed", trace::Role::kHeld, trace::LabelSource::kVariable, "residual");
          p.Make("convolved", {}, {"normed"});
        });
        p.Make("out", {15}, {"convolved"});
        p.Make("more", {16}, {"out"});
        p.End();
      });
  EXPECT_EQ(program.HeldUntil(1), 3u) << "behind norm, not when the function returns";
}

// y = self.norm(x); z = self.mlp(y), the last call; y = x + z * 2: y holds what norm made until that is
// there.
TEST(SeenInCallsTest, WhatTheLastCallShowsIsHeldUntilAStatementGivesItsVariableSomethingElse) {
  const auto until = [](const char* function, const Variables& behind = {}) {
    return Program({function},
                   [&](Program& p) {
                     p.Make("first", {11});
                     Call(p, "net.norm", {{"x", "first"}}, "normed", "first");
                     Call(p, "net.mlp", {{"y", "normed"}}, "made", "normed");
                     if (!behind.empty()) Call(p, "net.drop", behind, "dropped", "made");
                     p.Make("scaled", {14}, {"made"});
                     p.Make("sum", {14}, {"scaled"});
                     p.Make("out", {15}, {"sum"});
                     p.End();
                   })
        .HeldUntil(2);
  };
  EXPECT_EQ(until("10-20 11-11=x 12-12(y 13-13(z 14-14=y"), 6u);
  EXPECT_EQ(until("10-20 11-11=x 12-12(y 13-13(y 14-14=y"), 0u) << "mlp's result may have had the name";
  EXPECT_EQ(until("10-20 11-11=x 12-12(y 13-13(z 14-14=w"), 0u) << "nothing gives it another";
  EXPECT_EQ(until("10-20 11-11=x 12-12(y 13-13(z 14-14=y", {{"z", "made"}}), 0u) << "a later call";
  EXPECT_EQ(until("10-20 11-11=x 13-13(y 14-14=y"), 0u) << "it is a helper's, which calls both";
}

// y = self.norm(x * 2); r = x.to(...); y = self.mlp(y); y = r + y * 2
TEST(SeenInCallsTest, AStatementWithAnOperatorOfItsOwnIsNotTheOneThatCallsAModule) {
  const Program program({"10-20 11-11(y 12-12(r 13-13(y 14-14=y"}, [](Program& p) {
    p.Make("first", {11});
    Call(p, "net.norm", {{"x", "first"}}, "normed", "first");
    p.Make("residual", {12}, {"first"});
    Call(p, "net.mlp", {{"y", "normed"}}, "made", "normed");
    p.Make("sum", {14}, {"made", "residual"});
    p.Make("out", {15}, {"sum"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(2), 0u) << "what mlp returned has the name";
}

// first = x * 2; second = first * 2: both go with the function, in this order.
TEST(SeenInCallsTest, OfVariablesThatGoTogetherTheFirstIsTheFirstToGo) {
  const Program program({"10-20 11-11=first 12-12=second"}, [](Program& p) {
    p.Make("first", {11});
    p.Make("second", {12}, {"first"});
    p.Make("out", {13}, {"second"});
    p.End();
  });
  EXPECT_LT(program.NamedUntil(1), program.NamedUntil(2));
  EXPECT_EQ(program.HeldUntil(1), program.HeldUntil(2));
}

// A helper's y = self.project(x).repeat(8, 1), and self.norm in the next statement.
TEST(SeenInCallsTest, WhatTheNextCallShowsIsNotWhatThatReturns) {
  const auto until = [](const Variables& in_norm) {
    return Program({"30-39 31-31(y 32-32(z"},
                   [&](Program& p) {
                     p.Make("first", {31});
                     p.Make("second", {31}, {"first"});
                     Call(p, "net.norm", in_norm, "normed");
                     p.Make("out", {33}, {"normed"});
                     p.Make("more", {34}, {"out"});
                     p.End();
                   })
        .HeldUntil(2);
  };
  const uint32_t at_end = until({{"y", "second"}});
  EXPECT_EQ(at_end, 6u) << "until the helper returns";
  EXPECT_NE(until({{"y", "first"}}), at_end);
  EXPECT_NE(until({{"z", "second"}}), at_end);
  EXPECT_NE(until({}), at_end);
}

// y = self.norm(x * 2); out = y * 2; y = x * 2, and y = x * 2; out = self.norm(y) * 2; ...: which of the two
// statements calls norm shows in what y stands for then.
TEST(SeenInCallsTest, WhatAModuleReturnsIsWhatTheNextStatementTakes) {
  const auto until = [](const Variables& in_norm, const char* taken, bool twice = false) {
    return Program({"10-20 11-11(y 12-12(out 14-14=y"},
                   [&](Program& p) {
                     p.Make("first", {11});
                     if (twice) Call(p, "net.before", in_norm, "before", "first");
                     Call(p, "net.norm", in_norm, "normed", "first");
                     p.Make("out", {12}, {taken});
                     p.Make("more", {13}, {"out"});
                     p.Make("last", {14}, {"more"});
                     p.Make("end", {15}, {"last"});
                     p.End();
                   })
        .HeldUntil(2);
  };
  EXPECT_EQ(until({{"x", "x"}}, "normed"), 6u) << "until y stands for something else";
  EXPECT_EQ(until({{"y", "first"}}, "normed"), 0u);
  EXPECT_EQ(until({}, "normed"), 0u) << "nothing is seen";
  EXPECT_EQ(until({{"x", "x"}}, "first"), 0u);
  EXPECT_EQ(until({{"x", "x"}}, "normed", true), 0u);
}

// y = x * 2; y = self.dropout(y); more = y * 2, and something else: a dropout of nothing returns what it is
// given.
TEST(SeenInCallsTest, AModuleThatMadeNothingReturnsWhatItWasGiven) {
  const auto until = [](bool makes) {
    return Program({"30-39 31-31=y 32-32(y 33-33=more"},
                   [makes](Program& p) {
                     p.Make("first", {31});
                     p.s.Module("net.dropout", [&] {
                       if (makes)
                         p.Make("dropped", {}, {"first"});
                       else
                         p.To("first", 0);
                     });
                     p.Make("more", {33}, {"first"});
                     p.Make("out", {34}, {"more"});
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until(false), 5u) << "until the helper returns";
  EXPECT_EQ(until(true), 2u);
}

TEST(SeenInCallsTest, TheFirstCallThatShowsItDecides) {
  EXPECT_EQ(Until(kFunction, {{"residual", "second"}}, {{"residual", "second"}}), 3u);
}

TEST(SeenInCallsTest, ANameThatStandsForTwoBlocksTellsNothing) {
  EXPECT_EQ(Until(kFunction, {{"residual", "first"}}, {{"residual", "second"}, {"residual", "first"}}), 7u);
}

TEST(SeenInCallsTest, BehindAnOperatorOfTheFunctionItGoesBeforeTheCall) {
  const Program program({"10-20 11-11=residual 12-12=hidden 15-15?<residual<hidden"}, [](Program& p) {
    p.Make("first", {11});
    p.Make("second", {12}, {"first"});
    Call(p, "net.norm", {{"residual", "first"}}, "normed");
    p.Make("scaled", {14}, {"normed"});
    Call(p, "net.convolve", {{"residual", "second"}}, "convolved");
    p.Make("out", {17}, {"convolved"});
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 5u);
}

// self.convolve is the last thing that the module does.
TEST(SeenInCallsTest, CallsBehindTheLastOperatorTellToo) {
  const Program program({kFunction}, [](Program& p) {
    p.Make("first", {11});
    p.Make("second", {12}, {"first"});
    p.Make("third", {13}, {"second"});
    Call(p, "net.norm", {{"residual", "first"}}, "normed");
    Call(p, "net.convolve", {{"residual", "second"}}, "convolved");
    p.End();
  });
  EXPECT_EQ(program.HeldUntil(1), 5u);
}

// x = x.view(); rest = x; x = self.norm(x) * 2; x = self.mix(x) * 2; rest = x.
TEST(SeenInCallsTest, AVariableKeepsWhatACallShowsUntilAStatementBehindItGivesItAnother) {
  const auto until = [](const std::string& function, int caller = 0) {
    return Program({function.c_str()},
                   [caller](Program& p) {
                     const auto make = [&](const char* result, int line, const char* from) {
                       caller == 0 ? p.Make(result, {line}, {from}) : p.Make(result, {caller, line}, {from});
                     };
                     p.Make("first", {10});
                     p.View("first", 7, 11);
                     Call(p, "net.norm", {{"rest", "first"}, {"x", "first"}}, "normed", "first");
                     make("second", 13, "normed");
                     Call(p, "net.mix", {{"rest", "first"}, {"x", "second"}}, "mixed", "second");
                     make("third", 14, "mixed");
                     p.Make("fourth", {16}, {"third"});
                     p.Make("fifth", {18}, {"fourth"});
                     p.End();
                   })
        .HeldUntil(1);
  };
  const std::string function = "9-20 10-10=x 11-11(x 12-12<rest<x ";
  EXPECT_EQ(until(function + "13-13=x 14-14=x 15-15<rest<x"), 7u) << "behind line 14";
  EXPECT_EQ(until(function + "13-13=x 14-14=x 17-17<rest<x"), 8u);
  EXPECT_EQ(until(function + "13-15@ 13-13=x 14-14=x 15-15<rest<x"), 3u) << "or in another turn";
  EXPECT_EQ(until(function + "13-13=x 14-14=x 15-15<rest<x", 30), 3u) << "a helper may call mix";
}

// x = x.view(); y = self.project(x) * 2; x, w = attend(y): x is seen with what it stood for before, too,
// where line 12 calls the module.
TEST(SeenInCallsTest, AViewStandsForTheSameUntilAStatementGivesAnother) {
  const auto until = [](const Variables& behind, const char* taken = "projected") {
    return Program({"10-20 11-11(x 12-12(x 13-13(y 14-14(x,w 15-15(z"},
                   [&](Program& p) {
                     p.Make("first", {11});
                     p.View("first", 7, 12);
                     Call(p, "net.project", {{"x", "first"}}, "projected", "first");
                     p.Make("scaled", {13}, {taken});
                     p.Make("attended", {14}, {"scaled"});
                     Call(p, "net.out", behind, "out", "attended");
                     p.Make("last", {16}, {"out"});
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until({{"x", "attended"}, {"y", "projected"}}), 6u) << "behind line 14";
  EXPECT_EQ(until({{"x", "attended"}}), 3u) << "it may be what project returned";
  EXPECT_EQ(until({{"x", "attended"}}, "first"), 6u) << "that the function works on";
}

// A decorator calls forward, and no operator was called in forward's own lines.
TEST(SeenInCallsTest, NamesOfAHelperAreItsOwn) {
  const auto until = [](int line) {
    const std::string lines = std::to_string(line) + "-" + std::to_string(line);
    const std::string next = std::to_string(line + 1) + "-" + std::to_string(line + 1);
    const std::string function = std::to_string(line - 1) + "-39 " + lines + "=residual " + next + "=hidden";
    return Program({function.c_str()},
                   [line](Program& p) {
                     p.Make("first", {line});
                     p.Make("second", {line + 1}, {"first"});
                     Call(p, "net.norm", {{"residual", "first"}}, "normed");
                     Call(p, "net.convolve", {{"residual", "second"}}, "convolved");
                     p.Make("out", {line + 5}, {"convolved"});
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until(11), 4u);
  EXPECT_EQ(until(31), 6u) << "until the helper returns";
}

// y = x * 2, and a module behind it, called by forward. The operators are y and that of norm.
TEST(SeenInCallsTest, AHelperThatIsTheOutermostKnownFunctionReturnsBeforeTheModule) {
  const auto until = [](int line) {
    return Program({"10-20 11-11=y", "30-34 31-31=y"},
                   [line](Program& p) {
                     p.Make("y", {line});
                     p.s.Module("net.norm", [&] { p.Make("normed", {}, {"y"}); });
                     p.End();
                   })
        .HeldUntil(1);
  };
  EXPECT_EQ(until(31), 2u) << "with the next operator";
  EXPECT_EQ(until(11), 3u) << "forward's own: with the module";
}

}  // namespace
}  // namespace vramscope::whatif
