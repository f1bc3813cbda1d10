// SPDX-License-Identifier: Apache-2.0
// As torch/optim/_adafactor.py of 2.5 to 2.15 allocates. p = bytes of one parameter [.., r, c]:
//
//            state                    while it steps
//   matrix   p/c of rows, p/r of      the means of rows and of columns; the update p, which is a product of
//   both, and
//            columns                  that of the parameter before until the new one is there; p/(r c) of
//            means of
//                                     means; partial sums of norms
//   vector   p                        the squares p, the update p
//
// The weight of a convolution of 1 x 1 has rows and columns of one value: all of these are as large as
// itself. foreach computes the updates of all matrices, then those of all vectors, and keeps the former
// meanwhile.
//
// As bitsandbytes/optim/optimizer.py of 0.44 to 0.50 allocates (Optimizer2State.init_state): a parameter of
// 4,096 values or more has two states of a byte a value and the largest of each 256 as a float for both;
// smaller ones have floats. Two tables of 256 floats are shared. Before 0.44 it was the largest of each
// 2,048.
#include "profiler/whatif/training/lean_optimizers.h"

#include <array>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/cublas.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kFewValues = 4096;  // min_8bit_size
constexpr uint64_t kBlockValues = 256;
constexpr uint64_t kTable = 256 * kFloatBytes;

class Adafactor {
 public:
  Adafactor(const Step& step, Scene& scene)
      : step_(step),
        scene_(scene),
        workspace_(WorkspaceOfProducts(step)),
        by_triton_(TritonMakesOuterProducts(step)) {
    if (const Result<BatchAxis>& axis = FollowBatch(step); axis.ok()) device_ = axis->device;
  }

  void AddCall(const OptimizerCall& call, bool foreach_way) {
    AddState(call);
    if (foreach_way)
      Foreach(call);
    else
      ForLoop(call);
  }

 private:
  struct Pending {
    const TrainedParameter* parameter = nullptr;
    Position begin = 0;
    uint64_t bytes = 0;
  };

  void AddState(const OptimizerCall& call) {
    Position at = call.time.begin + kHair;
    for (const TrainedParameter& parameter : call.fresh) {
      const Extent& extent = *parameter.extent;
      if (extent.matrix) {
        Add(parameter, at += kHair, kForever, extent.OfRows());
        Add(parameter, at += kHair, kForever, extent.OfColumns());
      } else {
        Add(parameter, at += kHair, kForever, extent.Bytes());
      }
    }
  }

  // Names of the loop keep what the parameter before left in them until they are given the new one.
  void ForLoop(const OptimizerCall& call) {
    constexpr Position kMeans = 0.3, kEstimate = 0.5, kUpdate = 0.7, kNorm = 0.8;
    const Position width = call.Width();
    Position begin = call.time.begin + width / 2;
    std::array<Pending, 4> named;  // row_mean, col_mean, grad_squared, update
    const auto name = [&](Pending& one, const TrainedParameter& parameter, Position at, Position freed,
                          uint64_t bytes) {
      if (one.parameter != nullptr) Add(*one.parameter, one.begin, freed, one.bytes);
      one = {&parameter, at, bytes};
    };
    for (const TrainedParameter& parameter : call.stepped) {
      const Extent& extent = *parameter.extent;
      const auto at = [&](Position share) { return begin + width * share; };
      AddNorm(parameter, at(0.1), {{{extent.Values(), 1, true, 0}}});
      if (extent.matrix) {
        AddNorm(parameter, at(kMeans) - kHair, OverColumns(extent));
        name(named[0], parameter, at(kMeans), at(kMeans) + kHair, extent.OfRows());
        AddNorm(parameter, at(kMeans) + 2 * kHair, OverRows(extent));
        name(named[1], parameter, at(kMeans) + 3 * kHair, at(kMeans) + 4 * kHair, extent.OfColumns());
      } else {
        name(named[2], parameter, at(kMeans), at(kMeans) + kHair, extent.Bytes());
      }
      name(named[3], parameter, at(kEstimate), at(kUpdate), extent.Bytes());
      if (extent.matrix) {
        AddWorkspace(parameter, at(kEstimate) + kHair);
        Add(parameter, at(kEstimate) + 2 * kHair, at(kUpdate) - kHair, extent.OfOthers());
      }
      AddNorm(parameter, at(kNorm), {{{extent.Values(), 1, true, 0}}});
      begin += width;
    }
    for (const Pending& one : named) {
      if (one.parameter != nullptr) Add(*one.parameter, one.begin, begin, one.bytes);
    }
  }

  void Foreach(const OptimizerCall& call) {
    const Position begin = call.time.begin + call.Width() / 2;
    const Position end = call.time.end - call.Width() / 2;
    const bool matrices_first = call.stepped.empty() || call.stepped.front().extent->matrix;
    const Position middle = (begin + end) / 2;
    // A list of estimates replaces that of the others when all of it is there.
    constexpr Position kAllEstimated = 0.55;
    Updates(call, matrices_first, begin, middle, middle + (end - middle) * kAllEstimated);
    Updates(call, !matrices_first, middle, end, end);
  }

  static Reduction OverColumns(const Extent& extent) {
    return {{{extent.others * extent.rows, extent.columns, false, 0}, {extent.columns, 1, true, 0}}};
  }
  static Reduction OverRows(const Extent& extent) {
    if (extent.others == 1) return {{{extent.rows, extent.columns, true, 0}, {extent.columns, 1, false, 0}}};
    return {{{extent.others, extent.rows * extent.columns, false, 0},
             {extent.rows, extent.columns, true, 0},
             {extent.columns, 1, false, 0}}};
  }

  void Add(const TrainedParameter& parameter, Position begin, Position end, uint64_t bytes) {
    AddOptimizerBlock(step_, parameter, begin, end, bytes, scene_);
  }
  void AddNorm(const TrainedParameter& parameter, Position at, const Reduction& reduction) {
    const auto [bytes, counters] = ScratchOf(reduction, device_);
    if (bytes == 0) return;
    Add(parameter, at, at + kHair / 2, bytes);
    Add(parameter, at + kHair / 8, at + kHair / 4, counters);
  }

  void AddWorkspace(const TrainedParameter& parameter, Position at) {
    if (workspace_.bytes == 0 || (by_triton_ && parameter.extent->batched)) return;
    Add(parameter, at, workspace_.stays ? kForever : at + kHair / 2, workspace_.bytes);
    if (workspace_.stays) workspace_ = {};
  }

  // Of all matrices, or of all vectors, in `begin` to `end`; the updates stay until `gone`.
  void Updates(const OptimizerCall& call, bool matrices, Position begin, Position end, Position gone) {
    constexpr Position kRows = 0.1, kRowsGone = 0.2, kColumns = 0.3, kColumnsGone = 0.4;
    constexpr Position kEstimates = 0.5, kMeans = 0.6, kMeansGone = 0.7;
    const auto at = [&](Position share) { return begin + (end - begin) * share; };
    Position more = 0;
    for (const TrainedParameter& parameter : call.stepped) {
      const Extent& extent = *parameter.extent;
      if (extent.matrix != matrices) continue;
      more += kHair;
      const auto keep = [&](Position from, Position to, uint64_t bytes) {
        Add(parameter, at(from) + more, at(to) + more, bytes);
      };
      if (matrices) {
        AddNorm(parameter, at(kRows) + more, OverColumns(extent));
        keep(kRows, kRowsGone, extent.OfRows());
        AddNorm(parameter, at(kColumns) + more, OverRows(extent));
        keep(kColumns, kColumnsGone, extent.OfColumns());
        AddWorkspace(parameter, at(kEstimates) + more + kHair / 4);
        keep(kMeans, kMeansGone, extent.OfOthers());
      } else {
        keep(kRows, kRowsGone, extent.Bytes());
      }
      Add(parameter, at(kEstimates) + more, gone + more, extent.Bytes());
    }
  }

  const Step& step_;
  Scene& scene_;
  CublasWorkspace workspace_;
  bool by_triton_;
  Multiprocessors device_;
};

Status AllSeen(const Step& step, const std::vector<OptimizerCall>& calls) {
  for (const OptimizerCall& call : calls) {
    for (const TrainedParameter& parameter : call.stepped) {
      if (!parameter.extent)
        return Error{"the shape of the parameter " + std::string(step.blocks[parameter.block].name) +
                     " was not seen: no operator of the recorded step had the whole of it."};
    }
  }
  return {};
}

void AddStateOf8bit(const Step& step, const OptimizerCall& call, Scene& scene) {
  Position at = call.time.begin + kHair;
  bool tables = false;
  for (const TrainedParameter& parameter : call.fresh) {
    const auto values = static_cast<uint64_t>(parameter.extent->Values());
    const auto add = [&](uint64_t bytes) {
      AddOptimizerBlock(step, parameter, at += kHair, kForever, bytes, scene);
    };
    if (values < kFewValues) {
      add(values * kFloatBytes);
      add(values * kFloatBytes);
      continue;
    }
    if (!tables) add(kTable), add(kTable);
    tables = true;
    add(values);
    add(values);
    for (int i = 0; i < 2; ++i) add((values + kBlockValues - 1) / kBlockValues * kFloatBytes);
  }
}

}  // namespace

void AddOptimizerBlock(const Step& step, const TrainedParameter& parameter, Position begin, Position end,
                       uint64_t bytes, Scene& scene) {
  using classify::Category;
  Block block;
  block.begin = begin;
  block.end = end;
  block.bytes = bytes;
  block.birth = end >= kForever ? Birth::kOnce : Birth::kEachStep;
  block.category = end >= kForever ? Category::kOptimizerState : Category::kTemporaryOptimizer;
  block.stream = step.blocks[parameter.block].stream;
  scene.blocks.push_back(block);
}

Status AddAdafactor(const Step& step, const std::vector<OptimizerCall>& calls, bool foreach_way,
                    Scene& scene) {
  if (const Status seen = AllSeen(step, calls); !seen.ok()) return seen;
  Adafactor adafactor(step, scene);
  for (const OptimizerCall& call : calls) adafactor.AddCall(call, foreach_way);
  return {};
}

Status AddAdam8bit(const Step& step, const std::vector<OptimizerCall>& calls, Scene& scene) {
  if (const Status seen = AllSeen(step, calls); !seen.ok()) return seen;
  for (const OptimizerCall& call : calls) AddStateOf8bit(step, call, scene);
  return {};
}

}  // namespace vramscope::whatif
