// SPDX-License-Identifier: Apache-2.0
// What programs convert themselves, in 16 bits: forward passes written down as PyTorch runs them in float32,
// and what they take by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/model/testing/script.h"
#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/testing/linear_script.h"

namespace vramscope::whatif {
namespace {

using model::testing::Script;

constexpr uint64_t kBatch = 1024 * kRow;
constexpr uint64_t kColumn = 1024 * 4;
constexpr uint64_t kLinearBytes = 64 * kRow;
constexpr uint64_t kFilterBytes = 32 * 32 * 4;
constexpr uint64_t kSmallFilterBytes = 4 * 4 * 4;
constexpr int kKept = 6;

// batch ─ to(float32) ─ [a norm, in a module] ─ linear ─► out, three times. What a line of the program works
// on is freed with the line.
enum class Body : uint8_t {
  kMoves,
  kMovesOnly,
  kNorm,
  kBack,
  kCaller,
  kAgain,
  kReturns,
  kMask,
  kAsked,
  kRefused,
  kSoftmax,
  kAttention,
  kConvolution,
  kConvolutionBackward
};

class ConvertingProgram {
 public:
  explicit ConvertingProgram(Body body) : body_(body) {
    s_.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s_.Alloc("weight", kLinearBytes).Parameter("weight", "linear.weight");
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
  [[nodiscard]] uint64_t PeakInLow(const char* type = "bf16") const {
    const Prediction after = Predict(step_, baseline_, {{"precision", type}}).value();
    EXPECT_TRUE(after.refused.empty()) << after.refused.front().reason;
    return after.after.peak.bytes;
  }
  [[nodiscard]] std::string Refusal() const {
    const Prediction after = Predict(step_, baseline_, {{"precision", "bf16"}}).value();
    return after.refused.empty() ? "" : after.refused.front().reason;
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

  // x.to(torch.float32), or x.to(device), which tells a layout where the recorder is new enough.
  void To(const std::string& block, bool layout = false, const char* const (&shape)[2] = kWhole) {
    s_.Op("aten::to", [&] {
      Tensor(block, shape, 0, 0);
      s_.Event(trace::EventType::kOpScalar, {1, s_.trace().Intern("torch.float32")});
      if (layout) s_.Event(trace::EventType::kOpScalar, {2, s_.trace().Intern("torch.strided")});
      Tensor(block, shape, trace::kTensorIsOutput, 0);
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

  void Linear(const std::string& from) {
    static constexpr const char* kSquare[] = {"64,64", "64,1"};
    s_.Module("linear",
              [&] { Make("aten::linear", from, kWhole, "out", kWhole, kBatch, "weight", kSquare); });
    s_.Free("out");
  }

  // def norm(x): x = x.to(float32); return abs(x).to(type)         norm(x); relu(x) and so on
  void Caller() {
    s_.Module("norm", [&] {
      To("batch");
      Make("aten::abs", "batch", kWhole, "wide", kWhole, kBatch);
      To("wide");
    });
    s_.Free("wide");
    Keep("batch");
  }

  void Keep(std::string from) {
    for (int i = 0; i < kKept; ++i) {
      const std::string result = "kept" + std::to_string(i);
      Make("aten::relu", from, kWhole, result, kWhole, kBatch);
      from = result;
    }
    for (int i = 0; i < kKept; ++i) s_.Free("kept" + std::to_string(i));
  }

  // (abs(x.float()) + neg(x.float())).to(x.dtype)
  void Again() {
    To("batch");
    Make("aten::abs", "batch", kWhole, "first", kWhole, kBatch);
    To("batch");
    Make("aten::neg", "batch", kWhole, "second", kWhole, kBatch);
    Make("aten::add", "first", kWhole, "sum", kWhole, kBatch, "second", kWhole);
    s_.Free("first").Free("second");
    To("sum");
    Linear("sum");
    s_.Free("sum");
  }

  // query = turn(query), a function that ends with return turned.to(dtype)
  void Returns() {
    Make("aten::relu", "batch", kWhole, "query", kWhole, kBatch);
    To("query");
    Make("aten::abs", "query", kWhole, "turned", kWhole, kBatch);
    To("turned");
    s_.Free("query");
    Keep("turned");
    s_.Free("turned");
  }

  // def norm(x): return abs(x.to(float32)).type_as(x)
  void Back() {
    s_.Module("norm", [&] {
      To("batch");
      Make("aten::abs", "batch", kWhole, "wide", kWhole, kBatch);
      s_.Op("aten::type_as", [&] {
        Tensor("wide", kWhole, 0, 0);
        Tensor("batch", kWhole, 0, 1);
        Tensor("wide", kWhole, trace::kTensorIsOutput, 0);
      });
    });
    Linear("wide");
    s_.Free("wide");
  }

  void MovesOnly() {
    To("batch", true);
    Make("aten::abs", "batch", kWhole, "out", kWhole, kBatch);
    s_.Free("out");
  }

  // where(mask, 0, -inf), of numbers that it makes itself
  void Mask() {
    static constexpr const char* kNumber[] = {"", ""};
    s_.Op("aten::scaled_dot_product_attention", [&] {
      Tensor("batch", kWhole, 0, 0);
      s_.Op("aten::scalar_tensor", [&] {
        s_.Alloc("zero", 4);
        Tensor("zero", kNumber, trace::kTensorIsOutput, 0);
      });
      Make("aten::where", "zero", kNumber, "mask", kWhole, kBatch);
      s_.Free("zero").Free("mask");
    });
  }

  // mask = torch.ones(rows); x = x * mask.to(x.dtype), or without the conversion
  void Asked() {
    s_.Op("aten::ones", [&] {
      s_.Alloc("mask", kColumn);
      Tensor("mask", kColumns, trace::kTensorIsOutput, 0);
    });
    if (body_ == Body::kAsked) To("mask", false, kColumns);
    Make("aten::mul", "batch", kWhole, "masked", kWhole, kBatch, "mask", kColumns);
    Linear("masked");
    s_.Free("masked").Free("mask");
  }

  // softmax(x, dtype=torch.float32).to(x.dtype)
  void Softmax() {
    s_.Op("aten::softmax", [&] {
      Tensor("batch", kWhole, 0, 0);
      s_.Event(trace::EventType::kOpScalar, {1, s_.trace().Intern("-1")});
      s_.Event(trace::EventType::kOpScalar, {2, s_.trace().Intern("torch.float32")});
      To("batch");
      Make("aten::_softmax", "batch", kWhole, "weights", kWhole, kBatch);
      Tensor("weights", kWhole, trace::kTensorIsOutput, 0);
    });
    To("weights");
    Linear("weights");
    s_.Free("weights");
  }

  void Attention() {
    static constexpr const char* kHeadsFirst[] = {"8,128,4,16", "8192,16,2048,1"};
    static constexpr const char* kRows[] = {"8,128,4,16", "8192,64,16,1"};
    static constexpr const char* kJoined[] = {"8,128,64", "8192,64,1"};
    Make("aten::_efficient_attention_forward", "batch", kHeadsFirst, "attended", kRows, kBatch);
    s_.Op("aten::reshape", [&] {
      Tensor("attended", kRows, 0, 0);
      Tensor("attended", kJoined, trace::kTensorIsOutput, 0);
    });
    Make("aten::mean", "attended", kJoined, "mean", kColumns, kColumn);
    s_.Free("attended").Free("mean");
  }

  // [8, 32, 32, 8] -> the same, on a part of the weight, [32, 32, 1, 1]
  void Convolution() {
    static constexpr const char* kImage[] = {"8,32,32,8", "8192,256,8,1"};
    static constexpr const char* kFilter[] = {"32,32,1,1", "32,1,1,1"};
    s_.Op("aten::cudnn_convolution", [&] {
      Tensor("batch", kImage, 0, 0);
      Tensor("weight", kFilter, 0, 1);
      s_.Alloc("out", kBatch).Alloc("workspace", kBatch + kFilterBytes).Free("workspace");
      Tensor("out", kImage, trace::kTensorIsOutput, 0);
    });
    s_.Free("out");
  }

  // [8, 4, 64, 32] -> the same: four channels are whole vectors of floats, and half of one in 16 bits.
  void ConvolutionBackward() {
    static constexpr const char* kImage[] = {"8,4,64,32", "8192,2048,32,1"};
    static constexpr const char* kFilter[] = {"4,4,1,1", "4,1,1,1"};
    s_.Op("aten::convolution_backward", [&] {
      Tensor("batch", kImage, 0, 0);
      Tensor("batch", kImage, 0, 1);
      Tensor("weight", kFilter, 0, 2);
      s_.Alloc("out", kBatch).Alloc("workspace", 2 * kBatch + kSmallFilterBytes).Free("workspace");
      Tensor("out", kImage, trace::kTensorIsOutput, 0);
    });
    s_.Free("out");
  }

  void Call() {
    s_.Module("", [&] {
      if (body_ == Body::kCaller) return Caller();
      if (body_ == Body::kBack) return Back();
      if (body_ == Body::kAgain) return Again();
      if (body_ == Body::kReturns) return Returns();
      if (body_ == Body::kMovesOnly) return MovesOnly();
      if (body_ == Body::kMask) return Mask();
      if (body_ == Body::kAsked || body_ == Body::kRefused) return Asked();
      if (body_ == Body::kSoftmax) return Softmax();
      if (body_ == Body::kAttention) return Attention();
      if (body_ == Body::kConvolution) return Convolution();
      if (body_ == Body::kConvolutionBackward) return ConvolutionBackward();
      if (body_ == Body::kMoves) {
        To("batch");
        return Linear("batch");
      }
      Norm();
      Linear("scaled");
      s_.Free("scaled");
    });
  }

  Body body_;
  Script s_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  whatif::Step step_;
  Baseline baseline_;
};

constexpr uint64_t kWeights = kLinearBytes + 512;  // one row is rounded up
constexpr uint64_t kHalfWeights = kLinearBytes / 2 + 512;

TEST(ConversionsTest, WhatALinearLayerRefusesBehindACallOfToWasNotConverted) {
  EXPECT_EQ(ConvertingProgram(Body::kMoves).Peak(), kWeights + 2 * kBatch);
  EXPECT_EQ(ConvertingProgram(Body::kMoves).PeakInLow(), kHalfWeights + 2 * kBatch / 2);
}

// BART adds a buffer.to(logits.device) to its logits, which no product takes up. Nothing uses the weight
// here, so that it stays.
TEST(ConversionsTest, ACallOfToThatTellsALayoutOnlyMoves) {
  EXPECT_EQ(ConvertingProgram(Body::kMovesOnly).Peak(), kWeights + 2 * kBatch);
  EXPECT_EQ(ConvertingProgram(Body::kMovesOnly).PeakInLow(), kHalfWeights + 2 * kBatch / 2);
}

TEST(ConversionsTest, AnAddedMaskThatAttentionMakesOfBoolsHasTheTypeOfItsQueries) {
  EXPECT_EQ(ConvertingProgram(Body::kMask).Peak(), kWeights + 2 * kBatch + 512);
  EXPECT_EQ(ConvertingProgram(Body::kMask).PeakInLow(), kHalfWeights + 2 * kBatch / 2 + 512);
}

// DeBERTa's mask of ones is float32 in any model; a layer of 16 bits would refuse what it made float32 too.
TEST(ConversionsTest, WhatALinearLayerRefusesForAMaskThatWasMadeInFloatHadAskedForTheTypeBesideIt) {
  EXPECT_EQ(ConvertingProgram(Body::kAsked).Peak(), kWeights + 3 * kBatch + kColumn);
  EXPECT_EQ(ConvertingProgram(Body::kAsked).PeakInLow(), kHalfWeights + 3 * kBatch / 2 + kColumn);
}

TEST(ConversionsTest, WhatNoConversionExplainsIsRefusedAsPyTorchWouldRefuseIt) {
  EXPECT_EQ(ConvertingProgram(Body::kRefused).Refusal(),
            "aten::linear in linear would get float32 beside 16 bits, which PyTorch refuses: the program "
            "stops there, or "
            "converts in a way that a recording in float32 does not show. Record it in 16 bits.");
}

// Of half there is a kernel that reads it and returns float; bfloat16 is converted first. The product behind
// takes what was converted back.
TEST(ConversionsTest, ASoftmaxThatIsAskedForFloatReturnsIt) {
  EXPECT_EQ(ConvertingProgram(Body::kSoftmax).Peak(), kWeights + 3 * kBatch);
  EXPECT_EQ(ConvertingProgram(Body::kSoftmax).PeakInLow("bf16"), kHalfWeights + kBatch / 2 + 2 * kBatch);
  EXPECT_EQ(ConvertingProgram(Body::kSoftmax).PeakInLow("fp16"),
            kHalfWeights + kBatch / 2 + kBatch + 2 * kBatch / 2);
}

// T5's norm: x.to(float32) is there for one line, and before the weight comes `if weight.dtype in (float16,
// bfloat16): z = z.to(weight.dtype)`, of which a step in float32 shows nothing.
TEST(ConversionsTest, ANormThatAsksForTheTypeOfItsWeightComputesInFloatAndGoesBackBeforeIt) {
  // batch, squares and the product are never there together; two wide tensors beside the batch are.
  EXPECT_EQ(ConvertingProgram(Body::kNorm).Peak(), kWeights + 3 * kBatch + 2 * kColumn);
  // x (half), x in float and its squares; later x, the product in float and its half.
  EXPECT_EQ(ConvertingProgram(Body::kNorm).PeakInLow(), kHalfWeights + kBatch / 2 + 2 * kBatch);
}

// Gemma's norm: the name of x stays that of the half tensor.
TEST(ConversionsTest, TypeAsGoesBackToTheTypeThatATensorHadBeforeTheProgramMadeItWider) {
  EXPECT_EQ(ConvertingProgram(Body::kBack).Peak(), kWeights + 3 * kBatch);
  // x (half), x in float, and what is computed of it.
  EXPECT_EQ(ConvertingProgram(Body::kBack).PeakInLow(), kHalfWeights + kBatch / 2 + 2 * kBatch);
}

// What a function names anew inside, its caller still has as it was. No operator uses the weight here: it
// stays.
TEST(ConversionsTest, WhatAModuleMakesWiderForItselfStaysLowOutsideOfIt) {
  EXPECT_EQ(ConvertingProgram(Body::kCaller).Peak(), kWeights + (1 + kKept) * kBatch);
  EXPECT_EQ(ConvertingProgram(Body::kCaller).PeakInLow(), kHalfWeights + (1 + kKept) * kBatch / 2);
}

// Each call makes a copy of its own, for the operator behind it.
TEST(ConversionsTest, WhatAFunctionAsksForTwiceIsMadeTwice) {
  EXPECT_EQ(ConvertingProgram(Body::kAgain).Peak(), kWeights + 4 * kBatch);
  EXPECT_EQ(ConvertingProgram(Body::kAgain).PeakInLow(), kHalfWeights + kBatch / 2 + 3 * kBatch);
}

TEST(ConversionsTest, WhatAFunctionConvertsToReturnItGoesWhenItReturns) {
  EXPECT_EQ(ConvertingProgram(Body::kReturns).Peak(), kWeights + (2 + kKept) * kBatch);
  EXPECT_EQ(ConvertingProgram(Body::kReturns).PeakInLow(), kHalfWeights + (2 + kKept) * kBatch / 2);
}

// Memory-efficient attention returns rows, of which heads are joined for nothing; flash attention returns
// what lies as its queries lie.
TEST(ConversionsTest, HeadsThatFlashAttentionReturnsOneAfterTheOtherAreCopiedToBeJoined) {
  EXPECT_EQ(ConvertingProgram(Body::kAttention).Peak(), kWeights + 2 * kBatch + kColumn);
  EXPECT_EQ(ConvertingProgram(Body::kAttention).PeakInLow(), kHalfWeights + 3 * kBatch / 2);
}

// Forward in TF32 converts the layout of what goes in, in 16 bits that of what comes out too.
TEST(ConversionsTest, AConvolutionInSixteenBitsConvertsItsResultToo) {
  EXPECT_EQ(ConvertingProgram(Body::kConvolution).Peak(), kWeights + 3 * kBatch + kFilterBytes);
  EXPECT_EQ(ConvertingProgram(Body::kConvolution).PeakInLow(),
            kHalfWeights + 4 * kBatch / 2 + kFilterBytes / 2);
}

// Vectors have 16 bytes in either type: four channels take as much in 16 bits as in float.
TEST(ConversionsTest, WhatAConvolutionsBackwardConvertsIsFilledUpToWholeVectors) {
  EXPECT_EQ(ConvertingProgram(Body::kConvolutionBackward).Peak(), kWeights + 4 * kBatch + 512);
  EXPECT_EQ(ConvertingProgram(Body::kConvolutionBackward).PeakInLow(),
            kHalfWeights + 2 * kBatch / 2 + 2 * kBatch + 512);
}

}  // namespace
}  // namespace vramscope::whatif
