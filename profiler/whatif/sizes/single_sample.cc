// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/single_sample.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/sizes/copied_views.h"
#include "profiler/whatif/step/reduction.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint8_t kInt64 = 4, kDouble = 7;  // c10::ScalarType
constexpr size_t kMatrix = 2;               // dimensions of it, the last ones

// What CUB's DeviceScan keeps of its tiles, of which a row has fewer than the 32 that it always reserves:
// beside a value of 8 bytes a status does not fit into one word (cub/agent/single_pass_scan_operators.cuh).
uint64_t ScratchOfScan(uint8_t dtype) { return dtype == kInt64 || dtype == kDouble ? 1536 : 1024; }

// cumsum(dim) of what is one row then: the whole device scans it (ATen/native/cuda/ScanUtils.cuh).
bool ScansOneRow(const Step& step, const BatchAxis& axis, const Op& op) {
  if (step.NameOf(op) != "aten::cumsum" || op.input_count == 0) return false;
  const Operand& operand = InputsOf(step, op)[0];
  if (operand.block == kNone || axis.stride[operand.block] == 0) return false;
  const std::span<const int64_t> sizes = SizesOf(step, operand);
  const auto rows = static_cast<uint64_t>(axis.batch);
  return !sizes.empty() && sizes.size() > 1 &&
         ElementsIn(step, operand) == rows * static_cast<uint64_t>(sizes.back());
}

// Without gaps, as one sample alone: what lies so with all of them is copied for another order, as a weight
// beside images with their channels last (contiguous(channels_last)).
bool IsContiguous(const Step& step, const BatchAxis& axis, const Operand& operand) {
  const std::span<const int64_t> sizes = SizesOf(step, operand), strides = StridesOf(step, operand);
  const uint64_t batch = operand.block == kNone ? 0 : axis.StrideIn(operand, axis.stride[operand.block]);
  if (sizes.size() != strides.size() || LiesWithoutGaps(sizes, strides)) return false;
  Extents one(sizes.begin(), sizes.end());
  for (size_t d = 0; d < one.size(); ++d) {
    const bool samples = strides[d] == 0 || static_cast<uint64_t>(strides[d]) == batch;
    if (one[d] == axis.batch && samples) one[d] = 1;
  }
  return LiesWithoutGaps(one, strides);
}

// The gradient of x.repeat(batch, 1, 1), the sum over what was repeated: nothing is repeated for one sample
// (repeat_backward in torch/csrc/autograd/FunctionsManual.cpp).
bool SumsRepeated(const Step& step, const BatchAxis& axis, const Op& op) {
  if (op.node == kNone || step.NameOf(op) != "aten::sum" || op.input_count == 0 || op.output_count == 0)
    return false;
  if (!step.Text(step.nodes[op.node].name).starts_with("RepeatBackward")) return false;
  const Operand& from = InputsOf(step, op)[0];
  const std::span<const int64_t> sizes = SizesOf(step, from), summed = SizesOf(step, OutputsOf(step, op)[0]);
  if (sizes.empty() || sizes[0] != axis.batch || ElementsOfSample(step, axis, from, 0) == 0) return false;
  const std::vector<bool> reduced = ReducedOf(step.Text(op.dims), static_cast<uint32_t>(sizes.size()));
  return reduced[0] && std::find(reduced.begin() + 1, reduced.end(), true) == reduced.end() &&
         std::ranges::equal(sizes.subspan(1), summed);
}

// Distances in what is summed so, of the dimensions of a view of the sum: those are what the view has without
// the sum. Nothing where a dimension of the view is none of the sum's.
std::optional<Extents> StridesWithoutSum(const Step& step, const BatchAxis& axis, const Operand& view) {
  const uint32_t maker = view.block == kNone ? kNone : step.blocks[view.block].op;
  if (maker == kNone || !SumsRepeated(step, axis, step.ops[maker])) return std::nullopt;
  const Operand &from = InputsOf(step, step.ops[maker])[0], &sum = OutputsOf(step, step.ops[maker])[0];
  const std::span<const int64_t> sizes = SizesOf(step, sum), strides = StridesOf(step, sum);
  const std::span<const int64_t> shown = SizesOf(step, view), before = StridesOf(step, from);
  Extents without(StridesOf(step, view).begin(), StridesOf(step, view).end());
  if (shown.size() != without.size() || sizes.size() != strides.size()) return std::nullopt;
  for (size_t d = 0; d < shown.size(); ++d) {
    if (shown[d] == 1) continue;
    size_t same = 0;
    while (same < sizes.size() && (sizes[same] != shown[d] || strides[same] != without[d])) ++same;
    if (same == sizes.size() || same + 1 >= before.size()) return std::nullopt;
    without[d] = before[same + 1];
  }
  return without;
}

// reshape() of what has the samples, or was expanded to them, as one sample, or of what was repeated for
// them: whether that takes no copy.
bool IsViewed(const Step& step, const BatchAxis& axis, const Op& reshape) {
  if (reshape.output_count == 0) return false;
  const Operand &from = InputsOf(step, reshape)[0], &to = OutputsOf(step, reshape)[0];
  if (const std::optional<Extents> without = StridesWithoutSum(step, axis, from))
    return StridesOfView(SizesOf(step, from), *without, SizesOf(step, to)).has_value();
  return ViewOfOneSample(step, axis, reshape).has_value();
}

// The sum over the samples that is the gradient of what was expanded to them, or added to each of them:
// autograd leaves out a sum that changes no size (sum_to in aten/src/ATen/ExpandUtils.h).
bool SumsSamples(const Step& step, const BatchAxis& axis, const Op& op) {
  if (op.node == kNone || step.NameOf(op) != "aten::sum" || op.output_count == 0) return false;
  if (op.input_count == 0) return false;
  const Operand &from = InputsOf(step, op)[0], &to = OutputsOf(step, op)[0];
  const std::span<const int64_t> sizes = SizesOf(step, from), summed = SizesOf(step, to);
  for (const Op* next = &op + 1; next < step.ops.data() + step.ops.size() && next->node == op.node; ++next) {
    if (next->begin > op.end && next->input_count != 0 && InputsOf(step, *next)[0].block == to.block) {
      if (step.NameOf(*next) == "aten::view") return false;
      break;
    }
  }
  return !sizes.empty() && sizes.size() == summed.size() && sizes[0] == axis.batch && summed[0] == 1 &&
         ElementsOfSample(step, axis, from, 0) != 0 &&
         std::equal(sizes.begin() + 1, sizes.end(), summed.begin() + 1);
}

// What an addition hands on to a parameter goes elsewhere too, so it is copied to be the parameter's
// gradient.
Position ClonedAt(const Step& step, uint32_t sum) {
  const StepBlock& block = step.blocks[sum];
  const uint32_t node = block.op == kNone ? kNone : step.ops[block.op].node;
  const bool added = node != kNone && step.Text(step.nodes[node].name).starts_with("AddBackward");
  return added && block.leaf == kNone ? block.accumulated : kForever;
}

// The dimension of x.repeat(batch, 1, 1) that the samples are in: the first, or, of a parameter, the second,
// which has one element, where the program has time or queries first: queries.unsqueeze(1).repeat(1, batch,
// 1).
std::optional<uint32_t> RepeatedForSamples(const Step& step, const BatchAxis& axis, const Op& op) {
  if (step.NameOf(op) != "aten::repeat" || op.input_count == 0) return std::nullopt;
  const std::string_view repeats = step.Text(op.dims);
  const std::string batch = std::to_string(axis.batch);
  if (repeats.starts_with("[" + batch + ",")) return 0;
  const Operand& from = InputsOf(step, op)[0];
  const std::span<const int64_t> sizes = SizesOf(step, from);
  const bool kept = from.block != kNone && step.blocks[from.block].category == Category::kParameter;
  const bool second = kept && sizes.size() == 3 && sizes[1] == 1 && repeats == "[1," + batch + ",1]";
  return second ? std::optional<uint32_t>(1) : std::nullopt;
}

// torch.cat([x] * batch)
bool JoinsForSamples(const Step& step, const BatchAxis& axis, const Op& op) {
  const std::span<const Operand> parts = InputsOf(step, op);
  if (step.NameOf(op) != "aten::cat" || static_cast<int64_t>(parts.size()) != axis.batch) return false;
  const std::span<const int64_t> sizes = SizesOf(step, parts[0]);
  const std::span<const int64_t> joined = SizesOf(step, OutputsOf(step, op)[0]);
  const auto is_first = [&](const Operand& part) {
    return part.block != kNone && IsSameView(step, part, parts[0]);
  };
  return !sizes.empty() && joined.size() == sizes.size() && joined[0] == axis.batch * sizes[0] &&
         std::ranges::all_of(parts, is_first);
}

// queries.expand(batch, -1, -1), transposed: torch.nn.MultiheadAttention(batch_first=True) puts the samples
// behind the queries (torch/nn/modules/activation.py). `view`, one of `op`'s, has no distance along `d`.
bool WasExpandedFirst(const Step& step, const BatchAxis& axis, const Op& op, const Operand& view,
                      uint32_t d) {
  if (view.block == kNone) return false;
  const std::span<const int64_t> sizes = SizesOf(step, view), strides = StridesOf(step, view);
  for (uint32_t other = 0; other < sizes.size(); ++other)
    if (other != d && sizes[other] == axis.batch && strides[other] == 0) return false;  // which is not known
  for (const Op* made = &op; made != step.ops.data() && made->end > step.blocks[view.block].begin; --made) {
    const Op& before = made[-1];
    if (before.input_count == 0 || before.output_count == 0 ||
        !IsSameView(step, OutputsOf(step, before)[0], view))
      continue;
    if (step.NameOf(before) != "aten::transpose" && step.NameOf(before) != "aten::permute") continue;
    const Operand& from = InputsOf(step, before)[0];
    return from.block == view.block && step.Rank(from.strides) == sizes.size() &&
           step.Rank(from.shape) == sizes.size() && step.Dims(from.shape)[0] == axis.batch &&
           step.Dims(from.strides)[0] == 0;
  }
  return false;
}

// matmul() of what has no samples and of what has them, in `[samples, heads, ...]`: it expands the first to
// these, and copies it where they become one dimension (_matmul_impl in
// aten/src/ATen/native/LinearAlgebra.cpp).
uint64_t ExpandedInProduct(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result) {
  uint32_t product = op.parent;
  while (product != kNone && step.NameOf(step.ops[product]) != "aten::matmul")
    product = step.ops[product].parent;
  if (product == kNone) return 0;
  const std::span<const int64_t> sizes = SizesOf(step, result), strides = StridesOf(step, result);
  for (const Operand& other : InputsOf(step, step.ops[product])) {
    const std::span<const int64_t> of = SizesOf(step, other);
    if (other.block == kNone || of.size() > sizes.size()) continue;
    const size_t missing = sizes.size() - of.size();
    for (size_t d = missing; d + kMatrix < sizes.size(); ++d) {
      if (of[d - missing] != sizes[d] || !WritesOutExpanded(step, op, result, static_cast<uint32_t>(d)))
        continue;
      const uint64_t inner = ElementsOfSample(step, axis, other, static_cast<uint32_t>(d - missing));
      if (inner != 0) return inner * static_cast<uint64_t>(strides[d]);
    }
  }
  return 0;
}

bool IsWithin(const Step& step, uint32_t op, uint32_t around) {
  while (op != kNone && op != around) op = step.ops[op].parent;
  return op == around;
}

uint32_t ReshapeOf(const Step& step, uint32_t block) {
  uint32_t op = step.blocks[block].op;
  while (op != kNone && step.NameOf(step.ops[op]) != "aten::reshape") op = step.ops[op].parent;
  return op;
}

// What a lever made of a block in another type, which an operator was given in its place when it made `copy`:
// the one that was made for this operator, or for one around it; else, where the block itself was gone, the
// last one. kNone: the operator was given the block.
uint32_t GivenInstead(const Step& step, const Scene& scene, const std::vector<size_t>& itself,
                      const std::vector<size_t>& versions, const Block& copy) {
  const auto is_there = [&](size_t i) {
    return scene.blocks[i].begin < copy.begin && copy.begin <= scene.blocks[i].end;
  };
  uint32_t last = kNone;
  for (const size_t i : versions) {
    if (!is_there(i) || scene.blocks[i].bytes < copy.bytes) continue;
    const uint32_t version = scene.blocks[i].origin;
    if (step.blocks[version].op != kNone &&
        IsWithin(step, step.blocks[copy.origin].op, step.blocks[version].op))
      return version;
    if (last == kNone || step.blocks[last].begin < step.blocks[version].begin) last = version;
  }
  return std::ranges::any_of(itself, is_there) ? kNone : last;
}

}  // namespace

bool IsIndexOfSamples(const Step& step, const BatchAxis& axis, const Op& op) {
  uint32_t index = op.parent;
  while (index != kNone && step.NameOf(step.ops[index]) != "aten::index") index = step.ops[index].parent;
  if (index == kNone || step.ops[index].input_count == 0) return false;
  const Operand& indexed = InputsOf(step, step.ops[index])[0];
  return indexed.block != kNone && axis.stride[indexed.block] != 0 && step.Rank(indexed.shape) > 0 &&
         step.Dims(indexed.shape)[0] == axis.batch;
}

uint64_t ExpandedAxis(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result,
                      bool time_first) {
  const uint32_t rank = step.Rank(result.shape);
  if (rank < 2 || !step.shapes[result.strides].known) return 0;
  const std::span<const int64_t> sizes = SizesOf(step, result), strides = StridesOf(step, result);
  if (const std::optional<uint32_t> d = RepeatedForSamples(step, axis, op))
    return static_cast<uint64_t>(sizes[*d] / axis.batch * strides[*d]);
  if (sizes[0] == axis.batch && IsIndexOfSamples(step, axis, op)) return static_cast<uint64_t>(strides[0]);
  if (JoinsForSamples(step, axis, op)) return static_cast<uint64_t>(sizes[0] / axis.batch * strides[0]);
  const bool joins = step.NameOf(op) == "aten::cat";  // parts that were expanded before
  for (const Operand& operand : InputsOf(step, op)) {
    if (step.Rank(operand.strides) != rank || step.Rank(operand.shape) != rank) continue;
    const std::span<const int64_t> from = SizesOf(step, operand), apart = StridesOf(step, operand);
    uint32_t end = time_first ? 2 : 1;
    while (end < rank && from[end - 1] > 1 && apart[end - 1] == 0) ++end;
    for (uint32_t d = 0; d < rank; ++d)
      if ((sizes[d] == axis.batch || joins) && from[d] == axis.batch && apart[d] == 0 &&
          (d < end || WasExpandedFirst(step, axis, op, operand, d)))
        return static_cast<uint64_t>(strides[d]);
  }
  return ExpandedInProduct(step, axis, op, result);
}

bool TakesExpanded(const Step& step, const Op& op, int64_t size) {
  const std::span<const Operand> inputs = InputsOf(step, op);
  return std::any_of(inputs.begin(), inputs.end(), [&](const Operand& operand) {
    return IsExpanded(SizesOf(step, operand), StridesOf(step, operand), size);
  });
}

bool WritesOutExpanded(const Step& step, const Op& op, const Operand& result, uint32_t d) {
  const std::span<const int64_t> sizes = SizesOf(step, result);
  return std::ranges::any_of(InputsOf(step, op), [&](const Operand& operand) {
    const std::span<const int64_t> from = SizesOf(step, operand), apart = StridesOf(step, operand);
    return from.size() == sizes.size() && apart.size() == from.size() && from[d] == sizes[d] && apart[d] == 0;
  });
}

uint32_t CopiedForSamples(const Step& step, const BatchAxis& axis, uint32_t block) {
  uint32_t op = step.blocks[block].op;
  const auto copies = [&](const Op& call) {
    return step.NameOf(call) == "aten::contiguous" || step.NameOf(call) == "aten::reshape" ||
           SumsSamples(step, axis, call) || SumsRepeated(step, axis, call);
  };
  while (op != kNone && !copies(step.ops[op])) op = step.ops[op].parent;
  if (op == kNone || step.ops[op].input_count == 0) return kNone;
  const Operand& from = InputsOf(step, step.ops[op])[0];
  if (from.block == kNone || from.block == block) return kNone;
  const std::string_view name = step.NameOf(step.ops[op]);
  const bool same = name == "aten::contiguous" ? IsContiguous(step, axis, from)
                    : name == "aten::reshape"  ? IsViewed(step, axis, step.ops[op])
                                               : OutputsOf(step, step.ops[op])[0].block == block;
  return same ? from.block : kNone;
}

void LeaveOutCopiesForSamples(const Step& step, const BatchAxis& axis, Scene& scene) {
  std::unordered_map<uint32_t, std::vector<size_t>> at, versions;  // by block of the step
  for (size_t i = 0; i < scene.blocks.size(); ++i) {
    const uint32_t origin = scene.blocks[i].origin;
    if (origin == kNone) continue;
    at[origin].push_back(i);
    if (step.blocks[origin].copy_of != kNone) versions[step.blocks[origin].copy_of].push_back(i);
  }
  std::vector<std::pair<size_t, uint32_t>> copies;  // into scene.blocks, and the block that it is a copy of
  for (size_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& copy = scene.blocks[i];
    if (copy.origin == kNone || copy.birth != Birth::kEachStep) continue;
    if (const uint32_t from = CopiedForSamples(step, axis, copy.origin); from != kNone)
      copies.emplace_back(i, from);
  }
  // From the last one on: of a copy of a copy the first has to stay as long as the second.
  std::sort(copies.begin(), copies.end(), [&](const auto& a, const auto& b) {
    return scene.blocks[a.first].begin > scene.blocks[b.first].begin;
  });
  std::vector<Block> instead;
  for (const auto& [index, from] : copies) {
    Block& copy = scene.blocks[index];
    const uint32_t given = GivenInstead(step, scene, at[from], versions[from], copy);
    if (const uint32_t op = ReshapeOf(step, copy.origin); op != kNone)
      std::ranges::copy(CopiesOfViews(step, axis, step.ops[op], copy), std::back_inserter(instead));
    if (const Position cloned = ClonedAt(step, copy.origin); cloned < kForever) {
      copy.begin = cloned;
    } else {
      copy.bytes = 0;
      // Of a parameter it is the gradient itself, to which the next parts of a batch are added.
      const bool one = given == kNone && at[from].size() == 1;
      Block* const source =
          one && step.blocks[copy.origin].IsParametersGradient() ? &scene.blocks[at[from][0]] : nullptr;
      if (source != nullptr && source->begin < copy.begin && copy.begin <= source->end &&
          source->bytes != 0) {
        copy.begin = source->begin, copy.bytes = std::exchange(source->bytes, 0);
        continue;
      }
    }
    // Where a lever made several of one, the one that is there when this is copied.
    for (const size_t i : at[given == kNone ? from : given]) {
      Block& source = scene.blocks[i];
      if (source.begin < copy.begin && copy.begin <= source.end) source.end = std::max(source.end, copy.end);
    }
  }
  std::ranges::copy(instead, std::back_inserter(scene.blocks));
}

void AddScans(const Step& step, const BatchAxis& axis, Scene& scene) {
  constexpr Position kBeforeFree = 2.5;  // before the operator's end, which frees what it converted
  for (const Op& op : step.ops) {
    if (!ScansOneRow(step, axis, op)) continue;
    const uint8_t dtype = OutputsOf(step, op).empty() ? kInt64 : OutputsOf(step, op)[0].dtype;
    AddScratch(op, kBeforeFree, ScratchOfScan(dtype), scene);
  }
}

}  // namespace vramscope::whatif
