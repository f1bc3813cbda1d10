// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/saved_share.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint8_t kIsOutput = trace::kTensorIsOutput;

struct Seen {
  Position at = 0;  // an operand counts at the start of its operator, a result at its end
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

// The operand that shows the saved tensor: one of the operator that saves it, else the last one before it, or
// the next one.
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

// True if its elements fill one piece of memory, in any order.
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

// The index of the backward pass in which the node ran; step.backward.size() if it ran in none.
size_t PassOf(const Step& step, const Node& node) {
  const auto around = std::find_if(step.backward.begin(), step.backward.end(), [&](const Window& pass) {
    return pass.begin <= node.begin && node.end <= pass.end;
  });
  return static_cast<size_t>(around - step.backward.begin());
}

// By block: when the last graph built from it is destroyed, if none of its nodes ever runs; else kForever.
std::vector<Position> GraphsGone(const Step& step) {
  std::vector<NodeIndex> node(step.ops.size());
  const auto runs = [&](NodeIndex i) { return step.nodes[i].begin < kForever; };
  for (const NodeIndex i : step.nodes.Indices()) {
    const OpIndex op = step.nodes[i].op;
    if (op != kNone && (node[op] == kNone || runs(i))) node[op] = i;
  }
  std::vector<Position> gone;
  for (const StepBlock& block : step.blocks) gone.push_back(block.end);
  std::vector<std::vector<BlockIndex>> made_of(step.blocks.size());
  for (const OpIndex i : step.ops.Indices()) {
    const Op& op = step.ops[i];
    if (node[i] == kNone && op.parent != kNone) node[i] = node[op.parent];
    if (op.node != kNone || node[i] == kNone) continue;
    for (const Operand& from : InputsOf(step, op)) {
      if (from.block == kNone) continue;
      if (runs(node[i])) gone[from.block] = kForever;
      for (const Operand& made : OutputsOf(step, op))
        if (made.block != kNone && made.block != from.block) made_of[from.block].push_back(made.block);
    }
  }
  for (uint32_t i = static_cast<uint32_t>(step.blocks.size()); i-- > 0;)
    for (const BlockIndex made : made_of[i]) gone[i] = std::max(gone[i], made > i ? gone[made] : kForever);
  return gone;
}

// Returns when the results of the node's operator, and everything computed from them, are freed.
Position GoneOf(const Step& step, const Node& node, const std::vector<Position>& graphs) {
  if (node.op == kNone) return kForever;
  Position gone = kBefore;
  for (const Operand& made : OutputsOf(step, step.ops[node.op]))
    if (made.block != kNone) gone = std::max(gone, graphs[made.block]);
  return gone == kBefore ? kForever : gone;
}

}  // namespace

void ReleaseNeverRun(Step& step) {
  std::vector<Position> gone(step.nodes.size(), kForever);
  const std::vector<Position> graphs = GraphsGone(step);
  for (const NodeIndex i : step.nodes.Indices()) gone[i] = GoneOf(step, step.nodes[i], graphs);
  const auto never_runs = [&](const Saved& saved) {
    return saved.node != kNone && saved.released >= kForever && step.nodes[saved.node].begin >= kForever;
  };
  for (const Saved& saved : step.saved)
    if (never_runs(saved)) gone[saved.node] = std::min(gone[saved.node], step.blocks[saved.block].end);
  for (Saved& saved : step.saved)
    if (never_runs(saved)) saved.released = gone[saved.node];
}

void ReleaseUnseen(Step& step) {
  std::vector<Position> released(step.nodes.size(), kBefore);
  std::vector<bool> lets_go(step.backward.size(), false);
  for (const Saved& saved : step.saved) {
    if (saved.node == kNone || saved.released >= kForever) continue;
    released[saved.node] = std::max(released[saved.node], saved.released);
    if (const size_t pass = PassOf(step, step.nodes[saved.node]); pass < lets_go.size()) lets_go[pass] = true;
  }
  const auto unseen = [&](const Saved& saved) {
    if (saved.node == kNone || saved.released < kForever) return false;
    const size_t pass = PassOf(step, step.nodes[saved.node]);
    return released[saved.node] != kBefore || (pass < lets_go.size() && lets_go[pass]);
  };
  // A node without a recorded release: blocks that are freed while it runs give the time.
  for (const Saved& saved : step.saved) {
    const Node& node = step.nodes[saved.node == kNone ? NodeIndex(0) : saved.node];
    const Position end = step.blocks[saved.block].end;
    if (unseen(saved) && end > node.begin && end < node.end)
      released[saved.node] = std::max(released[saved.node], end);
  }
  for (Saved& saved : step.saved) {
    if (unseen(saved))
      saved.released = released[saved.node] != kBefore ? released[saved.node] : step.nodes[saved.node].end;
  }
}

void GiveToCopySlices(Step& step) {
  const auto holds = [&](NodeIndex outer, const Node& inner) {
    return outer < step.nodes.size() && inner.op != kNone && step.nodes[outer].op == inner.op &&
           step.Text(step.nodes[outer].name) == "torch::autograd::CopySlices";
  };
  for (Saved& saved : step.saved) {
    if (saved.node == kNone) continue;
    const Node& inner = step.nodes[saved.node];
    const NodeIndex before(saved.node - 1), behind(saved.node + 1);
    if (saved.node > 0 && holds(before, inner)) {
      saved.node = before;
    } else if (inner.begin >= kForever && holds(behind, inner)) {
      saved.node = behind;
    } else {
      continue;
    }
    const Node& outer = step.nodes[saved.node];
    if (saved.released < kForever && outer.end < kForever)
      saved.released = std::max(saved.released, outer.end);
  }
}

void MeasureSaved(Step& step) {
  GiveToCopySlices(step);
  ReleaseUnseen(step);
  ReleaseNeverRun(step);
  const SeenTensors tensors = Look(step);
  for (Saved& saved : step.saved) {
    const uint32_t index = OperandOf(step, saved, tensors.at(saved.tensor));
    if (index == kNone) continue;
    const Operand& operand = step.operands[index];
    const Shape& shape = step.shapes[operand.shape];
    const uint64_t whole = step.blocks[saved.block].requested;
    if (!shape.known || !step.shapes[operand.strides].known || whole == 0) continue;
    saved.share =
        static_cast<double>(ElementsIn(step, operand) * BytesOf(operand.dtype)) / static_cast<double>(whole);
    saved.gaps = !IsDense(step, operand);
  }
}

}  // namespace vramscope::whatif
