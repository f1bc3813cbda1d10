// SPDX-License-Identifier: Apache-2.0
// A program that only runs its model forward, written as PyTorch would run it. Oracle: bytes of changed
// versions, computed by hand.
//
//   setup    weights 64 x 256 and 256 x 64, a batch [8, 64]
//   call     batch ─ mm ─► hidden [8, 256] ─ mm ─► out [8, 64]      the last call's result is kept until the
//                                                                   next
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"
#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using model::testing::Script;

constexpr uint64_t kHiddenBytes = 8 * 256 * 4;
constexpr uint64_t kWideWeightBytes = 64 * 256 * 4;

class Calls {
 public:
  Calls() {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("first", kWideWeightBytes).Parameter("first", "first.weight");
    s.Alloc("second", kWideWeightBytes).Parameter("second", "second.weight");
    s.Alloc("batch", kBatchBytes);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
    for (int call = 1; call <= 3; ++call) Call(call);
    run = s.Load();
    analysis.emplace(run);
    step = ReadStep(*analysis, 0).value();
    baseline = MakeBaseline(step, *analysis).value();
  }

  [[nodiscard]] Prediction After(const std::vector<Asked>& asked) const {
    return Predict(step, baseline, asked).value();
  }

  Script s;
  model::Run run;
  std::optional<classify::Analysis> analysis;
  whatif::Step step;
  Baseline baseline;

 private:
  void Tensor(const std::string& block, const char* shape, const char* strides, uint64_t flags,
              uint64_t position) {
    const model::Run now = s.Load();
    const uint64_t address = now.blocks[s.Id(block)].address;
    s.Event(trace::EventType::kOpTensor, {flags, position, address + 7, address, 0, s.trace().Intern(shape),
                                          s.trace().Intern(strides), 6});
  }

  void Product(const char* from, const char* weight, const char* into, const char* const (&shapes)[3],
               const char* const (&strides)[3], uint64_t bytes) {
    s.Op("aten::mm", [&] {
      Tensor(from, shapes[0], strides[0], 0, 0);
      Tensor(weight, shapes[1], strides[1], trace::kTensorRequiresGrad | trace::kTensorIsLeaf, 1);
      s.Alloc(into, bytes);
      Tensor(into, shapes[2], strides[2], trace::kTensorIsOutput, 0);
    });
  }

  void Call(int call) {
    s.Module("", [&] {
      s.Module("first", [&] {
        Product("batch", "first", "hidden", {"8,64", "64,256", "8,256"}, {"64,1", "256,1", "256,1"},
                kHiddenBytes);
      });
      s.Module("second", [&] {
        Product("hidden", "second", "result", {"8,256", "256,64", "8,64"}, {"256,1", "64,1", "64,1"},
                kBatchBytes);
      });
      s.Free("hidden");
    });
    if (call > 1) s.Free("out");
    s.Alloc("out", kBatchBytes).Free("result");
  }
};

const Calls& TheCalls() {
  static const Calls calls;
  return calls;
}

constexpr uint64_t kThere =
    2 * kWideWeightBytes + 2 * kBatchBytes;  // the weights, the batch, the previous result

TEST(ForwardTest, ACallOfTheModelIsAStep) {
  const whatif::Step& step = TheCalls().step;
  EXPECT_TRUE(step.OnlyForward());
  EXPECT_EQ(step.number, 3u);
  const Use before = TheCalls().baseline.use;
  EXPECT_EQ(before.peak.bytes, kThere + kHiddenBytes + kBatchBytes);
  EXPECT_EQ(before.peak.phase, "forward");
}

TEST(ForwardTest, WhatChangesTrainingAloneIsRefused) {
  for (const Asked& asked : std::vector<Asked>{{"checkpoint", "all"},
                                               {"accumulate", "2:whole"},
                                               {"optimizer", "sgd"},
                                               {"zero-grad", "keep"},
                                               {"shard", "ddp:2"},
                                               {"offload", "optimizer"}}) {
    const Prediction after = TheCalls().After({asked});
    ASSERT_EQ(after.refused.size(), 1u) << asked.lever;
    EXPECT_THAT(after.refused.front().reason, testing::HasSubstr("only runs its model forward"));
  }
  EXPECT_EQ(TheCalls().After({{"empty-cache", "before-backward"}}).refused.size(), 1u);
  EXPECT_TRUE(TheCalls().After({{"empty-cache", "after-step"}}).refused.empty());
}

}  // namespace
}  // namespace vramscope::whatif
