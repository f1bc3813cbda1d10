// SPDX-License-Identifier: Apache-2.0
// Of what type a program makes tensors under autocast, and where it would switch that off, as the recording
// tells it: forward passes written down as PyTorch runs them in float32.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/linear_script.h"

namespace vramscope::whatif {
namespace {

// One module that runs twice, in a deep step. What it is given, and its weight, are there before.
class FactoryProgram : public LinearScript {
 public:
  explicit FactoryProgram(const std::function<void(FactoryProgram&)>& body, bool switched = false) {
    s.Mark(trace::MarkKind::kFactory, 0, "net.py:1 type");
    s.Mark(trace::MarkKind::kFactory, 0, "net.py:2 tensor@9");
    s.Mark(trace::MarkKind::kFactory, 0, "net.py:3 tensor");
    for (int call = 1; call <= 2; ++call) {
      if (switched) s.Mark(trace::MarkKind::kAutocastStaysOff, 1, "cuda");
      s.Module("", [&] { s.Module("cell", [&] { body(*this); }); });
      if (switched) s.Mark(trace::MarkKind::kAutocastStaysOff, 0, "cuda");
    }
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
  }

  // torch.zeros(..., dtype=...), zeros_like(x, dtype=...), x * y: in that line of net.py
  void Make(const char* op, int line, const std::string& result, const std::string& from = "",
            const std::string& other = "") {
    s.Op(op, [&] {
      if (!from.empty()) In(from, kShape[0], kShape[1]);
      if (!other.empty()) In(other, kShape[0], kShape[1], 1);
      if (other.empty()) s.Event(trace::EventType::kOpScalar, {2, s.trace().Intern("torch.float32")});
      const std::string frame = "Net.forward (net.py:" + std::to_string(line) + ")";
      s.Event(trace::EventType::kOpScalar, {trace::kOpCaller, s.trace().Intern(frame)});
      s.Alloc(result, kWide);
      Out(result, kShape[0], kShape[1]);
    });
  }

  // Bytes under autocast of what that operator makes first.
  [[nodiscard]] uint64_t Made(std::string_view name) const {
    const auto op = std::ranges::find_if(step_.ops, [&](const Op& one) { return step_.NameOf(one) == name; });
    return UnderAutocast(step_, kBfloat16Type).blocks[OutputsOf(step_, *op)[0].block].requested;
  }

 private:
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  Step step_;
};

// low = linear(x); state = torch.zeros(n, dtype=...); state * used; low * x
FactoryProgram Scanning(int line, const std::string& used) {
  return FactoryProgram([=](FactoryProgram& p) {
    p.Linear("x", "low");
    p.Make("aten::zeros", line, "state");
    p.Make("aten::mul", 8, "next", "state", used);
    p.Make("aten::add", 9, "last", "low", "x");
    for (const char* const block : {"low", "state", "next", "last"}) p.s.Free(block);
  });
}

TEST(ToldFactoriesTest, ATypeThatIsNamedStaysWhatItIsUsedWith) {
  EXPECT_EQ(Scanning(1, "low").Made("aten::zeros"), kWide);
  EXPECT_EQ(Scanning(7, "low").Made("aten::zeros"), kNarrow)
      << "nothing is told: that of what it is used with";
}

TEST(ToldFactoriesTest, TheTypeOfATensorIsThatOfWhatTheOtherLineIsGiven) {
  EXPECT_EQ(Scanning(2, "x").Made("aten::zeros"), kNarrow);
  EXPECT_EQ(Scanning(3, "x").Made("aten::zeros"), kWide) << "of which one is not known";
  EXPECT_EQ(Scanning(3, "low").Made("aten::zeros"), kNarrow);
}

TEST(ToldFactoriesTest, WhatIsMadeLikeATensorHasTheTypeThatIsAskedFor) {
  const auto made = [](int line) {
    return FactoryProgram([line](FactoryProgram& p) {
             p.Linear("x", "low");
             p.Make("aten::zeros_like", line, "state", "low");
             p.s.Free("low").Free("state");
           })
        .Made("aten::zeros_like");
  };
  EXPECT_EQ(made(1), kWide);
  EXPECT_EQ(made(3), kNarrow);
}

// with torch.autocast("cuda", enabled=False): linear(x); mm(x, weight)
TEST(ToldFactoriesTest, WhereAutocastWouldBeSwitchedOffOperatorsTakeWhatTheyAreGiven) {
  const auto off = [](FactoryProgram& p, uint64_t begins) {
    p.s.Mark(trace::MarkKind::kAutocastStaysOff, begins, "cuda");
  };
  const FactoryProgram program([off](FactoryProgram& p) {
    off(p, 1), off(p, 1), off(p, 0);
    p.Linear("x", "wide");
    off(p, 0);
    p.Make("aten::mm", 8, "low", "x", "weight");
    p.s.Free("wide").Free("low");
  });
  EXPECT_EQ(program.Made("aten::linear"), kWide);
  EXPECT_EQ(program.Made("aten::mm"), kNarrow);
}

// with torch.autocast("cuda", enabled=mixed): model(x), of a loop that could switch it on
TEST(ToldFactoriesTest, TheSwitchOfALoopIsNotMeant) {
  const FactoryProgram program([](FactoryProgram& p) { p.Linear("x", "low"), p.s.Free("low"); }, true);
  EXPECT_EQ(program.Made("aten::linear"), kNarrow);
}

}  // namespace
}  // namespace vramscope::whatif
