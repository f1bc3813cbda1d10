// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/layouts.h"

#include <algorithm>
#include <span>

namespace vramscope::whatif {

using model::kNone;

namespace {

bool HasStrides(const Step& step, const Operand& tensor) {
  return tensor.block != kNone && step.shapes[tensor.strides].known &&
         step.Rank(tensor.strides) == step.Rank(tensor.shape);
}

Extents ResultOf(const Step& step, const Operand& tensor) {
  return StridesOfResult(SizesOf(step, tensor), StridesOf(step, tensor));
}

}  // namespace

void Layouts::Computed(const Op& op) {
  if (op.contiguous || (layouts_.empty() && op.node == kNone)) return;
  if (ClonesForNothing(op))
    versions_.LeaveOut(OutputsOf(step_, op)[0].block, InputsOf(step_, op)[0].block);
  else if (op.node == kNone)
    NoteResults(op);
}

// In the record it returns what it was given.
void Layouts::Converted(const Op& op) {
  if (!op.contiguous || op.input_count == 0 || op.output_count == 0) return;
  const Operand& tensor = OutputsOf(step_, op)[0];
  if (!HasStrides(step_, tensor) || tensor.block != InputsOf(step_, op)[0].block) return;
  const Position made = versions_.MadeAt(versions_.Current(tensor.block));
  if (versions_.IsCopy(tensor.block) && op.begin < made && made < op.end)
    Note(tensor, StridesWithoutGaps(SizesOf(step_, tensor)));
}

void Layouts::Copied(const Operand& from, uint32_t before) {
  if (const auto now = StridesNow(from, before)) Note(from, StridesOfResult(SizesOf(step_, from), *now));
}

// Each dimension of a view goes along one of what it views: every fourth row, or the first ones.
std::optional<Extents> Layouts::StridesNow(const Operand& tensor, uint32_t version) const {
  if (!HasStrides(step_, tensor)) return std::nullopt;
  const auto found = layouts_.find({tensor.block, version});
  if (found == layouts_.end()) return std::nullopt;
  const Layout& whole = found->second;
  const std::span<const int64_t> sizes = SizesOf(step_, tensor), strides = StridesOf(step_, tensor);
  Extents now(strides.begin(), strides.end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] == 0 || sizes[d] == 1) continue;
    size_t along = whole.sizes.size();
    for (size_t i = 0; i < whole.sizes.size(); ++i) {
      const int64_t one = whole.recorded[i];
      const bool within = strides[d] % one == 0 && strides[d] / one * (sizes[d] - 1) < whole.sizes[i];
      if (within && (along == whole.sizes.size() || one > whole.recorded[along])) along = i;
    }
    if (along == whole.sizes.size()) return std::nullopt;
    now[d] = strides[d] / whole.recorded[along] * whole.now[along];
  }
  return now;
}

void Layouts::Note(const Operand& tensor, Extents now) {
  const std::span<const int64_t> sizes = SizesOf(step_, tensor), strides = StridesOf(step_, tensor);
  const bool told = std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride > 0; });
  if (!told || std::ranges::equal(strides, now)) return;
  layouts_[{tensor.block, versions_.Current(tensor.block)}] = {
      {sizes.begin(), sizes.end()}, {strides.begin(), strides.end()}, std::move(now)};
}

// Results that lie like the first operand of their sizes lie like it now.
void Layouts::NoteResults(const Op& op) {
  for (const Operand& result : OutputsOf(step_, op)) {
    if (!HasStrides(step_, result) || step_.blocks[result.block].begin < op.begin) continue;
    for (const Operand& given : InputsOf(step_, op)) {
      if (!HasStrides(step_, given) || given.block == result.block ||
          !std::ranges::equal(SizesOf(step_, given), SizesOf(step_, result)) ||
          !std::ranges::equal(ResultOf(step_, given), StridesOf(step_, result)))
        continue;
      if (const auto now = StridesNow(given)) Note(result, StridesOfResult(SizesOf(step_, result), *now));
      break;
    }
  }
}

std::optional<Extents> Layouts::StridesOfPart(const Operand& gradient) const {
  if (!HasStrides(step_, gradient) || !versions_.IsCopy(gradient.block)) return std::nullopt;
  const std::span<const int64_t> sizes = SizesOf(step_, gradient), strides = StridesOf(step_, gradient);
  const uint32_t copy = versions_.Current(gradient.block);
  const uint64_t bytes = ElementsIn(step_, gradient) * BytesOf(versions_.TypeOfVersion(copy));
  if (versions_.BytesOfVersion(copy) != bytes ||
      std::ranges::any_of(strides, [](int64_t d) { return d <= 0; }))
    return std::nullopt;
  return StridesOfResult(sizes, strides);
}

// reshape(), of what can be viewed so now, and contiguous().
bool Layouts::ClonesForNothing(const Op& op) const {
  if (step_.NameOf(op) != "aten::clone" || op.parent == kNone || op.input_count == 0 || op.output_count == 0)
    return false;
  const Op& around = step_.ops[op.parent];
  const Operand &given = InputsOf(step_, op)[0], &made = OutputsOf(step_, op)[0];
  const bool joins = step_.NameOf(around) == "aten::reshape";
  if ((!joins && step_.NameOf(around) != "aten::contiguous") || around.output_count == 0 ||
      !HasStrides(step_, made) || !LiesWithoutGaps(SizesOf(step_, made), StridesOf(step_, made)))
    return false;
  const auto now = op.node == kNone ? StridesNow(given) : StridesOfPart(given);
  if (!now) return false;
  const std::span<const int64_t> sizes = SizesOf(step_, given);
  return joins ? StridesOfView(sizes, *now, SizesOf(step_, OutputsOf(step_, around)[0])).has_value()
               : LiesWithoutGaps(sizes, *now);
}

}  // namespace vramscope::whatif
