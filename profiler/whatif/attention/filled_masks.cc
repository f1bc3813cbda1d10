// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/attention/filled_masks.h"

#include <algorithm>
#include <span>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint16_t kGivenMask = 3;  // argument of the operator around kEfficientCall

// aligned_tensor<8> in attention.cpp.
bool IsAligned(std::span<const int64_t> strides) {
  const auto aligned = [](int64_t stride) { return stride % int64_t{kMaskUnit} == 0; };
  return strides.back() == 1 && std::all_of(strides.begin(), strides.end() - 1, aligned);
}

}  // namespace

// Its mask is one of the whole size by now, expanded: what was given is told by the operator around it.
void FilledMasks::Begin(const Op& op) {
  if (step_.NameOf(op) != kEfficientCall || op.parent == kNone) return;
  const Op& attention = step_.ops[op.parent];
  const std::span<const Operand> given = InputsOf(step_, attention);
  const auto mask = std::ranges::find(given, kGivenMask, &Operand::argument);
  if (mask == given.end() || mask->block == kNone || step_.Rank(mask->shape) == 0 ||
      !step_.shapes[mask->strides].known || !versions_.IsCopy(mask->block))
    return;
  const uint32_t copy = versions_.Current(mask->block);
  const Position made = versions_.MadeAt(copy);
  if (made < attention.begin || made > op.begin) return;
  const std::span<const int64_t> sizes = SizesOf(step_, *mask);
  // What did not lie so before was filled up in the recorded step, too, where the operator shows.
  const std::span<const int64_t> lay = StridesOf(step_, *mask);
  if (!IsAligned(lay) || IsAligned(StridesOfResult(sizes, lay))) return;
  const auto columns = static_cast<uint64_t>(sizes.back());
  const uint64_t bytes =
      versions_.BytesOfVersion(copy) / columns * (columns + kMaskUnit - columns % kMaskUnit);
  versions_.Used(mask->block, op.begin + kStride);
  versions_.CopyInto(bytes, mask->block, versions_.TypeOfVersion(copy), op.begin + kStride, op.parent);
  given_.push_back({op.parent, mask->block, copy});
}

void FilledMasks::End(const Op& op) {
  while (!given_.empty() && &step_.ops[given_.back().op] == &op) {
    versions_.SetCurrent(given_.back().block, given_.back().version);
    given_.pop_back();
  }
}

}  // namespace vramscope::whatif
