// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "profiler/whatif/precision/moments.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

// Without backward nothing tells a batch from other tensors; it is what the model works on and did not make,
// and what is none of its own.
bool IsInput(const Step& step, const Operand& operand) {
  const StepBlock& block = step.blocks[operand.block];
  if (block.category == Category::kInput) return true;
  const Position begin = step.ForwardBegin();
  return step.OnlyForward() && block.begin < begin && step.ops[operand.op].begin >= begin &&
         block.category != Category::kParameter && block.category != Category::kBuffer &&
         (operand.flags & trace::kTensorRequiresGrad) == 0;
}

// Questions [8, 32] and two passages for each of them [16, 128], both words of one vocabulary, or of two as
// large, in a table for each of two models: how many there are of each.
bool AreWordsOfSeveralCounts(const Step& step) {
  std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> counts;  // by the sizes of a table
  for (const Op& op : step.ops) {
    const std::span<const Operand> given = InputsOf(step, op);
    if (op.node != kNone || given.size() < 2 || step.NameOf(op) != "aten::embedding") continue;
    const std::span<const int64_t> table = SizesOf(step, given[0]), words = SizesOf(step, given[1]);
    if (given[1].block == kNone || !IsInput(step, given[1]) || table.size() != 2 || words.size() != 2)
      continue;
    counts[{table[0], table[1]}].insert(words[0]);
  }
  return std::ranges::any_of(counts, [](const auto& of_table) { return of_table.second.size() > 1; });
}

// Graphs whose nodes and edges lie one behind the other: nodes [320, 7], edges [1440, 3] and [16] answers are
// 16 samples. 0: the first dimensions are no such multiples of one of them.
int64_t SharedBy(const Step& step, const std::map<int64_t, uint32_t>& votes) {
  constexpr size_t kEnough = 3;  // two of them may be so by chance
  const int64_t least = votes.empty() ? 0 : votes.begin()->first;
  const bool multiples =
      least > 1 && std::ranges::all_of(votes, [&](const auto& vote) { return vote.first % least == 0; });
  if (!multiples || votes.size() < 2) return 0;
  return votes.size() >= kEnough || AreWordsOfSeveralCounts(step) ? least : 0;
}

// What a loop hands over with a batch has the samples somewhere, and numbers that are measured are no
// positions, which may be as many by chance: no dimension is as long as there are samples, so that they lie
// in a longer one.
bool IsOfNoSuchSize(const Step& step, const Operand& operand, int64_t samples) {
  const std::span<const int64_t> sizes = SizesOf(step, operand);
  return step.blocks[operand.block].category == Category::kInput && samples > 1 && IsFloat(operand) &&
         std::ranges::find(sizes, samples) == sizes.end();
}

// Patches of all pictures of a batch: [64, 768] beside ids [4, 32].
bool LieBehindEachOther(const Step& step, const Operand& operand, int64_t samples) {
  const std::span<const int64_t> sizes = SizesOf(step, operand);
  return IsOfNoSuchSize(step, operand, samples) && sizes.size() > 1 && sizes[0] % samples == 0;
}

// Patches of all pictures one behind the other in a row: [1, 3, 14, 3584] beside ids [4, 32], as NaViT packs
// them. The dimension; the rank where there is none.
uint32_t PackedInto(const Step& step, const Operand& operand, int64_t samples) {
  const std::span<const int64_t> sizes = SizesOf(step, operand);
  const auto rank = static_cast<uint32_t>(sizes.size());
  if (!IsOfNoSuchSize(step, operand, samples) || rank < 3 || sizes[0] != 1) return rank;
  const auto longest = std::ranges::max_element(sizes);
  return *longest % samples == 0 && std::ranges::count(sizes, *longest) == 1
             ? static_cast<uint32_t>(longest - sizes.begin())
             : rank;
}

// labels.transpose(0, 1) == names.view(-1, 1, 1, 1): numbers that every place of every sample is held against
// are a list of classes, which may be as many as samples by chance.
std::set<uint32_t> ListsOfClasses(const Step& step) {
  std::set<uint32_t> lists;
  const auto is_given = [&](const Operand& operand) {
    return operand.block != kNone && IsInput(step, operand) && !IsFloat(operand);
  };
  for (const Op& op : step.ops) {
    const std::span<const Operand> given = InputsOf(step, op);
    if (op.node != kNone || given.size() != 2 || step.NameOf(op) != "aten::eq") continue;
    for (const auto& [list, places] : {std::pair(given[0], given[1]), std::pair(given[1], given[0])}) {
      const std::span<const int64_t> names = SizesOf(step, list), held = SizesOf(step, places);
      if (!is_given(list) || !is_given(places) || names.size() < 3 || names.size() != held.size()) continue;
      const auto long_one = std::ranges::find_if(names, [](int64_t size) { return size != 1; });
      const auto d = static_cast<size_t>(long_one - names.begin());
      const bool across = d < names.size() && held[d] == 1 &&
                          std::all_of(long_one + 1, names.end(), [](int64_t size) { return size == 1; });
      if (across && std::ranges::count_if(held, [](int64_t size) { return size > 1; }) > 1)
        lists.insert(list.block);
    }
  }
  return lists;
}

}  // namespace

Samples FindSamples(const Step& step) {
  Samples samples;
  const std::set<uint32_t> classes = ListsOfClasses(step);
  std::map<int64_t, uint32_t> votes;
  std::vector<const Operand*> inputs;
  std::vector<bool> seen(step.blocks.size(), false);
  for (const Operand& operand : step.operands) {
    if (operand.block == kNone || seen[operand.block] || !IsInput(step, operand)) continue;
    if (step.Rank(operand.shape) == 0 || !step.shapes[operand.strides].known) continue;
    if (classes.contains(operand.block)) continue;
    seen[operand.block] = true;
    ++votes[step.Dims(operand.shape)[0]];
    inputs.push_back(&operand);
  }
  for (const auto& [size, count] : votes) {
    const uint32_t most = samples.count == 0 ? 0 : votes[samples.count];
    if (count > most || (count == most && size > 1 && samples.count <= 1)) samples.count = size;
  }
  const int64_t shared = SharedBy(step, votes);
  if (shared != 0) samples.count = shared;
  for (const Operand* const operand : inputs) {
    const int64_t rows = step.Dims(operand->shape)[0];
    if (const uint32_t d = PackedInto(step, *operand, samples.count); d < step.Rank(operand->shape))
      samples.inputs.emplace_back(operand->block,
                                  static_cast<uint64_t>(step.Dims(operand->shape)[d] / samples.count *
                                                        step.Dims(operand->strides)[d]));
    if (rows == samples.count || shared != 0 || LieBehindEachOther(step, *operand, samples.count))
      samples.inputs.emplace_back(
          operand->block, static_cast<uint64_t>(rows / samples.count * step.Dims(operand->strides)[0]));
  }
  return samples;
}

}  // namespace vramscope::whatif
