// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/sample_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {

using model::kNone;

int64_t OnlySampleIn(const Step& step, const BatchAxis& axis, const Operand& operand, uint64_t stride) {
  if (axis.second[operand.block] != 0 || !step.shapes[operand.strides].known) return kNoSample;
  for (uint32_t d = 0; d < step.Rank(operand.shape); ++d)
    if (ElementsWithin(step, stride, operand, d) != 0) return kNoSample;
  return static_cast<int64_t>(operand.offset / stride % static_cast<uint64_t>(axis.batch));
}

bool IsGivenOneSample(const Step& step, const BatchAxis& axis, const Op& op) {
  bool given = false;
  for (const Operand& input : InputsOf(step, op)) {
    if (input.block == kNone || axis.stride[input.block] == 0) continue;
    const uint64_t stride = axis.StrideIn(input, axis.stride[input.block]);
    if (stride == 0 || OnlySampleIn(step, axis, input, stride) == kNoSample) return false;
    given = true;
  }
  return given;
}

int64_t SampleParts::SampleIn(const Operand& operand) const {
  if (operand.block == kNone) return kNoSample;
  const uint64_t stride = axis_.StrideIn(operand, axis_.stride[operand.block]);
  return stride == 0 ? sample_[operand.block] : OnlySampleIn(step_, axis_, operand, stride);
}

std::optional<int64_t> SampleParts::SampleGiven(const Op& op) const {
  int64_t sample = kNoSample;
  for (const Operand& input : InputsOf(step_, op)) {
    const int64_t of_input = SampleIn(input);
    const bool batch = input.block != kNone && (axis_.stride[input.block] != 0 || mixed_[input.block]);
    // A state is made of its token and of those before it.
    const bool others = !tokens_ && sample != kNoSample && sample != of_input;
    if (of_input == kNoSample ? batch : others) return {};
    sample = std::max(sample, of_input);
  }
  return sample;
}

void SampleParts::Note(const Op& op, uint32_t block) {
  const std::optional<int64_t> sample = SampleGiven(op);
  if (!sample) return;
  sample_[block] = *sample;
  apart_ |= *sample == axis_.batch - 1;
}

void SampleParts::NoteWritten(const Op& op, uint32_t block) {
  if (axis_.stride[block] != 0 || step_.blocks[block].begin == kBefore || mixed_[block]) return;
  const std::optional<int64_t> sample = SampleGiven(op);
  mixed_[block] =
      !sample || (sample_[block] != kNoSample && *sample != kNoSample && *sample != sample_[block]);
  sample_[block] = mixed_[block] ? kNoSample : std::max(sample_[block], *sample);
}

bool SampleParts::AreOfSamples(std::span<const Operand> parts) const {
  const auto of_each = static_cast<int64_t>(parts.size()) / axis_.batch;
  int64_t place = 0;
  return std::ranges::all_of(parts, [&](const Operand& one) { return SampleIn(one) == place++ / of_each; });
}

// Nothing of a sample is in them, but they are so many, and where samples are gone through.
bool SampleParts::AreMadeForSamples(std::span<const Operand> parts) const {
  std::set<uint32_t> blocks;
  const bool numbers = std::ranges::all_of(parts, [&](const Operand& one) {
    return one.block != kNone && step_.blocks[one.block].begin != kBefore && tables_.Has(one) &&
           axis_.stride[one.block] == 0 && sample_[one.block] == kNoSample && blocks.insert(one.block).second;
  });
  return apart_ && numbers && static_cast<int64_t>(parts.size()) == axis_.batch;
}

uint64_t SampleParts::Padded(const Op& op, const Operand& result) const {
  // Few operators are given so many: names are compared for those alone.
  if (tokens_ || static_cast<int64_t>(op.input_count) != axis_.batch ||
      step_.NameOf(op) != "aten::pad_sequence")
    return 0;
  const std::span<const int64_t> sizes = SizesOf(step_, result), strides = StridesOf(step_, result);
  for (size_t d = 0; d < std::min<size_t>(strides.size(), 2); ++d)
    if (sizes[d] == axis_.batch) return static_cast<uint64_t>(strides[d]);
  return 0;
}

// cat([boxes of the first picture, boxes of the second, ...]), which have as many as there are things in
// them.
uint64_t SampleParts::JoinedUnevenly(std::span<const Operand> parts, const Operand& result) {
  const std::span<const int64_t> joined = SizesOf(step_, result);
  if (tokens_ || static_cast<int64_t>(parts.size()) != axis_.batch || joined.empty() ||
      joined[0] % axis_.batch != 0 || !AreOfSamples(parts))
    return 0;
  int64_t rows = 0;
  for (const Operand& part : parts) {
    const std::span<const int64_t> sizes = SizesOf(step_, part);
    if (sizes.size() != joined.size() || !std::ranges::equal(sizes.subspan(1), joined.subspan(1))) return 0;
    rows += sizes[0];
  }
  if (rows != joined[0]) return 0;
  uneven_.insert(rows);
  return static_cast<uint64_t>(StridesOf(step_, result)[0] * (rows / axis_.batch));
}

uint64_t SampleParts::Joined(const Op& op, const Operand& result) {
  const std::span<const Operand> parts = InputsOf(step_, op);
  const auto count = static_cast<int64_t>(parts.size());
  if (step_.NameOf(op) != "aten::cat" || count == 0 || count % axis_.batch != 0) return 0;
  const std::span<const int64_t> sizes = SizesOf(step_, parts[0]), joined = SizesOf(step_, result);
  const bool alike = std::ranges::all_of(
      parts, [&](const Operand& part) { return std::ranges::equal(SizesOf(step_, part), sizes); });
  if (sizes.size() != joined.size()) return 0;
  if (!alike) return JoinedUnevenly(parts, result);
  const size_t d = std::ranges::mismatch(sizes, joined).in1 - sizes.begin();
  if (d == sizes.size() || joined[d] != count * sizes[d]) return 0;
  const bool made = AreMadeForSamples(parts);
  if (!made && !AreOfSamples(parts)) return 0;
  for (size_t i = 0; made && i < parts.size(); ++i) of_each_[parts[i].block] = static_cast<int64_t>(i);
  return static_cast<uint64_t>(StridesOf(step_, result)[d] * sizes[d] * (count / axis_.batch));
}

std::vector<int64_t> SampleParts::Settle() const {
  std::vector<int64_t> parts = of_each_, sample = sample_;
  // The first that each sample has of a kind, the second... What only some have in another place is of
  // another kind.
  // Operator, outermost one, bytes, parameter, number
  using Alike = std::tuple<uint32_t, uint32_t, uint64_t, uint32_t, uint32_t>;
  std::map<std::tuple<int64_t, uint32_t, uint32_t, uint64_t, uint32_t>, uint32_t> numbers;
  std::map<Alike, std::vector<uint32_t>> kinds;
  for (uint32_t i = 0; i < sample.size(); ++i) {
    const StepBlock& block = step_.blocks[i];
    if (block.copy_of != kNone && sample[i] == kNoSample) sample[i] = sample[block.copy_of];  // a lever's
    const bool of_parameter = block.copy_of != kNone && step_.blocks[block.copy_of].begin == kBefore;
    if (of_parameter && block.op != kNone && step_.ops[block.op].node == kNone)
      sample[i] = SampleGiven(step_.ops[block.op]).value_or(kNoSample);
    const bool made = block.op != kNone || block.copy_of != kNone;
    if (sample[i] == kNoSample || axis_.stride[i] != 0 || !made || block.accumulated < kForever) continue;
    const uint32_t name = block.op == kNone ? kNone : step_.ops[block.op].name;
    const uint32_t maker = OutermostMaker(step_, i), around = maker == kNone ? kNone : step_.ops[maker].name;
    const uint32_t parameter = of_parameter ? block.copy_of : kNone;
    const uint32_t number = numbers[{sample[i], name, around, block.requested, parameter}]++;
    kinds[{name, around, block.requested, parameter, number}].push_back(i);
  }
  for (const auto& [kind, blocks] : kinds) {
    std::set<int64_t> samples;
    Position last_begin = kBefore, first_end = kForever;
    for (const uint32_t i : blocks) {
      samples.insert(sample[i]);
      last_begin = std::max(last_begin, step_.blocks[i].begin);
      first_end = std::min(first_end, step_.blocks[i].end);
    }
    // What one turn of a loop drops before the next is not there more often. Of several samples that have it,
    // as pictures that lie otherwise than others, each has it as often as there is such a sample.
    if (samples.size() < 2 || last_begin >= first_end) continue;
    for (const uint32_t i : blocks) parts[i] = sample[i];
  }
  return parts;
}

}  // namespace vramscope::whatif
