// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/trained.h"

#include <algorithm>
#include <unordered_map>

namespace vramscope::whatif {
namespace {

using model::kNone;

// A parameter in a block, as an operator received it.
struct Leaf {
  uint64_t offset = 0;  // in elements
  uint64_t values = 0;
  uint32_t element = 4;  // bytes of one value

  [[nodiscard]] uint64_t Bytes() const { return values * element; }
};

// Number of values of an operand that is contiguous, or that is the transpose of a contiguous matrix; 0 for
// any other operand.
uint64_t ValuesOf(const Step& step, const Operand& operand) {
  if (!step.shapes[operand.strides].known) return 0;
  const uint32_t rank = step.Rank(operand.shape);
  std::vector<int64_t> dims(step.Dims(operand.shape), step.Dims(operand.shape) + rank);
  std::vector<int64_t> strides(step.Dims(operand.strides), step.Dims(operand.strides) + rank);
  if (rank == 2 && strides[0] < strides[1]) {
    std::swap(dims[0], dims[1]);
    std::swap(strides[0], strides[1]);
  }
  int64_t expected = 1;
  for (uint32_t d = rank; d-- > 0;) {
    if (strides[d] != expected && dims[d] != 1) return 0;
    expected *= dims[d];
  }
  return static_cast<uint64_t>(expected);
}

bool IsParameter(const Operand& operand) {
  constexpr uint64_t kBoth = trace::kTensorIsLeaf | trace::kTensorRequiresGrad;
  return (operand.flags & kBoth) == kBoth;
}

void Look(const Step& step, const Operand& operand, std::vector<Leaf>& leaves) {
  if (!IsParameter(operand)) return;
  const uint64_t values = ValuesOf(step, operand);
  const auto here = [&](const Leaf& leaf) { return leaf.offset == operand.offset; };
  if (values != 0 && std::none_of(leaves.begin(), leaves.end(), here))
    leaves.push_back({operand.offset, values, BytesOf(operand.dtype)});
}

// True if the block has several leaves that do not overlap. False if it is smaller than its leaves: it then
// holds one rank's shard of them.
bool SharedOut(std::vector<Leaf> leaves, uint64_t requested) {
  uint64_t bytes = 0;
  for (const Leaf& leaf : leaves) bytes += leaf.Bytes();
  if (bytes > requested) return false;
  std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.offset < b.offset; });
  const auto into_next = [](const Leaf& one, const Leaf& next) {
    return one.offset + one.values > next.offset;
  };
  return leaves.size() > 1 && std::adjacent_find(leaves.begin(), leaves.end(), into_next) == leaves.end();
}

// By block: its place in the order in which operators of a window first use trained blocks; kNone for others.
using TurnOfBlock = std::vector<uint32_t>;

TurnOfBlock WorkedOn(const Step& step, const Window& window) {
  TurnOfBlock turns(step.blocks.size(), kNone);
  uint32_t next = 0;
  for (const Op& op : step.ops) {
    if (op.begin < window.begin || op.begin >= window.end) continue;
    for (const Operand& operand : InputsOf(step, op)) {
      if (std::binary_search(step.trained.begin(), step.trained.end(), operand.block) &&
          turns[operand.block] == kNone)
        turns[operand.block] = next++;
    }
  }
  return turns;
}

// parameters() lists a module's own parameters before those of its layers. But __init__ may have created the
// layers first: patch_embed before class_token. If no recorded operator steps one of the parameters, all of
// them keep the order of their allocation.
void PutInTurn(const TurnOfBlock& turns, std::vector<TrainedParameter>& parameters) {
  const auto unseen = [&](const TrainedParameter& one) { return turns[one.block] == kNone; };
  const auto before = [&](const TrainedParameter& a, const TrainedParameter& b) {
    return turns[a.block] < turns[b.block];
  };
  if (std::ranges::any_of(parameters, unseen) || std::ranges::is_sorted(parameters, before)) return;
  std::stable_sort(parameters.begin(), parameters.end(), before);
}

// Facts that the recorded step shows about its optimizers, independent of levers.
struct Stepped {
  std::vector<TrainedParameter> all;
  std::vector<TurnOfBlock> turns;  // by optimizer step
};

const Stepped& SteppedIn(const Step& step) {
  return step.stepped.Get([&] {
    Stepped stepped{TrainedParameters(step), {}};
    for (const Window& window : step.optimizer) stepped.turns.push_back(WorkedOn(step, window));
    return stepped;
  });
}

}  // namespace

std::vector<TrainedParameter> TrainedParameters(const Step& step) {
  std::unordered_map<BlockIndex, std::vector<Leaf>> seen;
  for (const BlockIndex block : step.trained) seen[block];
  for (const Operand& operand : step.operands) {
    if (const auto found = seen.find(operand.block); found != seen.end()) Look(step, operand, found->second);
  }
  std::vector<TrainedParameter> parameters;
  for (const BlockIndex block : step.trained) {
    const std::vector<Leaf>& leaves = seen[block];
    const uint64_t requested = step.blocks[block].requested;
    if (SharedOut(leaves, requested)) {
      for (const Leaf& leaf : leaves) parameters.push_back({block, leaf.Bytes()});
    } else {
      parameters.push_back({block, requested});
    }
  }
  return parameters;
}

Result<std::vector<OptimizerCall>> OptimizerCalls(const Step& step, const std::vector<Window>& times) {
  const auto& [all, turns] = SteppedIn(step);
  if (times.empty()) return Error{"no optimizer step was recorded in the step."};
  if (step.trained.empty())
    return Error{
        "no gradient of a parameter was recorded. Record with the autograd hooks (vramscope info shows which "
        "are in place)."};
  const bool only = times.size() == 1;
  std::vector<OptimizerCall> calls;
  std::vector<bool> before(step.blocks.size(), false);  // blocks that already have state
  for (size_t i = 0; i < times.size(); ++i) {
    if (i > 0 && times[i].begin < times[i - 1].end)
      return Error{"an optimizer of the recorded step runs inside the step of another optimizer."};
    OptimizerCall call{times[i], {}, {}};
    static const TurnOfBlock kNobody;
    const TurnOfBlock& own = i < turns.size() ? turns[i] : kNobody;
    const bool none = std::ranges::all_of(own, [](uint32_t turn) { return turn == kNone; });
    if (none && !only)
      return Error{"of the step's " + std::to_string(times.size()) +
                   " optimizer steps, one uses no PyTorch operators, so the parameters that it updates are "
                   "not known."};
    for (const TrainedParameter& parameter : all) {
      if (!only && own[parameter.block] == kNone) continue;
      call.stepped.push_back(parameter);
      if (!before[parameter.block]) call.fresh.push_back(parameter);
    }
    if (!none) {
      PutInTurn(own, call.stepped);
      PutInTurn(own, call.fresh);
    }
    for (const TrainedParameter& parameter : call.stepped) before[parameter.block] = true;
    calls.push_back(std::move(call));
  }
  return calls;
}

size_t CountOptimizers(const std::vector<OptimizerCall>& calls) {
  return static_cast<size_t>(std::count_if(calls.begin(), calls.end(),
                                           [](const OptimizerCall& call) { return !call.fresh.empty(); }));
}

}  // namespace vramscope::whatif
