// SPDX-License-Identifier: Apache-2.0
// What programs convert themselves, where the recording tells what their calls of Tensor.to() ask for:
// forward passes written down as PyTorch runs them in float32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/linear_script.h"

namespace vramscope::whatif {
namespace {

// One module that runs three times, in a deep step. What it is given, and weights, are there before.
class ConversionProgram : public LinearScript {
 public:
  explicit ConversionProgram(const std::function<void(ConversionProgram&)>& body) {
    s.Mark(trace::MarkKind::kConversion, 0, "net.py:1 type");
    s.Mark(trace::MarkKind::kConversion, 0, "net.py:2 tensor");
    s.Mark(trace::MarkKind::kConversion, 0, "net.py:3 tensor again");
    s.Mark(trace::MarkKind::kConversion, 0, "net.py:4 origin");
    s.Mark(trace::MarkKind::kConversion, 0, "net.py:5 narrowed");
    for (int call = 1; call <= 3; ++call) s.Module("", [&] { s.Module("attention", [&] { body(*this); }); });
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
    baseline_ = MakeBaseline(step_, *analysis_).value();
  }

  // x.to(...) in that line of net.py; of line 0 nothing is told.
  void To(const std::string& block, int line, const char* shape = kShape[0],
          const char* strides = kShape[1]) {
    s.Op("aten::to", [&] {
      In(block, shape, strides);
      s.Event(trace::EventType::kOpScalar, {1, s.trace().Intern("torch.float32")});
      const std::string frame = "Net.forward (net.py:" + std::to_string(line) + ")";
      s.Event(trace::EventType::kOpScalar, {trace::kOpCaller, s.trace().Intern(frame)});
      Out(block, shape, strides);
    });
  }
  void Make(const char* op, const std::string& from, const std::string& result,
            const std::string& other = "") {
    s.Op(op, [&] {
      if (!from.empty()) In(from, kShape[0], kShape[1]);
      if (!other.empty()) In(other, kShape[0], kShape[1], 1);
      s.Alloc(result, kWide);
      Out(result, kShape[0], kShape[1]);
    });
  }
  // relu(x), in that line.
  void Relu(const std::string& from, const std::string& result, int line) {
    s.Op("aten::relu", [&] {
      In(from, kShape[0], kShape[1]);
      const std::string frame = "Net.forward (net.py:" + std::to_string(line) + ")";
      s.Event(trace::EventType::kOpScalar, {trace::kOpCaller, s.trace().Intern(frame)});
      s.Alloc(result, kWide);
      Out(result, kShape[0], kShape[1]);
    });
  }
  // added.baddbmm(factor, factor)
  void Multiply(const std::string& added, const std::string& factor, const std::string& result) {
    s.Op("aten::baddbmm", [&] {
      In(added, kShape[0], kShape[1]);
      In(factor, kShape[0], kShape[1], 1);
      In(factor, kShape[0], kShape[1], 2);
      s.Alloc(result, kWide);
      Out(result, kShape[0], kShape[1]);
    });
  }
  void Norm(const std::string& from, const std::string& result, const char* strides) {
    s.Op("aten::batch_norm", [&] {
      In(from, "16,64,64", strides);
      s.Alloc(result, kWide);
      Out(result, "16,64,64", strides);
    });
  }

  // Copies that the model in 16 bits makes.
  [[nodiscard]] size_t Copies() const {
    return AllInLow(step_, kBfloat16Type).blocks.size() - step_.blocks.size();
  }
  // With the change, beside the weight.
  [[nodiscard]] uint64_t Peak(const char* lever) const {
    const Prediction after = whatif::Predict(step_, baseline_, {{lever, "bf16"}}).value();
    EXPECT_TRUE(after.refused.empty()) << after.refused.front().reason;
    const bool whole = std::string_view(lever) == "precision";
    return after.after.peak.bytes - (whole ? 64 * kRow / 2 : 64 * kRow);
  }
  [[nodiscard]] std::string Refusal() const {
    const Prediction after = whatif::Predict(step_, baseline_, {{"precision", "bf16"}}).value();
    return after.refused.empty() ? "" : after.refused.front().reason;
  }

 private:
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  Step step_;
  Baseline baseline_;
};

// FLUX.3's queries: norm_q(query.float()), whose weight has 16 bits.
TEST(ToldConversionsTest, ANormOfFloatWithAWeightOfSixteenBitsIsAnotherThanWasRecorded) {
  const auto refusal = [](bool wide) {
    return ConversionProgram([&](ConversionProgram& p) {
             p.Linear("x", "queries");
             if (wide) p.To("queries", 1);
             p.Make("aten::_fused_rms_norm", "queries", "normed", "weight");
             p.s.Free("normed").Free("queries");
           })
        .Refusal();
  };
  EXPECT_EQ(refusal(false), "");
  EXPECT_THAT(refusal(true),
              testing::StartsWith("rms_norm() in attention would get float32 beside a weight"));
}

// Where nothing is told, what a layer refuses shows that the call converted nothing (conversions_test.cc).
TEST(ToldConversionsTest, WhatNamesAFloatConvertsWhateverRefusesIt) {
  for (const auto& [line, refused] : {std::pair(0, false), std::pair(1, true), std::pair(2, false)}) {
    const ConversionProgram program([line = line](ConversionProgram& p) {
      p.To("x", line);
      p.Linear("x", "out");
      p.s.Free("out");
    });
    EXPECT_EQ(program.Refusal().starts_with("aten::linear in attention would get float32"), refused) << line;
  }
}

// wide = abs(x.float()); if weight.dtype in HALF: wide = wide.to(weight.dtype); relu(wide)
TEST(ToldConversionsTest, WhatAParameterOf16BitsMakesNarrowerIsSoBeforeTheLineBehind) {
  const auto program = [](int line) {
    return ConversionProgram([line](ConversionProgram& p) {
      p.To("x", 1);
      p.Make("aten::abs", "x", "wide");
      p.Relu("wide", "out", line);
      p.s.Free("wide").Free("out");
    });
  };
  EXPECT_EQ(program(5).Copies(), program(4).Copies() + 1);
  EXPECT_EQ(program(5).Peak("amp"), program(4).Peak("amp")) << "under autocast it has not";
}

// nn.BatchNorm1d of x.transpose(1, 2), as in PatchTST: in float32 cuDNN's.
TEST(ToldConversionsTest, ABatchNormThatCuDnnDoesNotComputeInSixteenBitsIsNotPredicted) {
  const auto refusal = [](const char* strides) {
    return ConversionProgram(
               [strides](ConversionProgram& p) { p.Norm("x", "out", strides), p.s.Free("out"); })
        .Refusal();
  };
  EXPECT_EQ(refusal("4096,64,1"), "");
  EXPECT_THAT(refusal("4096,1,64"),
              testing::StartsWith("batch norm in attention is given a transposed tensor"));
}

// logits = linear(x).float() * 30, and logits.float() in a library's function that computes the loss of them.
TEST(ToldConversionsTest, NothingIsMadeNarrowerForALoss) {
  const auto copies = [](const char* taker, int line) {
    return ConversionProgram([=](ConversionProgram& p) {
             p.Linear("x", "logits");
             p.To("logits", 1);
             p.Make("aten::mul", "logits", "capped");
             p.To("capped", line);
             p.Make("aten::reshape", "capped", "flat");
             p.Make(taker, "flat", "out");
             for (const char* const block : {"logits", "capped", "flat", "out"}) p.s.Free(block);
           })
        .Copies();
  };
  EXPECT_EQ(copies("aten::cross_entropy_loss", 0), 1u);
  EXPECT_EQ(copies("aten::cross_entropy_loss", 2), 2u) << "the source says that it is made narrower";
  EXPECT_EQ(copies("aten::mul", 0), 2u) << "given back what it was";
}

// mask = torch.ones(...); x + mask.to(x.dtype): nothing refuses a mask in float32, and what comes of it.
TEST(ToldConversionsTest, WhatAsksForTheTypeOfATensorGetsThatOfTheModel) {
  const auto peak = [](int line) {
    return ConversionProgram([line](ConversionProgram& p) {
             p.Make("aten::ones", "", "mask");
             p.To("mask", line);
             p.Make("aten::add", "x", "masked", "mask");
             p.s.Free("mask");
             p.Make("aten::relu", "masked", "out");
             p.s.Free("masked").Free("out");
           })
        .Peak("precision");
  };
  EXPECT_EQ(peak(0), kNarrow + 2 * kWide) << "x, the mask, and the sum, as wide as the mask";
  EXPECT_EQ(peak(1), kNarrow + 2 * kWide) << "it was that before";
  EXPECT_EQ(peak(3), 2 * kNarrow + kWide) << "x, and both masks";
}

// scores = softmax(q @ k); scores = scores.to(v.dtype); dropout(scores) @ v, under autocast: softmax returns
// float32, and v has 16 bits.
TEST(ToldConversionsTest, UnderAutocastATensorsTypeIsThatOfWhatItIsUsedWith) {
  const auto peak = [](int line) {
    return ConversionProgram([line](ConversionProgram& p) {
             p.Linear("x", "values");
             p.Make("aten::softmax", "x", "scores");
             p.To("scores", line);
             for (const char* kept : {"a", "b", "c"}) p.Make("aten::relu", "scores", kept);
             p.Make("aten::matmul", "c", "out", "values");
             p.s.Free("scores").Free("a").Free("b").Free("c").Free("values").Free("out");
           })
        .Peak("amp");
  };
  EXPECT_EQ(peak(0), kWide + kNarrow + 4 * kWide + kNarrow + kNarrow)
      << "x, values, four in float32, c in 16 bits, out";
  EXPECT_EQ(peak(3), kWide + kNarrow + 4 * kNarrow + kNarrow) << "x, values, four in 16 bits, out";
  EXPECT_EQ(peak(2), kWide + kNarrow + kWide + 3 * kNarrow + kNarrow)
      << "another variable still holds the scores";
}

// def forward(self, x, mask): mask = mask.to(x.dtype), under autocast: the caller's mask stays as it is, so
// that each layer makes a copy, which goes with it. Of what is expanded, all is written out.
TEST(ToldConversionsTest, UnderAutocastAMaskThatIsGivenIsCopiedInEachLayer) {
  const auto peak = [](const char* shape, const char* strides) {
    return ConversionProgram([=](ConversionProgram& p) {
             p.Linear("x", "hidden");
             p.Make("aten::ones", "", "mask");
             for (const char* layer : {"layer.0", "layer.1"}) {
               p.s.Module(layer, [&] {
                 p.To("mask", 3, shape, strides);
                 p.Make("aten::add", "hidden", "masked", "mask");
                 p.s.Free("masked");
               });
             }
             p.s.Free("mask").Free("hidden");
           })
        .Peak("amp");
  };
  EXPECT_EQ(peak("1024,64", "64,1"), kWide + kNarrow + kWide + 2 * kNarrow)
      << "x, hidden, mask, copy and sum";
  EXPECT_EQ(peak("4,1024,64", "0,64,1"), kWide + kNarrow + kWide + 5 * kNarrow);
}

// scores = bias.baddbmm(query, keys); scores.to(query.dtype), which is what they were computed from: the
// first factor of the product, and not what it is added to.
TEST(ToldConversionsTest, UnderAutocastTheTypeOfAnOriginIsThatOfTheProductsFirstFactor) {
  const auto peak = [](int line) {
    return ConversionProgram([line](ConversionProgram& p) {
             p.Linear("x", "query");
             p.Multiply("x", "query", "scores");
             p.Make("aten::softmax", "scores", "weights");
             p.To("weights", line);
             for (const char* kept : {"a", "b", "c", "d"}) p.Make("aten::relu", "weights", kept);
             for (const char* made : {"query", "scores", "weights", "a", "b", "c", "d"}) p.s.Free(made);
           })
        .Peak("amp");
  };
  EXPECT_EQ(peak(4), peak(0) - 4 * kWide + 5 * kNarrow)
      << "query is in 16 bits, x is not; beside what softmax made";
}

// q = self.q_proj(x); rotated = q * cos + ...; rotated.to(q.dtype): what a module returned is asked for, not
// what that was given.
TEST(ToldConversionsTest, UnderAutocastTheTypeOfAnOriginIsThatOfWhatAModuleReturned) {
  const auto peak = [](int line) {
    return ConversionProgram([line](ConversionProgram& p) {
             p.s.Module("q_proj", [&] { p.Linear("x", "query"); });
             p.Make("aten::softmax", "query", "rotated");
             p.To("rotated", line);
             for (const char* kept : {"a", "b", "c", "d"}) p.Make("aten::relu", "rotated", kept);
             for (const char* made : {"query", "rotated", "a", "b", "c", "d"}) p.s.Free(made);
           })
        .Peak("amp");
  };
  EXPECT_EQ(peak(4), peak(0) - 4 * kWide + 5 * kNarrow);
}

// def forward(self, x): cos, sin = ...; return cos.to(x.dtype), sin.to(x.dtype), under autocast: x is used by
// nothing here, and who holds what is returned holds the copies.
TEST(ToldConversionsTest, UnderAutocastAnArgumentsTypeIsThatOfWhatTheModuleWasGiven) {
  const auto peak = [](const char* argument) {
    return ConversionProgram([argument](ConversionProgram& p) {
             p.Linear("x", "hidden");
             p.s.Label(argument, trace::Role::kTypeBranch, trace::LabelSource::kVariable, "asked net.py:2");
             p.s.Module("rotary", [&] {
               p.Make("aten::cos", "x", "cos");
               p.Make("aten::sin", "x", "sin");
               p.To("cos", 2);
               p.To("sin", 2);
             });
             for (const char* kept : {"a", "b", "c", "d"}) p.Make("aten::mul", "cos", kept);
             p.Make("aten::mul", "sin", "e");
             for (const char* kept : {"cos", "sin", "hidden", "a", "b", "c", "d", "e"}) p.s.Free(kept);
           })
        .Peak("amp");
  };
  EXPECT_EQ(peak("x"), kWide + kNarrow + 7 * kWide) << "x, hidden, and all that is made of x";
  EXPECT_EQ(peak("hidden"), kWide + kNarrow + 7 * kNarrow) << "both are copied, and what they were is gone";
}

// def forward(self, x, hidden): x.to(self.linear.weight.dtype) + hidden, under autocast: a parameter stays in
// float32, though x meets what is in 16 bits, and though the weight was used as a copy in 16 bits.
TEST(ToldConversionsTest, UnderAutocastAParametersTypeStaysWhatItIs) {
  const auto peak = [](bool told) {
    return ConversionProgram([=](ConversionProgram& p) {
             p.Linear("x", "hidden");
             if (told)
               p.s.Label("weight", trace::Role::kTypeBranch, trace::LabelSource::kVariable, "asked net.py:2");
             p.s.Module("embeddings", [&] {
               p.To("x", 2);
               p.Make("aten::add", "x", "sum", "hidden");
             });
             for (const char* kept : {"a", "b", "c", "d"}) p.Make("aten::relu", "sum", kept);
             for (const char* kept : {"sum", "hidden", "a", "b", "c", "d"}) p.s.Free(kept);
           })
        .Peak("amp");
  };
  EXPECT_EQ(peak(false), kWide + kNarrow + 5 * kNarrow) << "x, hidden, and what is made of their sum";
  EXPECT_EQ(peak(true), kWide + kNarrow + 5 * kWide);
}

// Nor is what the program made wider converted back, as where parameters are in 16 bits.
TEST(ToldConversionsTest, UnderAutocastWhatIsWideStaysSoWhereAParametersTypeIsAskedFor) {
  const auto peak = [](bool told, const char* lever) {
    return ConversionProgram([=](ConversionProgram& p) {
             p.Linear("x", "hidden");
             p.To("hidden", 1);
             p.Make("aten::mul", "hidden", "wide");
             if (told)
               p.s.Label("weight", trace::Role::kTypeBranch, trace::LabelSource::kVariable, "asked net.py:2");
             p.s.Module("norm", [&] {
               p.To("wide", 2);
               for (const char* kept : {"a", "b", "c", "d"}) p.Make("aten::relu", "wide", kept);
             });
             for (const char* kept : {"wide", "hidden", "a", "b", "c", "d"}) p.s.Free(kept);
           })
        .Peak(lever);
  };
  EXPECT_EQ(peak(true, "amp") - peak(false, "amp"), 4 * (kWide - kNarrow) - kNarrow) << "nor is there a copy";
  EXPECT_EQ(peak(true, "precision"), peak(false, "precision"));
}

// wide = x.float() * 2; self.norm(wide), which returns f(wide).to(wide.dtype)
TEST(ToldConversionsTest, WhatCameWideToAModuleStaysSoWhereItsTypeIsAskedFor) {
  const ConversionProgram program([](ConversionProgram& p) {
    p.To("x", 1);
    p.Make("aten::mul", "x", "wide");
    p.s.Module("norm", [&] {
      p.Make("aten::exp", "wide", "scaled");
      p.To("scaled", 4);
      p.Make("aten::mul", "scaled", "out");
    });
    p.s.Free("wide").Free("scaled").Free("out");
  });
  EXPECT_EQ(program.Copies(), 1u) << "x.float() alone";
}

// y = x.float() where the source is told, and y.float() where it is not.
TEST(ToldConversionsTest, WhatWasJustMadeWideIsNotConvertedBack) {
  for (const auto& [used, copies] : {std::pair(false, 1u), std::pair(true, 2u)}) {
    const ConversionProgram program([used = used](ConversionProgram& p) {
      p.To("x", 1);
      if (used) p.Make("aten::exp", "x", "y");
      p.To("x", 0);
      p.Make("aten::mul", "x", "out");
      if (used) p.s.Free("y");
      p.s.Free("out");
    });
    EXPECT_EQ(program.Copies(), copies);
  }
}

// wide = x.float() * 2; self.norm(wide.to(x.dtype)); wide * 2
TEST(ToldConversionsTest, WhatAModuleAloneIsGivenLeavesTheCallersVariable) {
  const auto peak = [](int line) {
    return ConversionProgram([line](ConversionProgram& p) {
             p.To("x", 1);
             p.Make("aten::mul", "x", "wide");
             p.To("wide", line);
             p.s.Module("norm", [&] { p.Make("aten::exp", "wide", "normed"); });
             p.s.Free("normed");
             for (const char* const out : {"a", "b", "c"}) p.Make("aten::mul", "wide", out);
             p.s.Free("wide").Free("a").Free("b").Free("c");
           })
        .Peak("precision");
  };
  EXPECT_GT(peak(2), peak(3)) << "wide = wide.to(x.dtype)";
}

// f(self.weight.float()); g(self.weight.float())
TEST(ToldConversionsTest, AWeightIsConvertedAnewEachTime) {
  const ConversionProgram program([](ConversionProgram& p) {
    for (int time = 0; time < 2; ++time) p.To("weight", 1, "64,64", "64,1");
    p.Make("aten::mul", "x", "out");
    p.s.Free("out");
  });
  EXPECT_EQ(program.Copies(), 2u);
}

}  // namespace
}  // namespace vramscope::whatif
