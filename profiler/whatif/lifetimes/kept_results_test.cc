// SPDX-License-Identifier: Apache-2.0
// What a variable got of a module, and keeps until its function returns. The oracle is Python: variables of a
// function go when it returns.
//
//   model         1 ────────────────────────────────────▶ 90
//   model.net         10 ── keys, at 12 ── 30
//                                              out, of the loss, at 50
#include <gtest/gtest.h>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/testing/tensor_script.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class KeptResultsTest : public testing::Test, protected WrittenOperators {
 protected:
  KeptResultsTest() {
    Module("model", 1, 90);
    Module("model.net", 10, 30, 0);
    keys_ = AddBlock(12, 31);
    AddOp("aten::mul", kNone, {11, 13}, {keys_}, kNone);
    step_.kept_results = {{keys_, 1}};
  }

  uint32_t keys_ = 0;
};

TEST_F(KeptResultsTest, WhatAVariableKeepsIsThereUntilItsFunctionReturns) {
  EXPECT_NEAR(Holders(step_).SeenUntil(keys_), 90, 0.2);
  step_.kept_results.clear();
  EXPECT_EQ(Holders(step_).SeenUntil(keys_), kBefore) << "an older record";
}

TEST_F(KeptResultsTest, WhatTheCopyHasTakenThePlaceOfIsNotWhatWasReturned) {
  step_.blocks[keys_].replaced = 20;
  EXPECT_EQ(Holders(step_).SeenUntil(keys_), kBefore);
  step_.blocks[keys_].replaced = 40;
  EXPECT_NEAR(Holders(step_).SeenUntil(keys_), 90, 0.2);
}

// attn = attn.type(dtype); return out, Intermediates(attn)
TEST_F(KeptResultsTest, OfWhatTheProgramConvertsItIsTheCopy) {
  Versions versions(step_, kFloatType);
  versions.Decide(keys_, kFloatType);
  versions.Replace(keys_, kBfloat16Type, 20, step_.operands[0]);
  const Step changed = std::move(versions).Finish({});
  const uint32_t copy = changed.kept_results[0].block;
  ASSERT_NE(copy, keys_);
  EXPECT_EQ(changed.blocks[copy].requested, 256u);
  EXPECT_NEAR(Holders(changed).SeenUntil(copy), 90, 0.2);
}

TEST_F(KeptResultsTest, TheProgramItselfMayDoAnything) {
  step_.kept_results = {{keys_, 0}};
  EXPECT_EQ(Holders(step_).SeenUntil(keys_), kBefore);
}

// Recorded as PyTorch would run it, in three steps.
class Recorded : public TensorScript {
 public:
  Recorded() {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
    for (int step = 0; step < 3; ++step) {
      s.Module("model", [&] {
        s.Module("model.net", [&] {
          s.Alloc("keys", 512);
          s.Label("keys", trace::Role::kKeptResult, trace::LabelSource::kVariable, "cache");
        });
        s.Free("keys");
      });
    }
  }
};

TEST(KeptResultsRecordTest, ItIsOfTheModuleWhoseRangeEndsNext) {
  Recorded recorded;
  const model::Run run = recorded.s.Load();
  const classify::Analysis analysis(run);
  const Step step = ReadStep(analysis, 0).value();
  ASSERT_EQ(step.kept_results.size(), 1u);
  EXPECT_EQ(step.Text(step.modules[step.kept_results[0].call].name), "model.net");
  EXPECT_EQ(step.kept_results[0].block, 0u);
  EXPECT_TRUE(step.held.empty());
}

}  // namespace
}  // namespace vramscope::whatif
