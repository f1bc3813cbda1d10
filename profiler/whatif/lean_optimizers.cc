// SPDX-License-Identifier: Apache-2.0
// As torch/optim/_adafactor.py of 2.5 to 2.15 allocates. p = bytes of one parameter [.., r, c]:
//
//            state                    while it steps
//   matrix   p/c of rows, p/r of      the means of rows and of columns; the update p, and that of the
//   parameter
//            columns                  before until the new one is there; partial sums of norms
//   vector   p                        the squares p, the update p
//
// foreach computes the updates of all matrices, then those of all vectors, and keeps the former meanwhile.
//
// As bitsandbytes/optim/optimizer.py of 0.44 to 0.50 allocates (Optimizer2State.init_state): a parameter of
// 4,096 values or more has two states of a byte a value and the largest of each 256 as a float for both;
// smaller ones have floats. Two tables of 256 floats are shared. Before 0.44 it was the largest of each
// 2,048.
#include "profiler/whatif/lean_optimizers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "profiler/whatif/batch_axis.h"

namespace vramscope::whatif {
namespace {

constexpr Position kHair = 1e-6;
constexpr uint64_t kFloat = 4;
constexpr uint64_t kFewValues = 4096;  // min_8bit_size
constexpr uint64_t kBlockValues = 256;
constexpr uint64_t kTable = 256 * kFloat;

// A parameter as [others, rows, columns]; a vector has one row.
struct Extent {
  int64_t others = 1, rows = 1, columns = 1;
  bool matrix = false;
  uint32_t element = 4;

  [[nodiscard]] uint64_t Bytes() const { return static_cast<uint64_t>(others * rows * columns) * element; }
  [[nodiscard]] uint64_t OfRows() const { return static_cast<uint64_t>(others * rows) * element; }
  [[nodiscard]] uint64_t OfColumns() const { return static_cast<uint64_t>(others * columns) * element; }
};

// From operands that are the whole parameter, in the order of its memory.
std::vector<std::optional<Extent>> ExtentsOf(const Step& step) {
  std::vector<std::optional<Extent>> extents(step.blocks.size());
  for (const Operand& operand : step.operands) {
    if (operand.block == model::kNone || extents[operand.block] || !step.shapes[operand.strides].known)
      continue;
    const uint32_t rank = step.Rank(operand.shape);
    std::vector<int64_t> dims(step.Dims(operand.shape), step.Dims(operand.shape) + rank);
    std::vector<int64_t> strides(step.Dims(operand.strides), step.Dims(operand.strides) + rank);
    if (rank == 2 && strides[0] < strides[1]) {  // a layer sees its weight transposed
      std::swap(dims[0], dims[1]);
      std::swap(strides[0], strides[1]);
    }
    Extent extent;
    extent.element = BytesOf(operand.dtype);
    extent.matrix = rank > 1;
    int64_t expected = 1;
    bool plain = true;
    for (uint32_t d = rank; d-- > 0;) {
      plain &= strides[d] == expected || dims[d] == 1;
      expected *= dims[d];
      (d + 1 == rank ? extent.columns : d + 2 == rank ? extent.rows : extent.others) *= dims[d];
    }
    // In 16 bits as a lever wrote it, the operand still has the recorded type.
    const uint64_t whole = step.blocks[operand.block].requested;
    if (!plain || (extent.Bytes() != whole && extent.Bytes() != 2 * whole)) continue;
    if (extent.Bytes() != whole) extent.element /= 2;
    extents[operand.block] = extent;
  }
  return extents;
}

// What cuBLAS takes for a product and gives back, as far as the step shows it.
uint64_t WorkspaceOf(const Step& step) {
  uint64_t bytes = 0;
  for (const StepBlock& block : step.blocks) {
    if (block.workspace && block.begin != kBefore && block.op != model::kNone &&
        step.NameOf(step.ops[block.op]) == "aten::mm")
      bytes = std::max(bytes, block.requested);
  }
  return bytes;
}

class Adafactor {
 public:
  Adafactor(const Step& step, const std::vector<std::optional<Extent>>& extents, Scene& scene)
      : step_(step), extents_(extents), scene_(scene), workspace_(WorkspaceOf(step)) {
    if (const Result<BatchAxis>& axis = FollowBatch(step); axis.ok()) device_ = axis->device;
    width_ = (scene.optimizer_end - scene.optimizer_begin) / static_cast<Position>(step.trained.size() + 2);
  }

  void AddState() {
    Position at = scene_.optimizer_begin + kHair;
    for (const uint32_t parameter : step_.trained) {
      const Extent& extent = *extents_[parameter];
      if (extent.matrix) {
        Add(parameter, at += kHair, kForever, extent.OfRows());
        Add(parameter, at += kHair, kForever, extent.OfColumns());
      } else {
        Add(parameter, at += kHair, kForever, extent.Bytes());
      }
    }
  }

  // Names of the loop keep what the parameter before left in them until they are given the new one.
  void ForLoop() {
    constexpr Position kMeans = 0.3, kEstimate = 0.5, kUpdate = 0.7, kNorm = 0.8;
    Position begin = scene_.optimizer_begin + width_ / 2;
    std::array<Pending, 4> named;  // row_mean, col_mean, grad_squared, update
    const auto name = [&](Pending& one, uint32_t parameter, Position at, Position freed, uint64_t bytes) {
      if (one.bytes != 0) Add(one.parameter, one.begin, freed, one.bytes);
      one = {parameter, at, bytes};
    };
    for (const uint32_t parameter : step_.trained) {
      const Extent& extent = *extents_[parameter];
      const auto at = [&](Position share) { return begin + width_ * share; };
      AddNorm(parameter, at(0.1), {{{All(extent), 1, true, 0}}});
      if (extent.matrix) {
        AddNorm(parameter, at(kMeans) - kHair, OverColumns(extent));
        name(named[0], parameter, at(kMeans), at(kMeans) + kHair, extent.OfRows());
        AddNorm(parameter, at(kMeans) + 2 * kHair, OverRows(extent));
        name(named[1], parameter, at(kMeans) + 3 * kHair, at(kMeans) + 4 * kHair, extent.OfColumns());
      } else {
        name(named[2], parameter, at(kMeans), at(kMeans) + kHair, extent.Bytes());
      }
      name(named[3], parameter, at(kEstimate), at(kUpdate), extent.Bytes());
      if (extent.matrix) AddWorkspace(parameter, at(kEstimate) + kHair);
      AddNorm(parameter, at(kNorm), {{{All(extent), 1, true, 0}}});
      begin += width_;
    }
    for (const Pending& one : named) {
      if (one.bytes != 0) Add(one.parameter, one.begin, begin, one.bytes);
    }
  }

  void Foreach() {
    const Position begin = scene_.optimizer_begin + width_ / 2;
    const Position end = scene_.optimizer_end - width_ / 2;
    const bool matrices_first = step_.trained.empty() || extents_[step_.trained.front()]->matrix;
    const Position middle = (begin + end) / 2;
    Updates(matrices_first, begin, middle, middle + (end - middle) / 2);
    Updates(!matrices_first, middle, end, end);
  }

 private:
  struct Pending {
    uint32_t parameter = 0;
    Position begin = 0;
    uint64_t bytes = 0;
  };

  static int64_t All(const Extent& extent) { return extent.others * extent.rows * extent.columns; }
  static Reduction OverColumns(const Extent& extent) {
    return {{{extent.others * extent.rows, extent.columns, false, 0}, {extent.columns, 1, true, 0}}};
  }
  static Reduction OverRows(const Extent& extent) {
    if (extent.others == 1) return {{{extent.rows, extent.columns, true, 0}, {extent.columns, 1, false, 0}}};
    return {{{extent.others, extent.rows * extent.columns, false, 0},
             {extent.rows, extent.columns, true, 0},
             {extent.columns, 1, false, 0}}};
  }

  void Add(uint32_t parameter, Position begin, Position end, uint64_t bytes) {
    AddOptimizerBlock(step_, parameter, begin, end, bytes, scene_);
  }
  void AddNorm(uint32_t parameter, Position at, const Reduction& reduction) {
    if (const uint64_t bytes = ScratchOf(reduction, device_); bytes != 0)
      Add(parameter, at, at + kHair / 2, bytes);
  }

  void AddWorkspace(uint32_t parameter, Position at) {
    if (workspace_ != 0) Add(parameter, at, at + kHair / 2, workspace_);
  }

  // Of all matrices, or of all vectors, in `begin` to `end`; the updates stay until `gone`.
  void Updates(bool matrices, Position begin, Position end, Position gone) {
    constexpr Position kMeans = 0.1, kMeansGone = 0.2, kEstimates = 0.5;
    const auto at = [&](Position share) { return begin + (end - begin) * share; };
    Position more = 0;
    for (const uint32_t parameter : step_.trained) {
      const Extent& extent = *extents_[parameter];
      if (extent.matrix != matrices) continue;
      more += kHair;
      if (matrices) {
        AddNorm(parameter, at(kMeans) + more, OverColumns(extent));
        Add(parameter, at(kMeans) + more, at(kMeansGone) + more, extent.OfRows());
        AddNorm(parameter, at(2 * kMeans) + more, OverRows(extent));
      } else {
        Add(parameter, at(kMeans) + more, at(kMeansGone) + more, extent.Bytes());
      }
      Add(parameter, at(kEstimates) + more, gone + more, extent.Bytes());
      if (matrices) AddWorkspace(parameter, at(kEstimates) + more + kHair / 4);
    }
  }

  const Step& step_;
  const std::vector<std::optional<Extent>>& extents_;
  Scene& scene_;
  const uint64_t workspace_;
  Multiprocessors device_;
  Position width_ = 0;
};

Status AllSeen(const Step& step, const std::vector<std::optional<Extent>>& extents) {
  for (const uint32_t parameter : step.trained) {
    if (!extents[parameter])
      return Error{"the shape of the parameter " + std::string(step.blocks[parameter].name) +
                   " was not seen: no operator of the recorded step had the whole of it."};
  }
  return {};
}

}  // namespace

void AddOptimizerBlock(const Step& step, uint32_t parameter, Position begin, Position end, uint64_t bytes,
                       Scene& scene) {
  using classify::Category;
  Block block;
  block.begin = begin;
  block.end = end;
  block.bytes = bytes;
  block.birth = end >= kForever ? Birth::kOnce : Birth::kEachStep;
  block.category = end >= kForever ? Category::kOptimizerState : Category::kTemporaryOptimizer;
  block.stream = step.blocks[parameter].stream;
  scene.blocks.push_back(block);
}

Status AddAdafactor(const Step& step, bool foreach_way, Scene& scene) {
  const std::vector<std::optional<Extent>> extents = ExtentsOf(step);
  if (const Status seen = AllSeen(step, extents); !seen.ok()) return seen;
  Adafactor adafactor(step, extents, scene);
  adafactor.AddState();
  if (foreach_way)
    adafactor.Foreach();
  else
    adafactor.ForLoop();
  return {};
}

Status AddAdam8bit(const Step& step, Scene& scene) {
  const std::vector<std::optional<Extent>> extents = ExtentsOf(step);
  if (const Status seen = AllSeen(step, extents); !seen.ok()) return seen;
  Position at = scene.optimizer_begin + kHair;
  bool tables = false;
  for (const uint32_t parameter : step.trained) {
    const uint64_t values = extents[parameter]->Bytes() / extents[parameter]->element;
    const auto add = [&](uint64_t bytes) {
      AddOptimizerBlock(step, parameter, at += kHair, kForever, bytes, scene);
    };
    if (values < kFewValues) {
      add(values * kFloat);
      add(values * kFloat);
      continue;
    }
    if (!tables) add(kTable), add(kTable);
    tables = true;
    add(values);
    add(values);
    for (int i = 0; i < 2; ++i) add((values + kBlockValues - 1) / kBlockValues * kFloat);
  }
  return {};
}

}  // namespace vramscope::whatif
