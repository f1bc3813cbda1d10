// SPDX-License-Identifier: Apache-2.0
// For tests: the trace of a training loop of three steps, with the events that PyTorch would cause.
//
//   setup    allocates a temporary block, and a weight of 64 x 64
//   step     batch [8, 64] ─ mm ─► hidden [8, 64] ─ gelu ─► out [8, 64]
//            backward allocates the gradients of out, hidden and weight
//            the optimizer keeps one state of the weight's size
//
// All tensors are float32. The batch, hidden and out have 2,048 bytes each, the weight has 16,384 bytes.
#pragma once

#include <gtest/gtest.h>

#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/testing/tensor_script.h"

namespace vramscope::whatif {

inline constexpr uint64_t kBatchBytes = 8 * 64 * 4;
inline constexpr uint64_t kWeightBytes = 64 * 64 * 4;

class Loop : public TensorScript {
 public:
  // If `sampled`, another thread records a counter between a node's release of a tensor and the tensor's
  // free. If `traced`, forward contains an additional small backward pass, as flex_attention() does.
  explicit Loop(bool sampled = false, bool traced = false) : sampled_(sampled), traced_(traced) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("before", 4 * kWeightBytes).Free("before");
    s.Alloc("weight", kWeightBytes).Parameter("weight", "blocks.0.linear.weight");
    for (int step = 1; step <= 3; ++step) Step(step);
    run = s.Load();
    analysis.emplace(run);
  }

  [[nodiscard]] whatif::Step Read() const { return ReadStep(*analysis, 0).value(); }

  model::Run run;
  std::optional<classify::Analysis> analysis;

 private:
  const bool sampled_, traced_;

  void Step(int step) {
    if (step == 2) s.Mark(trace::MarkKind::kDeepBegin, 2);
    const uint64_t first = static_cast<uint64_t>(step) * 10;
    s.Data([&] { s.Alloc("batch", kBatchBytes); });
    s.Label("batch", trace::Role::kInput, trace::LabelSource::kDataLoader);
    if (step > 1)
      s.Free("out");  // the name `out` is reassigned: here, for simplicity, when the new batch exists
    s.Module("blocks.0", [&] {
      s.Module("blocks.0.linear", [&] {
        s.Op("aten::mm", [&] {
          s.NodeCreated(first).Saved("batch").Saved("weight");
          In("batch", "8,64", "64,1");
          In("weight", "64,64", "1,64", 1);
          s.Alloc("hidden", kBatchBytes);
          Out("hidden", "8,64", "64,1");
        });
      });
    });
    if (traced_) s.Backward([&] { s.Alloc("fake", kBatchBytes).Free("fake"); });
    s.Module("blocks.1", [&] {
      s.Module("blocks.1.act", [&] {
        s.Op("aten::gelu", [&] {
          s.NodeCreated(first + 1).Saved("hidden");
          In("hidden", "8,64", "64,1");
          s.Alloc("out", kBatchBytes);
          Out("out", "8,64", "64,1");
        });
      });
    });
    s.Backward([&] { Backward(first); });
    s.Optimizer("SGD", [&] {
      if (step == 1)
        s.Alloc("state", kWeightBytes)
            .Label("state", trace::Role::kOptimizerState, trace::LabelSource::kOptimizer,
                   "momentum_buffer of weight");
      s.Alloc("root", kWeightBytes).Free("root");
    });
    s.Mark(trace::MarkKind::kOptimizerStepDone, static_cast<uint64_t>(step), "SGD");
    s.Free("gradient").Free("batch");
  }

  void Backward(uint64_t first) {
    s.Alloc("seed", kBatchBytes);
    s.Node("GeluBackward0", first + 1, [&] {
      s.Op("GeluBackward0", [&] {
        In("seed", "8,64", "64,1");
        s.Op("aten::gelu_backward", [&] {
          In("seed", "8,64", "64,1");
          In("hidden", "8,64", "64,1", 1);
          s.Alloc("between", kBatchBytes);
          Out("between", "8,64", "64,1");
        });
      });
      s.Free("seed").Released("hidden");
      for (int i = 0; sampled_ && i < 3; ++i)
        s.Event(trace::EventType::kCounter, {s.trace().Intern("host"), 1, 0});
      s.Free("hidden");
    });
    s.Node("MmBackward0", first, [&] {
      s.Op("MmBackward0", [&] {
        In("between", "8,64", "64,1");
        s.Op("aten::mm", [&] {
          In("batch", "64,8", "1,64");
          In("between", "8,64", "64,1", 1);
          s.Alloc("gradient", kWeightBytes);
          Out("gradient", "64,64", "64,1");
        });
      });
      s.Free("between").Released("batch").Released("weight");
    });
    s.Node("torch::autograd::AccumulateGrad", trace::node::kNoSequence, [&] {
      s.Op("torch::autograd::AccumulateGrad", [&] { In("gradient", "64,64", "64,1"); });
      s.Gradient("gradient", "weight");
    });
  }
};

inline const Loop& TheLoop() {
  static const Loop loop;
  return loop;
}

inline Use UseAfter(const std::vector<Asked>& asked) {
  static const whatif::Step step = TheLoop().Read();
  static const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  const Prediction prediction = Predict(step, baseline, asked).value();
  EXPECT_TRUE(prediction.refused.empty()) << prediction.refused.front().reason;
  return prediction.after;
}

}  // namespace vramscope::whatif
