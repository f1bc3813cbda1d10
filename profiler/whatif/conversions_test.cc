// SPDX-License-Identifier: Apache-2.0
// What programs convert themselves, in 16 bits: forward passes written down as PyTorch runs them in float32,
// and what they take by hand.
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"
#include "profiler/whatif/predict.h"

namespace vramscope::whatif {
namespace {

using model::testing::Script;

constexpr uint64_t kRow = 64 * 4;  // bytes in float32
constexpr uint64_t kBatch = 1024 * kRow;
constexpr uint64_t kColumn = 1024 * 4;
constexpr uint64_t kWeight = 64 * kRow;

// batch ─ to(float32) ─ [a norm, in a module] ─ linear ─► out, three times. What a line of the program works
// on is freed with the line.
class Program {
 public:
  explicit Program(bool norm) : norm_(norm) {
    s_.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s_.Alloc("weight", kWeight).Parameter("weight", "linear.weight");
    s_.Alloc("scale", kRow).Parameter("scale", "norm.weight");
    s_.Alloc("batch", kBatch);
    s_.Mark(trace::MarkKind::kDeepBegin, 1);
    for (int call = 1; call <= 3; ++call) Call();
    run_ = s_.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
    baseline_ = MakeBaseline(step_, *analysis_).value();
  }

  [[nodiscard]] uint64_t Peak() const { return baseline_.use.peak.bytes; }
  [[nodiscard]] uint64_t PeakInLow() const {
    const Prediction after = Predict(step_, baseline_, {{"precision", "bf16"}}).value();
    EXPECT_TRUE(after.refused.empty()) << after.refused.front().reason;
    return after.after.peak.bytes;
  }

 private:
  static constexpr const char* kWhole[] = {"1024,64", "64,1"};
  static constexpr const char* kColumns[] = {"1024,1", "1,1"};

  void Tensor(const std::string& block, const char* const (&layout)[2], uint64_t flags, uint64_t position) {
    const model::Run now = s_.Load();
    const uint64_t address = now.blocks[s_.Id(block)].address;
    s_.Event(trace::EventType::kOpTensor, {flags, position, address + 7, address, 0,
                                           s_.trace().Intern(layout[0]), s_.trace().Intern(layout[1]), 6});
  }

  // x.to(torch.float32), or x.to(device)
  void To(const std::string& block) {
    s_.Op("aten::to", [&] {
      Tensor(block, kWhole, 0, 0);
      s_.Event(trace::EventType::kOpScalar, {1, s_.trace().Intern("torch.float32")});
      Tensor(block, kWhole, trace::kTensorIsOutput, 0);
    });
  }

  void Make(const char* op, const std::string& from, const char* const (&layout)[2],
            const std::string& result, const char* const (&made)[2], uint64_t bytes,
            const std::string& other = "", const char* const (&beside)[2] = kWhole) {
    s_.Op(op, [&] {
      Tensor(from, layout, 0, 0);
      if (!other.empty()) Tensor(other, beside, 0, 1);
      s_.Alloc(result, bytes);
      Tensor(result, made, trace::kTensorIsOutput, 0);
    });
  }

  // y = rsqrt(x.to(float32).pow(2).mean()); z = x * y; z = weight * z
  void Norm() {
    static constexpr const char* kScale[] = {"64", "1"};
    s_.Module("norm", [&] {
      To("batch");
      Make("aten::pow", "batch", kWhole, "squares", kWhole, kBatch);
      Make("aten::mean", "squares", kWhole, "mean", kColumns, kColumn);
      s_.Free("squares");
      Make("aten::rsqrt", "mean", kColumns, "deviation", kColumns, kColumn);
      Make("aten::mul", "batch", kWhole, "normal", kWhole, kBatch, "deviation", kColumns);
      Make("aten::mul", "scale", kScale, "scaled", kWhole, kBatch, "normal");
      s_.Free("normal").Free("deviation").Free("mean");
    });
  }

  void Call() {
    s_.Module("", [&] {
      if (norm_)
        Norm();
      else
        To("batch");
      s_.Module("linear", [&] {
        static constexpr const char* kSquare[] = {"64,64", "64,1"};
        Make("aten::linear", norm_ ? "scaled" : "batch", kWhole, "out", kWhole, kBatch, "weight", kSquare);
      });
      if (norm_) s_.Free("scaled");
    });
    s_.Free("out");
  }

  bool norm_;
  Script s_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  whatif::Step step_;
  Baseline baseline_;
};

constexpr uint64_t kHalfWeights = kWeight / 2 + 512;  // one row is rounded up

TEST(ConversionsTest, WhatALinearLayerRefusesBehindACallOfToWasNotConverted) {
  EXPECT_EQ(Program(false).Peak(), kWeight + 512 + 2 * kBatch);
  EXPECT_EQ(Program(false).PeakInLow(), kHalfWeights + 2 * kBatch / 2);
}

// T5's norm: x.to(float32) is there for one line, and before the weight comes `if weight.dtype in (float16,
// bfloat16): z = z.to(weight.dtype)`, of which a step in float32 shows nothing.
TEST(ConversionsTest, ANormThatAsksForTheTypeOfItsWeightComputesInFloatAndGoesBackBeforeIt) {
  // batch, squares and the product are never there together; two wide tensors beside the batch are.
  EXPECT_EQ(Program(true).Peak(), kWeight + 512 + 3 * kBatch + 2 * kColumn);
  // x (half), x in float and its squares; later x, the product in float and its half.
  EXPECT_EQ(Program(true).PeakInLow(), kHalfWeights + kBatch / 2 + 2 * kBatch);
}

}  // namespace
}  // namespace vramscope::whatif
