// SPDX-License-Identifier: Apache-2.0
// The reductions of a step that the batch goes into, and which device explains the partial sums that they
// took.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kSlack = uint64_t{1}
                            << 20;  // that the allocator leaves in a block rather than splitting it
constexpr uint64_t kLeast = 512;    // that the allocator hands out
constexpr uint8_t kLong = 4, kHalf = 5, kFloat = 6, kDouble = 7, kBFloat16 = 15;  // c10::ScalarType

constexpr std::string_view kNorm = "aten::linalg_vector_norm";

// What a thread block has of one output.
struct Accumulated {
  uint32_t bytes = 0;  // 0: the operator is no reduction whose partial results are understood
  int64_t vector = 4;
};

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Sources: aten/src/ATen/native/cuda/ReduceSumProdKernel.cu, ReduceNormKernel.cu, ReduceLogicKernel.cu;
// ReduceArgMaxKernel.cu, and max_launch_kernel in ReduceMaxValuesKernel.cu: max(dim) returns values and
// places, max() one value, max(other) the larger ones; WelfordData in SharedReduceOps.h, with a "reducing
// unrolling factor" of 2 in ReduceMomentKernel.cu.
Accumulated AccumulatedBy(const Step& step, const Op& op) {
  constexpr std::string_view kSums[] = {"aten::sum", "aten::mean", "aten::prod", "aten::nansum", kNorm};
  constexpr std::string_view kMoments[] = {"aten::var", "aten::std", "aten::var_mean", "aten::std_mean"};
  constexpr uint32_t kSum = 4;         // floats, of 16-bit types too
  constexpr uint32_t kWideSum = 8;     // of double and int64_t
  constexpr uint32_t kWithPlace = 16;  // a pair of a value of any type and an int64_t
  constexpr uint32_t kMoment = 16;     // two floats and two counts
  const std::string_view name = step.NameOf(op);
  const bool finds = name == "aten::argmax" || name == "aten::argmin" ||
                     ((name == "aten::max" || name == "aten::min") && op.output_count == 2);
  if (finds) return {kWithPlace};
  if (op.input_count == 0) return {};
  const uint8_t dtype = InputsOf(step, op)[0].dtype;
  const bool wide = dtype == kLong || dtype == kDouble;
  const bool floats = dtype == kFloat || dtype == kHalf || dtype == kBFloat16;
  if (IsIn(kMoments, name)) return floats ? Accumulated{kMoment, 2} : Accumulated{};
  if (name == "aten::amax" || name == "aten::amin") return {wide || floats ? BytesOf(dtype) : 0};
  if (!IsIn(kSums, name)) return {};
  return {wide ? kWideSum : floats ? kSum : 0};
}

class Finder {
 public:
  Finder(const Step& step, BatchAxis& axis) : step_(step), axis_(axis) {
    for (uint32_t i = 0; i < step.blocks.size(); ++i) {
      if (step.blocks[i].op != kNone) born_[step.blocks[i].op].push_back(i);
    }
  }

  void Find() {
    for (uint32_t i = 0; i < step_.ops.size(); ++i)
      if (const Accumulated one = AccumulatedBy(step_, step_.ops[i]); one.bytes != 0) Add(i, one);
    ChooseDevice();
    uint32_t unexplained = 0;
    std::erase_if(axis_.reductions, [&](const BatchReduction& one) {
      if (Explains(one, axis_.device)) return false;
      if (one.block != kNone) {
        axis_.stride[one.block] = 1;  // taken to grow like everything else
        ++unexplained;
      }
      return true;
    });
    if (unexplained != 0)
      axis_.notes.push_back(std::to_string(unexplained) +
                            " reductions took partial sums whose size is not understood; they are taken to "
                            "grow with the batch");
  }

 private:
  void Add(uint32_t index, Accumulated accumulated) {
    const Op& op = step_.ops[index];
    if (op.input_count == 0) return;
    const Operand& input = step_.operands[op.first_input];
    if (input.block == kNone || axis_.stride[input.block] == 0 || !step_.shapes[input.strides].known) return;
    // A lever took away what it summed up, as the gradient of logits that are never there as a whole: it does
    // not run.
    if (step_.blocks[input.block].requested == 0) return;
    BatchReduction found;
    found.op = index;
    found.reduction.accumulated_bytes = accumulated.bytes, found.reduction.vector = accumulated.vector;
    FindScratch(op, found);
    const uint32_t rank = step_.Rank(input.shape);
    const std::vector<bool> reduced = ReducedOf(step_.Text(op.dims), rank);
    for (uint32_t d = 0; d < rank; ++d) {
      ReducedDimension dimension{step_.Dims(input.shape)[d], step_.Dims(input.strides)[d], reduced[d]};
      if (ElementsOfSample(step_, axis_, input, d) != 0) {
        // Of a dimension that holds the batch, what one sample has of it.
        for (const int64_t beside : {axis_.BesideIn(input.block), int64_t{0}}) {
          if (dimension.batch != 0 || dimension.size % (axis_.batch + beside) != 0) continue;
          dimension.batch = dimension.size / (axis_.batch + beside), dimension.beside = beside;
        }
      }
      found.reduction.dimensions.push_back(dimension);
    }
    axis_.reductions.push_back(std::move(found));
  }

  // Of what the operator made and did not hand out the largest block, and the one behind it. What has no
  // bytes a lever took away.
  void FindScratch(const Op& op, BatchReduction& found) const {
    const auto born = born_.find(found.op);
    if (born == born_.end()) return;
    const auto bytes = [&](uint32_t block) { return block == kNone ? 0 : step_.blocks[block].requested; };
    for (const uint32_t block : born->second) {
      const auto is_block = [&](const Operand& output) { return output.block == block; };
      if (bytes(block) == 0 || std::ranges::any_of(OutputsOf(step_, op), is_block)) continue;
      if (bytes(block) > bytes(found.block))
        found.block = block, found.counters = kNone;
      else if (found.counters == kNone)
        found.counters = block;
    }
  }

  [[nodiscard]] bool Explains(const BatchReduction& one, Multiprocessors device) const {
    const uint64_t bytes = ScratchOf(one.reduction, device).sums;
    const uint64_t recorded = one.block == kNone ? 0 : step_.blocks[one.block].requested;
    return one.block == kNone ? bytes == 0
                              : bytes != 0 && bytes <= recorded && recorded - bytes < kSlack &&
                                    (recorded < kSlack ? recorded - bytes < 512 : true);
  }

  void ChooseDevice() {
    size_t best = 0;
    for (const Multiprocessors& device : KnownMultiprocessors()) {
      const auto explained = static_cast<size_t>(
          std::count_if(axis_.reductions.begin(), axis_.reductions.end(),
                        [&](const BatchReduction& one) { return Explains(one, device); }));
      if (explained > best) best = explained, axis_.device = device;
    }
  }

  const Step& step_;
  BatchAxis& axis_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> born_;
};

}  // namespace

uint64_t PlaceOfDims(std::string_view op) { return op == kNorm ? 2 : 1; }

std::vector<bool> ReducedOf(std::string_view text, uint32_t rank) {
  std::vector<bool> reduced(rank, false);
  bool any = false;
  for (size_t i = 0; i < text.size(); ++i) {
    int64_t d = 0;
    const auto [next, error] = std::from_chars(text.data() + i, text.data() + text.size(), d);
    if (error != std::errc()) {
      if (text[i] == '[' || text[i] == ',' || text[i] == ' ' || text[i] == ']') continue;
      break;  // no list: another argument
    }
    i = static_cast<size_t>(next - text.data());
    if (d < 0) d += rank;
    if (d >= 0 && d < rank) reduced[static_cast<size_t>(d)] = any = true;
  }
  if (!any) reduced.assign(rank, true);
  return reduced;
}

uint32_t SummedFrom(const Step& step, const Op& op, uint32_t block) {
  const uint64_t bytes = step.blocks[block].requested;
  for (const Operand& operand : InputsOf(step, op)) {
    if (operand.block == kNone || step.Rank(operand.shape) == 0) continue;
    const uint64_t elements = BytesUpTo(step, operand);
    if (elements == bytes || (bytes > kLeast && elements == 2 * bytes)) return operand.block;
  }
  return kNone;
}

void FindReductions(const Step& step, BatchAxis& axis) { Finder(step, axis).Find(); }

}  // namespace vramscope::whatif
