// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/fixed_pieces.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "profiler/whatif/sizes/carried_axis.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Two slices may be a share of the samples, and the rest.
constexpr size_t kLeastSlices = 3;

// Rows of a piece where `pieces` are all rows of `whole`, one piece behind the other, each of as many rows
// but for the last, which may have fewer; and where they are not what a share of the batch is: whole samples,
// in pieces that are all alike. Else 0.
int64_t RowsOf(const Step& step, const BatchAxis& axis, const Operand& whole,
               std::span<const Operand> pieces) {
  if (whole.block == kNone || pieces.size() < 2 || !step.shapes[whole.strides].known) return 0;
  const auto place = PlaceIn(step, axis, whole, axis.stride[whole.block]);
  if (!place) return 0;
  const std::span<const int64_t> sizes = SizesOf(step, whole);
  const uint32_t d = place->dimension;
  const auto of_sample = static_cast<int64_t>(place->inner);
  if (sizes[d] != axis.batch * of_sample) return 0;
  const int64_t rows = step.Rank(pieces[0].shape) == sizes.size() ? SizesOf(step, pieces[0])[d] : 0;
  int64_t seen = 0;
  for (const Operand& piece : pieces) {
    const std::span<const int64_t> own = SizesOf(step, piece);
    const uint64_t before = static_cast<uint64_t>(seen * StridesOf(step, whole)[d]);
    if (own.size() != sizes.size() || own[d] != std::min(rows, sizes[d] - seen) || own[d] == 0 ||
        piece.offset != whole.offset + before)
      return 0;
    seen += own[d];
  }
  const bool all = seen == sizes[d];
  return all && (rows % of_sample != 0 || sizes[d] % rows != 0) ? rows : 0;
}

}  // namespace

int64_t RowsOfFixedPieces(const Step& step, const BatchAxis& axis) {
  using View = std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>;
  std::map<View, std::vector<Operand>> slices;
  int64_t found = 0;
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.input_count == 0 || op.output_count == 0) continue;
    const Operand& whole = InputsOf(step, op)[0];
    // chunk() is told how many pieces there are to be.
    const bool told = op.parent == kNone || step.NameOf(step.ops[op.parent]) != "aten::chunk";
    if (step.NameOf(op) == "aten::split" && told)
      found = std::max(found, RowsOf(step, axis, whole, OutputsOf(step, op)));
    if (step.NameOf(op) == "aten::slice" && whole.block != kNone && axis.stride[whole.block] != 0)
      slices[{whole.block, whole.shape, whole.strides, whole.offset}].push_back(OutputsOf(step, op)[0]);
  }
  for (const auto& [view, pieces] : slices) {
    if (pieces.size() < kLeastSlices) continue;
    const auto& [block, shape, strides, offset] = view;
    Operand whole = pieces[0];
    whole.block = block, whole.shape = shape, whole.strides = strides, whole.offset = offset;
    found = std::max(found, RowsOf(step, axis, whole, pieces));
  }
  return found;
}

}  // namespace vramscope::whatif
