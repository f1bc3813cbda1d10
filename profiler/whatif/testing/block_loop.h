// SPDX-License-Identifier: Apache-2.0
// For tests: a trace of a training loop over a list of blocks (layers). The test chooses for each block how
// many bytes autograd saves and how long the block takes.
//
//   setup    allocates a weight of 2 MiB for each block
//   step     runs a batch of 8 samples through the blocks; each block keeps its result for backward.
//            Backward runs from the last block to the first. The optimizer keeps one state per weight, and
//            allocates the same bytes again during its step
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/model/testing/script.h"
#include "profiler/whatif/answer/predict.h"

namespace vramscope::whatif {

// The number of float32 values per sample that a block saves, and the block's number of operators.
struct BlockShape {
  uint64_t features = 0;
  int operators = 1;
};

class BlockLoop {
 public:
  static constexpr uint64_t kWeightBytes = 2 << 20;
  static constexpr uint64_t kSamples = 8;

  explicit BlockLoop(std::vector<BlockShape> blocks) : blocks_(std::move(blocks)) {
    s_.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    for (size_t i = 0; i < blocks_.size(); ++i)
      s_.Alloc(Name("weight", i), kWeightBytes).Parameter(Name("weight", i), Path(i) + ".linear.weight");
    for (int step = 1; step <= 3; ++step) Step(step);
    run_ = s_.Load();
    analysis_.emplace(run_);
    step_ = whatif::ReadStep(*analysis_, 0).value();
    baseline_ = whatif::MakeBaseline(step_, *analysis_).value();
  }
  BlockLoop(const BlockLoop&) = delete;

  [[nodiscard]] const whatif::Step& step() const { return step_; }
  [[nodiscard]] const whatif::Baseline& baseline() const { return baseline_; }
  [[nodiscard]] const model::Run& run() const { return run_; }
  [[nodiscard]] model::testing::MemoryTrace& trace() { return s_.trace(); }

 private:
  static std::string Name(const char* what, size_t block) { return what + std::to_string(block); }
  static std::string Path(size_t block) { return "blocks." + std::to_string(block); }
  [[nodiscard]] uint64_t BytesOf(size_t block) const { return kSamples * blocks_[block].features * 4; }

  void Tensor(const std::string& block, uint64_t features, bool output, uint64_t position) {
    const uint64_t address = s_.AddressOf(block);
    const std::string shape = std::to_string(kSamples) + "," + std::to_string(features);
    s_.Event(trace::EventType::kOpTensor,
             {output ? trace::kTensorIsOutput : 0, position, address + 7, address, 0,
              s_.trace().Intern(shape), s_.trace().Intern(std::to_string(features) + ",1"), 6});
  }

  void Step(int step) {
    if (step == 2) s_.Mark(trace::MarkKind::kDeepBegin, 2);
    const uint64_t first = static_cast<uint64_t>(step) * 100;
    s_.Data([&] { s_.Alloc("batch", BytesOf(0)); });
    s_.Label("batch", trace::Role::kInput, trace::LabelSource::kDataLoader);
    for (size_t i = 0; i < blocks_.size(); ++i) Forward(i, first + i);
    s_.Backward([&] {
      s_.Alloc("flow", BytesOf(blocks_.size() - 1));
      for (size_t i = blocks_.size(); i-- > 0;) Backward(i, first + i);
    });
    s_.Free("flow");
    s_.Optimizer("SGD", [&] {
      for (size_t i = 0; i < blocks_.size(); ++i) {
        if (step == 1)
          s_.Alloc(Name("state", i), kWeightBytes)
              .Label(Name("state", i), trace::Role::kOptimizerState, trace::LabelSource::kOptimizer,
                     "momentum_buffer of weight");
        s_.Alloc(Name("root", i), kWeightBytes);
      }
      for (size_t i = 0; i < blocks_.size(); ++i) s_.Free(Name("root", i));
    });
    s_.Mark(trace::MarkKind::kOptimizerStepDone, static_cast<uint64_t>(step), "SGD");
    for (size_t i = 0; i < blocks_.size(); ++i) s_.Free(Name("gradient", i));
    s_.Free("batch");
  }

  // Allocates a result and frees it directly, as small operators do.
  void Elementwise(size_t i) {
    s_.Op("aten::relu", [&] {
      Tensor(Name("hidden", i), blocks_[i].features, false, 0);
      s_.Alloc("moment", BytesOf(i));
      Tensor("moment", blocks_[i].features, true, 0);
    });
    s_.Free("moment");
  }

  // input -> hidden (saved by the block's second node) -> out (saved by the next block)
  void Forward(size_t i, uint64_t node) {
    const std::string input = i == 0 ? "batch" : Name("out", i - 1);
    const uint64_t features = i == 0 ? blocks_[0].features : blocks_[i - 1].features;
    s_.Module(Path(i), [&] {
      s_.Module(Path(i) + ".linear", [&] {
        s_.Op("aten::mm", [&] {
          s_.NodeCreated(node).Saved(input).Saved(Name("weight", i));
          Tensor(input, features, false, 0);
          s_.Alloc(Name("hidden", i), BytesOf(i));
          Tensor(Name("hidden", i), blocks_[i].features, true, 0);
        });
        for (int k = 1; k < blocks_[i].operators; ++k) Elementwise(i);
        s_.Op("aten::gelu", [&] {
          s_.NodeCreated(node + 50).Saved(Name("hidden", i));
          Tensor(Name("hidden", i), blocks_[i].features, false, 0);
          s_.Alloc(Name("out", i), BytesOf(i));
          Tensor(Name("out", i), blocks_[i].features, true, 0);
        });
      });
    });
  }

  void Backward(size_t i, uint64_t node) {
    s_.Node("GeluBackward0", node + 50, [&] {
      s_.Op("GeluBackward0", [&] { Tensor("flow", blocks_[i].features, false, 0); });
      s_.Released(Name("hidden", i)).Free(Name("hidden", i));
    });
    s_.Node("MmBackward0", node, [&] {
      s_.Op("MmBackward0", [&] { s_.Op("aten::mm", [&] { s_.Alloc(Name("gradient", i), kWeightBytes); }); });
      s_.Released(i == 0 ? "batch" : Name("out", i - 1)).Released(Name("weight", i));
    });
    s_.Node("torch::autograd::AccumulateGrad", trace::node::kNoSequence, [&] {
      s_.Op("torch::autograd::AccumulateGrad", [&] {});
      s_.Gradient(Name("gradient", i), Name("weight", i));
    });
    if (i + 1 == blocks_.size()) s_.Free(Name("out", i));
    if (i > 0) s_.Free(Name("out", i - 1));
  }

  model::testing::Script s_;
  std::vector<BlockShape> blocks_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  whatif::Step step_;
  whatif::Baseline baseline_;
};

}  // namespace vramscope::whatif
