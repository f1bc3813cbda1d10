// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/saved_share.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint8_t kIsOutput = trace::kTensorIsOutput;

struct Seen {
  Position at = 0;  // an operand at the begin of its operator, a result at its end
  uint32_t operand = kNone;
};
using SeenTensors = std::unordered_map<uint64_t, std::vector<Seen>>;

SeenTensors Look(const Step& step) {
  SeenTensors tensors;
  for (const Saved& saved : step.saved) tensors.try_emplace(saved.tensor);
  for (uint32_t i = 0; i < step.operands.size(); ++i) {
    const Operand& operand = step.operands[i];
    const auto found = tensors.find(operand.tensor);
    if (found == tensors.end()) continue;
    const Op& op = step.ops[operand.op];
    found->second.push_back({(operand.flags & kIsOutput) != 0 ? op.end : op.begin, i});
  }
  for (auto& [tensor, seen] : tensors)
    std::stable_sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.at < b.at; });
  return tensors;
}

// The operand or result of the operator that keeps it; else the last one before, else the next one.
uint32_t OperandOf(const Step& step, const Saved& saved, const std::vector<Seen>& seen) {
  const auto fits = [&](const Seen& one) { return step.operands[one.operand].block == saved.block; };
  const auto open = [&](const Seen& one) {
    const Op& op = step.ops[step.operands[one.operand].op];
    return op.begin <= saved.at && saved.at <= op.end;
  };
  auto later = std::upper_bound(seen.begin(), seen.end(), saved.at,
                                [](Position at, const Seen& one) { return at < one.at; });
  const Seen* earlier = nullptr;
  for (auto one = later; one != seen.begin() && earlier == nullptr;) {
    if (fits(*--one)) earlier = &*one;
  }
  while (later != seen.end() && !fits(*later)) ++later;
  const bool result = later != seen.end() && open(*later) && (earlier == nullptr || !open(*earlier));
  if (result || earlier == nullptr) return later == seen.end() ? kNone : later->operand;
  return earlier->operand;
}

// Whether its elements fill one piece of memory, in whatever order.
bool IsDense(const Step& step, const Operand& operand) {
  std::vector<std::pair<int64_t, int64_t>> dimensions;  // stride, size
  for (uint32_t d = 0; d < step.Rank(operand.shape); ++d) {
    if (const int64_t size = step.Dims(operand.shape)[d]; size != 1)
      dimensions.emplace_back(step.Dims(operand.strides)[d], size);
  }
  std::sort(dimensions.begin(), dimensions.end());
  int64_t inside = 1;
  for (const auto& [stride, size] : dimensions) {
    if (stride != inside) return false;
    inside *= size;
  }
  return true;
}

}  // namespace

void ReleaseLists(Step& step) {
  std::vector<Position> released(step.nodes.size(), kBefore);
  for (const Saved& saved : step.saved) {
    if (saved.node != kNone && saved.released < kForever)
      released[saved.node] = std::max(released[saved.node], saved.released);
  }
  for (Saved& saved : step.saved) {
    if (saved.node != kNone && saved.released >= kForever && released[saved.node] != kBefore)
      saved.released = released[saved.node];
  }
}

void MeasureSaved(Step& step) {
  ReleaseLists(step);
  const SeenTensors tensors = Look(step);
  for (Saved& saved : step.saved) {
    const uint32_t index = OperandOf(step, saved, tensors.at(saved.tensor));
    if (index == kNone) continue;
    const Operand& operand = step.operands[index];
    const Shape& shape = step.shapes[operand.shape];
    const uint64_t whole = step.blocks[saved.block].requested;
    if (!shape.known || !step.shapes[operand.strides].known || whole == 0) continue;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < shape.count; ++d) elements *= static_cast<uint64_t>(step.Dims(operand.shape)[d]);
    saved.share = static_cast<double>(elements * BytesOf(operand.dtype)) / static_cast<double>(whole);
    saved.gaps = !IsDense(step, operand);
  }
}

}  // namespace vramscope::whatif
