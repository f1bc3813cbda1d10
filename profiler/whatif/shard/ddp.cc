// SPDX-License-Identifier: Apache-2.0
// DistributedDataParallel's buckets (torch/csrc/distributed/c10d/reducer.cpp) and ZeroRedundancyOptimizer's
// partition (torch/distributed/optim/zero_redundancy_optimizer.py).
//
//   DDP(model)      parameters and buffers in flat blocks of 250 MiB, for a broadcast; freed after it
//                   one bucket of all gradients, because the order of gradients is not known yet
//   second forward  this bucket is freed, and those of 25 MiB are allocated
//   each forward    buffers in a flat block, for a broadcast; freed after it
//
// So the reserved memory of later steps depends on the holes of the first one.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint64_t kFirstBucket = 1ull << 20;  // kDefaultFirstBucketBytes
constexpr uint64_t kBucket = 25ull << 20;      // kDefaultBucketBytesCap
constexpr uint64_t kBroadcast = 250ull << 20;  // broadcast_bucket_size

// Blocks that autograd accumulated as gradients of parameters in the step, in that order.
std::vector<BlockIndex> GradientsInOrder(const Step& step) {
  std::vector<BlockIndex> gradients;
  for (const BlockIndex i : step.blocks.Indices()) {
    if (step.blocks[i].IsParametersGradient()) gradients.push_back(i);
  }
  std::sort(gradients.begin(), gradients.end(), [&](BlockIndex a, BlockIndex b) {
    return step.blocks[a].accumulated < step.blocks[b].accumulated;
  });
  return gradients;
}

// By block: its gradients that autograd accumulated, in order. Several parameters may share one block, such
// as the weights of cuDNN's recurrent networks. Each of their gradients still arrives by itself.
std::map<BlockIndex, std::vector<Operand>> TakenOf(const Step& step) {
  std::map<BlockIndex, std::vector<Operand>> taken;
  for (const Op& op : step.ops) {
    if (op.input_count == 0 || step.NameOf(op) != "torch::autograd::AccumulateGrad") continue;
    const Operand& gradient = InputsOf(step, op)[0];
    if (gradient.block != kNone) taken[gradient.block].push_back(gradient);
  }
  return taken;
}

// Bytes of each part; the whole block if the parts do not cover it or are not contiguous.
std::vector<uint64_t> BytesOfEach(const Step& step, const std::vector<Operand>& parts, uint64_t whole) {
  uint64_t elements = 0;
  std::set<uint64_t> places;
  for (const Operand& part : parts) elements += ElementsIn(step, part), places.insert(part.offset);
  if (places.size() < 2 || places.size() != parts.size() || whole % elements != 0) return {whole};
  std::vector<uint64_t> bytes;
  for (const Operand& part : parts) bytes.push_back(whole / elements * ElementsIn(step, part));
  return bytes;
}

StepBlock Flat(uint64_t bytes, BlockIndex like, const Step& step) {
  StepBlock flat;
  flat.id = kNone;
  flat.requested = bytes;
  flat.copy_of = like;
  flat.stream = step.blocks[like].stream;
  flat.category = Category::kCommunication;
  return flat;
}

// Blocks that existed before the step and stay, in order.
std::vector<BlockIndex> Lasting(const Step& step, Category category) {
  std::vector<BlockIndex> found;
  for (const BlockIndex i : step.blocks.Indices()) {
    const StepBlock& block = step.blocks[i];
    if (block.category == category && block.begin == kBefore && block.end >= kForever) found.push_back(i);
  }
  return found;
}

// Buffers that forward replaces by new tensors, such as a range of recorded values.
std::vector<BlockIndex> Replaced(const Step& step) {
  std::vector<BlockIndex> found;
  for (const BlockIndex i : step.blocks.Indices()) {
    const StepBlock& block = step.blocks[i];
    if (block.category == Category::kBuffer && block.begin == kBefore && block.end < kForever &&
        !block.name.empty())
      found.push_back(i);
  }
  return found;
}

// Until the next forward starts, DDP's list of buffers holds the buffers that the last forward started with
// (DistributedDataParallel._assign_modules_buffers). So each replaced buffer always exists twice.
void HoldReplaced(const Step& step, Position forward, Step& changed) {
  for (const BlockIndex buffer : Replaced(step)) {
    changed.blocks[buffer].end = std::min(step.blocks[buffer].end, HooksAfter(forward, 1));
    StepBlock held = Flat(step.blocks[buffer].requested, buffer, step);
    held.category = Category::kBuffer;
    changed.blocks.push_back(held);
  }
}

// compute_bucket_assignment_by_size: groups tensors of one type until the group has `limit` bytes.
class Coalescer {
 public:
  explicit Coalescer(const Step& step) : step_(step), types_(step.blocks.size(), 0) {
    for (const Operand& operand : step.operands)
      if (operand.block != kNone) types_[operand.block] = operand.dtype;
    TypeUnused();
  }
  // Bytes of the flat blocks, in the order of the first tensor in each; 0: a single tensor is not copied.
  [[nodiscard]] std::vector<uint64_t> Flats(const std::vector<BlockIndex>& blocks, uint64_t limit) const {
    struct Open {
      uint64_t bytes = 0;
      size_t tensors = 0, first = 0;
    };
    std::map<uint8_t, Open> open;
    std::map<size_t, uint64_t> flats;  // by the index of their first tensor
    const auto close = [&](Open& one) {
      if (one.tensors != 0) flats[one.first] = one.tensors > 1 ? one.bytes : 0;
      one = {};
    };
    for (size_t i = 0; i < blocks.size(); ++i) {
      Open& one = open[types_[blocks[i]]];
      if (one.tensors++ == 0) one.first = i;
      one.bytes += step_.blocks[blocks[i]].requested;
      if (one.bytes >= limit) close(one);
    }
    for (auto& [type, one] : open) close(one);
    std::vector<uint64_t> in_order;
    for (const auto& [first, bytes] : flats) in_order.push_back(bytes);
    return in_order;
  }

 private:
  // Parameters that no operator of the step received get the most common type: a model has one main type.
  void TypeUnused() {
    std::map<uint8_t, size_t> parameters;  // by type
    const auto is_parameter = [&](size_t i) { return step_.blocks[i].category == Category::kParameter; };
    for (size_t i = 0; i < types_.size(); ++i)
      if (is_parameter(i) && types_[i] != 0) ++parameters[types_[i]];
    const auto most = std::max_element(parameters.begin(), parameters.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == parameters.end()) return;
    for (size_t i = 0; i < types_.size(); ++i)
      if (is_parameter(i) && types_[i] == 0) types_[i] = most->first;
  }

  const Step& step_;
  std::vector<uint8_t> types_;  // by block; 0: unknown
};

// Lives of a broadcast's flat blocks, from `at` on. Two are sent at a time, and the first of them is freed
// before the next one is allocated (broadcast_coalesced in torch/csrc/distributed/c10d/comm.cpp).
std::vector<Window> Sent(size_t flats, Position at) {
  constexpr size_t kInFlight = 2;
  std::vector<Window> lives(flats);
  for (size_t i = 0; i < flats + kInFlight; ++i, at = After(at, 2)) {
    if (i >= kInFlight) lives[i - kInFlight].end = at;
    if (i < flats) lives[i].begin = After(at);
  }
  return lives;
}

// When DDP(model) is called: before the loop, once the model is on the device.
Position WrappedAt(const Step& step, const std::vector<BlockIndex>& states) {
  Position last = kBefore;
  bool seen = false;
  for (const BlockIndex state : states) {
    const model::BlockId id = step.blocks[state].id;
    if (id >= step.run->blocks.size()) continue;
    const Position made = BeforeLoop(step.run->blocks[id].alloc_event, step.first);
    last = seen ? std::max(last, made) : made;
    seen = true;
  }
  return After(std::min(last, kBefore));
}

// Adds the allocations of DDP's constructor and of each of its forward passes.
void AddWrapping(const Step& step, Position forward, Step& changed) {
  const BlockIndex like = step.trained.front();
  const uint16_t stream = step.blocks[like].stream;
  std::vector<BlockIndex> buffers = Lasting(step, Category::kBuffer);
  const std::vector<BlockIndex> replaced = Replaced(step);
  buffers.insert(buffers.end(), replaced.begin(), replaced.end());
  std::vector<BlockIndex> states = Lasting(step, Category::kParameter);
  states.insert(states.end(), buffers.begin(), buffers.end());
  const Coalescer coalescer(step);
  Position at = WrappedAt(step, states);
  const std::vector<uint64_t> broadcast = coalescer.Flats(states, kBroadcast);
  const std::vector<Window> lives = Sent(broadcast.size(), at);
  for (size_t i = 0; i < broadcast.size(); ++i) {
    if (broadcast[i] != 0) changed.passing.push_back({lives[i].begin, lives[i].end, broadcast[i], stream});
    at = After(lives[i].end);
  }
  for (const uint64_t bytes : coalescer.Flats(step.trained, std::numeric_limits<uint64_t>::max())) {
    if (bytes != 0) changed.passing.push_back({at, forward + step.length, bytes, stream});
    at = After(at, 2);
  }
  const std::vector<uint64_t> each = coalescer.Flats(buffers, kBroadcast);
  const std::vector<Window> sent = Sent(each.size(), HooksAfter(forward, 2));
  for (size_t i = 0; i < each.size(); ++i) {
    if (each[i] == 0) continue;
    StepBlock flat = Flat(each[i], like, step);
    flat.begin = sent[i].begin, flat.end = sent[i].end;
    changed.blocks.push_back(flat);
  }
}

}  // namespace

Step Replicated(const Step& step, bool as_views) {
  Step changed = step;
  const Position forward = step.modules.empty() ? 0 : step.modules.front().begin;
  AddWrapping(step, forward, changed);
  HoldReplaced(step, forward, changed);
  Position rebuilt = forward + step.length;
  const auto add = [&](uint64_t bytes, BlockIndex gradient) {
    changed.blocks.push_back(Flat(bytes, gradient, step));
    changed.blocks.back().once = rebuilt = After(rebuilt);
  };
  std::map<std::string_view, uint64_t> elements;  // elements of a gradient, whichever block it is a view of
  for (const BlockIndex parameter : step.trained)
    elements[step.blocks[parameter].name] = step.blocks[parameter].requested;
  uint64_t filled = 0;
  uint64_t limit = kFirstBucket;
  BlockIndex like;
  std::map<BlockIndex, std::vector<Operand>> taken = TakenOf(step);
  for (const BlockIndex gradient : GradientsInOrder(step)) {
    const auto own = elements.find(step.blocks[gradient].name);
    const uint64_t whole = own == elements.end() ? step.blocks[gradient].requested : own->second;
    like = gradient;
    if (as_views) {
      changed.blocks[gradient].end = After(step.blocks[gradient].accumulated);
      changed.blocks[gradient].accumulated = kForever;
    }
    for (const uint64_t bytes : BytesOfEach(step, taken[gradient], whole)) {
      if ((filled += bytes) < limit) continue;
      add(filled, like);
      filled = 0;
      limit = kBucket;
    }
  }
  if (filled != 0) add(filled, like);
  return changed;
}

namespace {

// Lets the optimizer step a rank's parameters in `order` instead of the recorded order. Blocks of state and
// temporaries keep their times, but each one now belongs to another parameter.
void StepInOrder(const std::vector<BlockIndex>& order, Step& changed) {
  std::map<BlockIndex, std::vector<BlockIndex>> of;  // by parameter: its blocks
  std::vector<BlockIndex> recorded;
  const std::vector<BlockIndex> parameters = SteppedParameters(changed);
  for (const BlockIndex i : changed.blocks.Indices()) {
    if (changed.blocks[i].requested == 0 ||
        std::find(order.begin(), order.end(), parameters[i]) == order.end())
      continue;
    if (of[parameters[i]].empty()) recorded.push_back(parameters[i]);
    of[parameters[i]].push_back(i);
  }
  const bool alike =
      recorded.size() == order.size() && std::all_of(of.begin(), of.end(), [&](const auto& one) {
        return one.second.size() == of.begin()->second.size();
      });
  if (!alike) return;
  const Indexed<StepBlock> was = changed.blocks;
  for (size_t turn = 0; turn < order.size(); ++turn) {
    for (size_t i = 0; i < of[order[turn]].size(); ++i) {
      StepBlock& block = changed.blocks[of[recorded[turn]][i]];
      block.requested = was[of[order[turn]][i]].requested;
      block.name = was[of[order[turn]][i]].name;
    }
  }
}

}  // namespace

Step WithOwnState(const Step& step, uint32_t ranks) {
  std::vector<BlockIndex> by_size;  // the optimizer receives all; frozen ones count too
  for (const BlockIndex i : step.blocks.Indices())
    if (IsParameter(step, i)) by_size.push_back(i);
  std::stable_sort(by_size.begin(), by_size.end(), [&](BlockIndex a, BlockIndex b) {
    return step.blocks[a].requested > step.blocks[b].requested;
  });
  std::vector<uint64_t> load(ranks, 0);
  std::vector<std::vector<BlockIndex>> own(ranks);
  for (const BlockIndex parameter : by_size) {
    const auto least = std::min_element(load.begin(), load.end());
    own[static_cast<size_t>(least - load.begin())].push_back(parameter);
    *least += step.blocks[parameter].requested;
  }
  const auto most = std::max_element(load.begin(), load.end());
  std::vector<BlockIndex> kept = own[static_cast<size_t>(most - load.begin())];
  std::erase_if(kept, [&](BlockIndex parameter) {
    return !std::binary_search(step.trained.begin(), step.trained.end(), parameter);
  });
  Step changed = step;
  StepOnly([&](BlockIndex parameter) { return std::find(kept.begin(), kept.end(), parameter) != kept.end(); },
           changed);
  StepInOrder(kept, changed);
  return changed;
}

}  // namespace vramscope::whatif
