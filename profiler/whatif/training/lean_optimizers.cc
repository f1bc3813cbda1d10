// SPDX-License-Identifier: Apache-2.0
// Adafactor allocates as torch/optim/_adafactor.py of 2.5 to 2.15. p = bytes of one parameter [.., r, c]:
//
//            state                    while it steps
//   matrix   p/c of rows, p/r of      the means of rows and of columns; the update p, which is a product of
//            columns                  both, and that of the parameter before until the new one is there;
//                                     p/(r c) of means of means; partial sums of norms
//   vector   p                        the squares p, the update p
//
// The weight of a 1 x 1 convolution has rows and columns of one value, so all of these are as large as the
// weight itself. foreach computes the updates of all matrices, then those of all vectors, and keeps the
// former meanwhile.
//
// Adam8bit allocates as bitsandbytes/optim/optimizer.py of 0.44 to 0.50 (Optimizer2State.init_state). A
// parameter of 4,096 values or more has two states of one byte per value, and for both one float per 256
// values: their maximum. Smaller parameters have float states. Two tables of 256 floats are shared. Before
// 0.44, the blocks had 2,048 values.
#include "profiler/whatif/training/lean_optimizers.h"

#include <array>

#include "profiler/whatif/step/cublas.h"
#include "profiler/whatif/step/reduction.h"

namespace vramscope::whatif {
namespace {

constexpr int64_t kFree = 50;          // hundredths before the first and after the last one
constexpr uint64_t kFewValues = 4096;  // min_8bit_size
constexpr uint64_t kBlockValues = 256;
constexpr uint64_t kTable = 256 * kFloatBytes;

class Adafactor {
 public:
  Adafactor(const Step& step, Scene& scene)
      : step_(step),
        scene_(scene),
        workspace_(WorkspaceOfProducts(step)),
        by_triton_(TritonMakesOuterProducts(step)) {}

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
    Position begin;
    uint64_t bytes = 0;
  };

  void AddState(const OptimizerCall& call) {
    Position at = After(call.time.begin);
    for (const TrainedParameter& parameter : call.fresh) {
      const Extent& extent = *parameter.extent;
      if (extent.matrix) {
        Add(parameter, at = After(at), kForever, extent.OfRows());
        Add(parameter, at = After(at), kForever, extent.OfColumns());
      } else {
        Add(parameter, at = After(at), kForever, extent.Bytes());
      }
    }
  }

  // The loop's names keep the values of the parameter before until they are reassigned.
  void ForLoop(const OptimizerCall& call) {
    constexpr int64_t kFirstNorm = 10, kMeans = 30, kEstimate = 50, kUpdate = 70, kNorm = 80;  // percent
    std::array<Pending, 4> named;  // row_mean, col_mean, grad_squared, update
    const auto name = [&](Pending& one, const TrainedParameter& parameter, Position at, Position freed,
                          uint64_t bytes) {
      if (one.parameter != nullptr) Add(*one.parameter, one.begin, freed, one.bytes);
      one = {&parameter, at, bytes};
    };
    for (size_t i = 0; i < call.stepped.size(); ++i) {
      const TrainedParameter& parameter = call.stepped[i];
      const Extent& extent = *parameter.extent;
      const Position means = call.Turn(i, kMeans), estimate = call.Turn(i, kEstimate),
                     update = call.Turn(i, kUpdate);
      AddNorm(parameter, call.Turn(i, kFirstNorm), {{{extent.Values(), 1, true}}});
      if (extent.matrix) {
        AddNorm(parameter, Before(means), OverColumns(extent));
        name(named[0], parameter, means, After(means), extent.OfRows());
        AddNorm(parameter, After(means, 2), OverRows(extent));
        name(named[1], parameter, After(means, 3), After(means, 4), extent.OfColumns());
      } else {
        name(named[2], parameter, means, After(means), extent.Bytes());
      }
      name(named[3], parameter, estimate, update, extent.Bytes());
      if (extent.matrix) {
        AddWorkspace(parameter, After(estimate));
        Add(parameter, After(estimate, 2), Before(update), extent.OfOthers());
      }
      AddNorm(parameter, call.Turn(i, kNorm), {{{extent.Values(), 1, true}}});
    }
    const Position over = call.Turn(call.stepped.size(), 0);
    for (const Pending& one : named) {
      if (one.parameter != nullptr) Add(*one.parameter, one.begin, over, one.bytes);
    }
  }

  void Foreach(const OptimizerCall& call) {
    const bool matrices_first = call.stepped.empty() || call.stepped.front().extent->matrix;
    const int64_t middle = call.Hundredths() / 2, half = middle - kFree;
    // A list of estimates replaces the previous list once it is complete.
    constexpr int64_t kAllEstimated = 55;
    Updates(call, matrices_first, kFree, middle + half * kAllEstimated / 100);
    Updates(call, !matrices_first, middle, middle + half);
  }

  static Reduction OverColumns(const Extent& extent) {
    return {{{extent.others * extent.rows, extent.columns, false}, {extent.columns, 1, true}}};
  }
  static Reduction OverRows(const Extent& extent) {
    if (extent.others == 1) return {{{extent.rows, extent.columns, true}, {extent.columns, 1, false}}};
    return {{{extent.others, extent.rows * extent.columns, false},
             {extent.rows, extent.columns, true},
             {extent.columns, 1, false}}};
  }

  void Add(const TrainedParameter& parameter, Position begin, Position end, uint64_t bytes) {
    AddOptimizerBlock(step_, parameter, begin, end, bytes, scene_);
  }
  void AddNorm(const TrainedParameter& parameter, Position at, const Reduction& reduction) {
    const auto [bytes, counters] = ScratchOf(reduction, device_);
    if (bytes == 0) return;
    Add(parameter, at, Later(at, 3), bytes);
    Add(parameter, Later(at), Later(at, 2), counters);
  }

  void AddWorkspace(const TrainedParameter& parameter, Position at) {
    if (workspace_.bytes == 0 || (by_triton_ && parameter.extent->batched)) return;
    Add(parameter, at, workspace_.stays ? kForever : Later(at), workspace_.bytes);
    if (workspace_.stays) workspace_ = {};
  }

  // For all matrices, or all vectors, in half of the time from `begin` on; the updates stay until `gone`.
  void Updates(const OptimizerCall& call, bool matrices, int64_t begin, int64_t gone) {
    constexpr int64_t kRows = 10, kRowsGone = 20, kColumns = 30, kColumnsGone = 40;  // percent of it
    constexpr int64_t kEstimates = 50, kMeans = 60, kMeansGone = 70;
    const int64_t half = call.Hundredths() / 2 - kFree;
    int64_t turn = 0;
    const auto at = [&](int64_t percent) { return After(call.At(begin + half * percent / 100), turn); };
    for (const TrainedParameter& parameter : call.stepped) {
      const Extent& extent = *parameter.extent;
      if (extent.matrix != matrices) continue;
      ++turn;
      const auto keep = [&](int64_t from, int64_t to, uint64_t bytes) {
        Add(parameter, at(from), at(to), bytes);
      };
      if (matrices) {
        AddNorm(parameter, at(kRows), OverColumns(extent));
        keep(kRows, kRowsGone, extent.OfRows());
        AddNorm(parameter, at(kColumns), OverRows(extent));
        keep(kColumns, kColumnsGone, extent.OfColumns());
        AddWorkspace(parameter, Later(at(kEstimates)));
        keep(kMeans, kMeansGone, extent.OfOthers());
      } else {
        keep(kRows, kRowsGone, extent.Bytes());
      }
      Add(parameter, at(kEstimates), After(call.At(gone), turn), extent.Bytes());
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
                     " is not known: no operator of the recorded step used all of it."};
    }
  }
  return {};
}

void AddStateOf8bit(const Step& step, const OptimizerCall& call, Scene& scene) {
  Position at = After(call.time.begin);
  bool tables = false;
  for (const TrainedParameter& parameter : call.fresh) {
    const auto values = static_cast<uint64_t>(parameter.extent->Values());
    const auto add = [&](uint64_t bytes) {
      AddOptimizerBlock(step, parameter, at = After(at), kForever, bytes, scene);
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
  VRAMSCOPE_TRY(AllSeen(step, calls));
  Adafactor adafactor(step, scene);
  for (const OptimizerCall& call : calls) adafactor.AddCall(call, foreach_way);
  return {};
}

Status AddAdam8bit(const Step& step, const std::vector<OptimizerCall>& calls, Scene& scene) {
  VRAMSCOPE_TRY(AllSeen(step, calls));
  for (const OptimizerCall& call : calls) AddStateOf8bit(step, call, scene);
  return {};
}

}  // namespace vramscope::whatif
