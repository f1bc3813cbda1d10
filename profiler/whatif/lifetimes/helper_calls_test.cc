// SPDX-License-Identifier: Apache-2.0
// Calls of functions of whose source nothing is told.
#include "profiler/whatif/lifetimes/helper_calls.h"

#include <gtest/gtest.h>

#include <functional>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/testing/written_program.h"

namespace vramscope::whatif {
namespace {

TEST(HelperCallsTest, AFunctionHasReturnedWhenAnOperatorIsCalledWithoutIt) {
  const Program program({}, [](Program& p) {
    p.Make("a", {31, 11});
    p.Make("inner", {41, 33, 11});
    p.Make("b", {34, 11});
    p.Make("c", {12});
    p.End();
  });
  EXPECT_EQ(program.LeftBehind(1), 4u);
  EXPECT_EQ(program.LeftBehind(3), 4u);
  EXPECT_EQ(program.LeftBehind(4), 0u) << "a module's forward";
}

TEST(HelperCallsTest, OrFromAnotherLineOrFromItsBegin) {
  const Program program({}, [](Program& p) {
    p.Make("a", {31, 11});
    p.Make("b", {32, 12});
    p.Make("c", {31, 12});
    p.End();
  });
  EXPECT_EQ(program.LeftBehind(1), 2u);
  EXPECT_EQ(program.LeftBehind(2), 3u);
}

constexpr const char* kTorchs = "multi_head_attention_forward (/lib/torch/nn/functional.py:7151)";

// nn.MultiheadAttention, a module that runs three times in a deep step.
class AttentionScript : public TensorScript {
 protected:
  // `made`: what `body` makes, which goes when the module has returned.
  void Run(const char* release, const std::function<void()>& body, std::initializer_list<const char*> made) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.trace().SetMetadata("torch.version", release);
    s.Alloc("x", kProgramBytes);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
    for (int call = 1; call <= 3; ++call) {
      s.Module("attn", body);
      for (const char* const block : made) s.Free(block);
    }
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
  }
  void Make(const char* name, std::initializer_list<const char*> from, const char* result,
            const char* frame = kTorchs) {
    s.Op(name, [&] {
      uint64_t position = 0;
      for (const char* const block : from) In(block, "1024,64", "64,1", position++);
      s.Event(trace::EventType::kOpScalar, {trace::kOpCaller, s.trace().Intern(frame)});
      s.Alloc(result, kProgramBytes);
      Out(result, "1024,64", "64,1");
    });
  }

  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  Step step_;
};

// Its module ends at the end of the step's operators: projected, attended, out.
class Attention : public AttentionScript {
 public:
  explicit Attention(const char* frame, const char* release = "2.15.0") {
    const auto body = [&] {
      Make("aten::linear", {"x"}, "projected", frame);
      Make("aten::scaled_dot_product_attention", {"projected", "projected", "projected"}, "attended", frame);
      Make("aten::reshape", {"attended"}, "out", frame);
    };
    Run(release, body, {"projected", "attended", "out"});
  }

  // 1: when attention begins, 2: when the next one does, 3: when the module has returned.
  [[nodiscard]] int ProjectedUntil() const {
    const Operand& query = InputsOf(step_, step_.ops[1])[0];
    const Position until = Holders(step_).Until(query);
    return until < step_.ops[1].end ? 1 : until < step_.ops[2].begin ? 2 : 3;
  }
  [[nodiscard]] size_t Names() const { return step_.named.size(); }
};

// The oracle: "del q, k, v" in its source.
TEST(HelperCallsTest, TorchsAttentionDeletesWhatItHasProjectedFrom215On) {
  EXPECT_EQ(Attention(kTorchs).ProjectedUntil(), 2);
  EXPECT_EQ(Attention(kTorchs).Names(), 1u) << "one for the three of them";
  EXPECT_EQ(Attention(kTorchs, "2.14.1").ProjectedUntil(), 3);
  EXPECT_EQ(Attention("attend (/lib/torch/nn/functional.py:7151)").ProjectedUntil(), 3);
  EXPECT_EQ(Attention("multi_head_attention_forward (own/functional.py:7151)").ProjectedUntil(), 3);
}

// With need_weights=True: queries are scaled, multiplied with keys, and what comes of that with values.
class AttentionWithWeights : public AttentionScript {
 public:
  AttentionWithWeights() {
    const auto body = [&] {
      for (const char* const part : {"q", "k", "v"}) Make("aten::linear", {"x"}, part);
      Make("aten::mul", {"q"}, "scaled");
      Make("aten::bmm", {"scaled", "k"}, "scores");
      Make("aten::softmax", {"scores"}, "weights");
      Make("aten::bmm", {"weights", "v"}, "attended");
      Make("aten::reshape", {"attended"}, "out");
    };
    Run("2.15.0", body, {"q", "k", "v", "scaled", "scores", "weights", "attended", "out"});
  }

  // Behind which operator the module lets go of what this one made.
  [[nodiscard]] size_t Behind(size_t maker) const {
    const Position until = Holders(step_).Until(OutputsOf(step_, step_.ops[maker])[0]);
    size_t op = maker;
    while (op + 1 < step_.ops.size() && step_.ops[op + 1].begin < until) ++op;
    return op;
  }
};

// The oracle: "del q_scaled, k" and "del v" in its source.
TEST(HelperCallsTest, WithWeightsItDeletesThemOneAfterTheOther) {
  const AttentionWithWeights attention;
  EXPECT_EQ(attention.Behind(1), 4u) << "keys";
  EXPECT_EQ(attention.Behind(3), 4u) << "scaled queries";
  EXPECT_EQ(attention.Behind(2), 6u) << "values";
}

}  // namespace
}  // namespace vramscope::whatif
