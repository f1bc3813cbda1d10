// SPDX-License-Identifier: Apache-2.0
// Buffers of a module that no operator works on, as I-BERT has them: the recording tells their type beside
// their names.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/tensor_script.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kBufferBytes = 2048;

// What a model has that runs three times, in deep steps. `type`: what is told of its buffer; empty: nothing.
class Model : public TensorScript {
 public:
  explicit Model(const std::string& type, bool deep_first = false) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("weight", kBufferBytes).Parameter("weight", "linear.weight");
    s.Alloc("scale", kBufferBytes).Alloc("x", kBufferBytes);
    s.Label("scale", trace::Role::kBuffer, trace::LabelSource::kModuleRegistry, "norm.scale");
    if (deep_first) s.Mark(trace::MarkKind::kDeepBegin, 1);
    if (!type.empty()) s.Mark(trace::MarkKind::kFloatBuffer, s.AddressOf("scale"), type);
    if (!deep_first) s.Mark(trace::MarkKind::kDeepBegin, 1);
    for (int call = 1; call <= 3; ++call) {
      s.Module("", [&] {
        s.Op("aten::mul", [&] {
          In("x", "512", "1");
          In("weight", "512", "1", 1);
          s.Alloc("out", kBufferBytes);
          Out("out", "512", "1");
        });
        s.Free("out");
      });
    }
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
  }

  [[nodiscard]] const StepBlock& In(const whatif::Step& step, const char* name) const {
    return *std::find_if(step.blocks.begin(), step.blocks.end(),
                         [&](const StepBlock& block) { return block.id == s.Id(name); });
  }
  [[nodiscard]] const whatif::Step& step() const { return step_; }
  using TensorScript::In;

 private:
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  whatif::Step step_;
};

TEST(FloatBuffersTest, AMarkOfFloat32TellsWhichBlockItIsOf) {
  for (const bool deep_first : {false, true}) {
    const Model model("torch.float32", deep_first);
    EXPECT_TRUE(model.In(model.step(), "scale").single_buffer);
    EXPECT_FALSE(model.In(model.step(), "weight").single_buffer);
    EXPECT_FALSE(model.In(model.step(), "x").single_buffer);
  }
}

TEST(FloatBuffersTest, AMarkOfAnotherTypeDoesNot) {
  for (const char* const type : {"", "torch.float64", "torch.bfloat16", "torch.float16"}) {
    const Model model(type);
    EXPECT_FALSE(model.In(model.step(), "scale").single_buffer) << type;
  }
}

// model.to(torch.bfloat16)
TEST(FloatBuffersTest, ABufferThatNoOperatorWorksOnIsConvertedWithItsModel) {
  const auto converted = [](const char* type, const char* block) {
    const Model model(type);
    return model.In(AllInLow(model.step(), kBfloat16Type), block).requested;
  };
  EXPECT_EQ(converted("torch.float32", "scale"), kBufferBytes / 2);
  EXPECT_EQ(converted("", "scale"), kBufferBytes) << "it may be of integers";
  EXPECT_EQ(converted("", "weight"), kBufferBytes / 2);
}

TEST(FloatBuffersTest, UnderAutocastItStaysAsItIs) {
  const Model model("torch.float32");
  EXPECT_EQ(model.In(UnderAutocast(model.step(), kBfloat16Type), "scale").requested, kBufferBytes);
}

// A view of its bytes is one of integers: what it holds is not converted.
TEST(FloatBuffersTest, WhatAnOperatorSeesAsIntegersIsNotConverted) {
  const Model model("torch.float32");
  whatif::Step step = model.step();
  constexpr uint8_t kLong = 4;
  const auto scale = static_cast<uint32_t>(&model.In(step, "scale") - step.blocks.data());
  for (Operand& operand : step.operands)
    if (step.blocks[operand.block].id == model.s.Id("x")) operand.block = scale, operand.dtype = kLong;
  EXPECT_EQ(AllInLow(step, kBfloat16Type).blocks[scale].requested, kBufferBytes);
}

}  // namespace
}  // namespace vramscope::whatif
