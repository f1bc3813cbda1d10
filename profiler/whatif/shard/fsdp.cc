// SPDX-License-Identifier: Apache-2.0
// Models torch.distributed.fsdp.fully_shard, with the allocations of _fsdp_param_group.py and
// _fsdp_collectives.py of 2.15.
//
//   forward of unit i     all gathered bytes in one block, on a separate stream, until unit i+1 is gathered;
//                         one block per parameter, copied out of it, until the unit's forward returns
//   backward of unit i    the same, and before it computes, unit i-1 is gathered ahead
//   after it              parameters are freed; all gradients are packed into one block, which stays until
//                         unit i-1 is done; gradients are freed, the last parameter's first; 1/N stays
//
// Kernels that pack many tensors into one block, or unpack them, need a list of the tensors' addresses. It is
// on the device for a moment (pack_vecs in aten/src/ATen/native/cuda/TensorShape.cu).
//
// The rest of the model is gathered with its first module and is freed only when backward is done.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/shard/sums.h"
#include "profiler/whatif/step/reduction.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint64_t kScalar = 4;  // step counters are not sharded

// The order of hooks after the start of a module's forward. The unit is gathered after the rest of the model,
// and then unpacked. The previous unit's gathered block is freed once this unit is gathered.
constexpr int32_t kGatherRest = 0, kGather = 4, kTakeOut = 2, kTakenOut = 3, kNextGathered = 5;
// Before backward of a unit.
constexpr int32_t kGatherNow = -40, kTakeOutNow = 1, kTakenOutNow = 2, kGatherNext = 10, kGatherRestNow = -30;
// After backward of a unit; the packed block is freed when the next one exists.
constexpr int32_t kParametersGo = 1, kNextTogether = 2, kPutTogether = 4, kGradientsGo = 5, kKeepShard = 6;
constexpr int32_t kTakeShard = 7, kLastGoes = 8, kAddUp = 10;
// Before the end of backward: the rest of the model, units without a backward, and unneeded gathered bytes.
constexpr int32_t kRestDone = -10, kOthersDone = -4, kUnneededGoes = -1;

// Constants of the copy kernels.
constexpr uint64_t kThreads = 128, kBlockBytes = kThreads * 16, kNumber = 8;

uint64_t Up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// Bytes of the list for split_with_sizes_copy_out_cuda_contiguous_no_cast, with `chunks` chunks that each
// contain a part of every parameter.
uint64_t ListOfTakenOut(const std::vector<uint64_t>& parts, uint64_t chunks, Multiprocessors device) {
  const auto blocks_of = [&](uint64_t bytes) {
    uint64_t blocks = 0;
    for (const uint64_t part : parts) blocks += Up(part, bytes);
    return blocks;
  };
  const uint64_t most = static_cast<uint64_t>(device.count * device.threads) / kThreads * 2;
  const uint64_t turns = Up(blocks_of(kBlockBytes) * chunks, most);
  const auto together = static_cast<uint64_t>(std::ceil(std::sqrt(static_cast<double>(turns))));
  const uint64_t blocks = blocks_of(kBlockBytes * Up(turns, std::min(together, chunks)));
  return (4 * parts.size() + blocks + 1) * kNumber;
}

// Bytes of the list for chunk_cat: six numbers per tensor, the end of the last tensor in bytes and in thread
// blocks, and for each thread block its tensor.
uint64_t ListOfPutTogether(const std::vector<uint64_t>& parts) {
  uint64_t numbers = 6 * parts.size() + 2;
  for (const uint64_t part : parts) numbers += Up(part, kBlockBytes);
  return numbers * kNumber;
}

class Sharder {
 public:
  Sharder(const Step& step, const std::vector<Unit>& units, uint32_t ranks, bool reshard)
      : step_(step), changed_(step), units_(units), ranks_(ranks), reshard_(reshard) {
    const auto streams = static_cast<uint16_t>(step.run->streams.size());
    gather_stream_ = streams;
    reduce_stream_ = static_cast<uint16_t>(streams + 1);
    changed_.added_streams = 2;
    FindShards();
  }

  Step Run() && {
    order_ = ForwardOrder();
    for (size_t i = 0; i < order_.size(); ++i) Forward(i);
    Backward();
    AddUpByUnit(
        step_, units_, [&](const Unit& unit) { return HooksAfter(Done(unit), kAddUp); }, changed_);
    ShardState();
    SetUp();
    for (const auto& [parameter, shard] : shards_) changed_.blocks[parameter].requested = shard;
    return std::move(changed_);
  }

 private:
  struct Call {
    uint32_t unit;
    Window window, backward;
  };

  [[nodiscard]] const Unit& Rest() const { return units_.back(); }

  // Rows of the first dimension, as torch.chunk divides them, and the bytes of rank 0. A parameter that no
  // operator received gets the rows of another parameter of its size.
  void FindShards() {
    std::map<BlockIndex, int64_t> rows;
    for (const Operand& operand : step_.operands) {
      if (operand.block == kNone || (operand.flags & trace::kTensorIsLeaf) == 0) continue;
      if (step_.Rank(operand.shape) > 0) rows.emplace(operand.block, step_.Dims(operand.shape)[0]);
    }
    std::map<uint64_t, int64_t> rows_of_size;
    for (const Unit& unit : units_)
      for (const BlockIndex parameter : unit.parameters)
        if (const auto own = rows.find(parameter); own != rows.end())
          rows_of_size.emplace(step_.blocks[parameter].requested, own->second);
    for (const Unit& unit : units_) {
      for (const BlockIndex parameter : unit.parameters) {
        const uint64_t bytes = step_.blocks[parameter].requested;
        const auto own = rows.find(parameter);
        const auto like = own == rows.end() ? rows_of_size.find(bytes) : rows_of_size.end();
        const uint64_t count = own != rows.end()            ? static_cast<uint64_t>(own->second)
                               : like != rows_of_size.end() ? static_cast<uint64_t>(like->second)
                                                            : 0;
        const uint64_t whole = count != 0 && bytes % count == 0 ? bytes / count : 1;
        const uint64_t parts = whole == 1 ? bytes : count;
        shards_[parameter] = (parts + ranks_ - 1) / ranks_ * whole;
      }
    }
  }

  [[nodiscard]] uint64_t Shard(const Unit& unit) const {
    uint64_t bytes = 0;
    for (const BlockIndex parameter : unit.parameters) bytes += shards_.at(parameter);
    return bytes;
  }

  BlockIndex Add(Position begin, Position end, uint64_t bytes, BlockIndex like, uint16_t stream,
                 Category category = Category::kCommunication) {
    StepBlock block;
    block.id = kNone;
    block.requested = bytes;
    block.begin = begin;
    block.end = end;
    block.copy_of = like;
    block.stream = stream;
    block.category = category;
    changed_.blocks.push_back(block);
    return BlockIndex(changed_.blocks.size() - 1);
  }

  void AddParameters(const Unit& unit, Position begin, Position end) {
    std::vector<uint64_t> parts;
    for (const BlockIndex parameter : unit.parameters) {
      parts.push_back(shards_.at(parameter));
      Add(begin = After(begin), end, parts.back() * ranks_, parameter, step_.blocks[parameter].stream);
    }
    AddList(After(begin), ListOfTakenOut(parts, ranks_, device_), unit);
  }

  // Adds a copy kernel's list of addresses. Its size does not depend on the batch.
  void AddList(Position at, uint64_t bytes, const Unit& unit) {
    Add(at, After(at), bytes, {}, step_.blocks[unit.parameters.front()].stream);
  }

  // Calls of units that have parameters, in order; the rest of the model comes first.
  [[nodiscard]] std::vector<Call> ForwardOrder() const {
    std::vector<Call> calls;
    for (uint32_t i = 0; i < units_.size(); ++i) {
      if (units_[i].parameters.empty()) continue;
      for (size_t k = 0; k < units_[i].forward.size(); ++k)
        calls.push_back({i, units_[i].forward[k], units_[i].backwards[k]});
    }
    std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
      return a.window.begin != b.window.begin ? a.window.begin < b.window.begin : a.unit > b.unit;
    });
    return calls;
  }

  void Forward(size_t place) {
    const Call& call = order_[place];
    const Unit& unit = units_[call.unit];
    const Position begin =
        HooksAfter(call.window.begin, call.unit + 1 == units_.size() ? kGatherRest : kGather);
    if (!Gathers(call)) return;
    const auto next = std::find_if(order_.begin() + static_cast<std::ptrdiff_t>(place) + 1, order_.end(),
                                   [&](const Call& later) { return Gathers(later); });
    const Position let_go =
        next == order_.end() ? Rest().forward.front().end : HooksAfter(next->window.begin, kNextGathered);
    Add(begin, std::max(let_go, HooksAfter(begin, kTakenOut)), Shard(unit) * ranks_, unit.parameters.front(),
        gather_stream_);
    AddParameters(unit, HooksAfter(begin, kTakeOut),
                  HooksAfter(IsKept(unit) ? FirstDone(unit) : call.window.end, kParametersGo));
  }

  // True if the unit's parameters stay from forward until backward.
  [[nodiscard]] bool IsKept(const Unit& unit) const { return &unit == &Rest() || !reshard_; }
  // False if an earlier call has gathered the unit.
  [[nodiscard]] bool Gathers(const Call& call) const {
    const Unit& unit = units_[call.unit];
    return !IsKept(unit) || call.window.begin == unit.forward.front().begin;
  }

  // Returns when the first backward of the unit's calls is over. The parameters are freed then, even if other
  // calls' backward follows (FSDPParamGroup.post_backward).
  [[nodiscard]] Position FirstDone(const Unit& unit) const {
    const Window* first = nullptr;
    size_t calls = 0;
    for (const Window& backward : unit.backwards) {
      if (backward.begin >= kForever) continue;
      ++calls;
      if (first == nullptr || backward.begin < first->begin) first = &backward;
    }
    return calls > 1 && &unit != &Rest() ? first->end : Done(unit);
  }

  // Returns when the unit's backward is over and its gradients exist. For a unit without backward, such as
  // frozen layers at the start of a model: when the model's backward is over.
  [[nodiscard]] Position Done(const Unit& unit) const {
    if (&unit == &Rest()) return HooksAfter(step_.backward.back().end, kRestDone);
    return HasBackward(unit) ? unit.backward.end : HooksAfter(step_.backward.back().end, kOthersDone);
  }
  [[nodiscard]] bool HasBackward(const Unit& unit) const {
    return &unit == &Rest() || unit.backward.begin < kForever || unit.backward.end > kBefore;
  }

  void Backward() {
    GatherForBackward();
    std::vector<const Unit*> order;  // in the order in which their backward ends
    for (const Unit& unit : units_) {
      if (!unit.parameters.empty() && HasBackward(unit)) order.push_back(&unit);
    }
    std::sort(order.begin(), order.end(), [&](const Unit* a, const Unit* b) { return Done(*a) < Done(*b); });
    for (size_t i = 0; i < order.size(); ++i) {
      const Position at = Done(*order[i]);
      const bool last = i + 1 == order.size();
      Reduce(*order[i], at,
             last ? HooksAfter(at, kLastGoes)
                  : HooksAfter(std::min(Done(*order[i + 1]), NextPassed(units_, at)), kNextTogether));
    }
  }

  // Backward of each call gathers its unit, unless that exists already or was gathered ahead. It also gathers
  // ahead the unit that was called before it in forward, even if that unit has no backward. Those bytes stay
  // until they are needed, or until backward is over (FSDPParamGroup.pre_backward).
  void GatherForBackward() {
    std::vector<size_t> turns;  // into order_
    for (size_t i = 0; i < order_.size(); ++i) {
      if (&units_[order_[i].unit] != &Rest() && order_[i].backward.begin < kForever) turns.push_back(i);
      if (IsKept(units_[order_[i].unit])) there_.insert(order_[i].unit);
    }
    std::sort(turns.begin(), turns.end(),
              [&](size_t a, size_t b) { return order_[a].backward.begin < order_[b].backward.begin; });
    if (!Rest().parameters.empty() && Rest().backward.begin < kForever)
      GatherAhead(order_.size() - 1, kNone, HooksAfter(Rest().backward.begin, kGatherRestNow));
    for (size_t i = 0; i < turns.size(); ++i) {
      const uint32_t unit = order_[turns[i]].unit;
      const Position begin = HooksAfter(order_[turns[i]].backward.begin, kGatherNow);
      const bool last = std::none_of(turns.begin() + static_cast<std::ptrdiff_t>(i) + 1, turns.end(),
                                     [&](size_t later) { return order_[later].unit == unit; });
      if (there_.erase(unit) == 0) TakeOut(turns[i], begin, last);
      if (turns[i] > 0) GatherAhead(turns[i] - 1, unit, HooksAfter(begin, kGatherNext));
    }
    for (const auto& [unit, bytes] : ahead_)
      changed_.blocks[bytes].end = HooksAfter(step_.backward.back().end, kUnneededGoes);
  }

  // Adds the gathered parameters, until the call's backward is over, or the unit's if this is its last call.
  void TakeOut(size_t place, Position begin, bool last) {
    const Call& call = order_[place];
    const Unit& unit = units_[call.unit];
    if (!ahead_.contains(call.unit)) GatherAhead(place, kNone, begin);
    StepBlock& bytes = changed_.blocks[ahead_.at(call.unit)];
    // If the loss is computed outside the model, the rest and the last unit begin together.
    bytes.begin = std::min(bytes.begin, begin);
    bytes.end = HooksAfter(begin, kTakenOutNow);
    ahead_.erase(call.unit);
    AddParameters(unit, HooksAfter(begin, kTakeOutNow),
                  HooksAfter(last ? Done(unit) : call.backward.end, kParametersGo));
  }

  // `by`: the unit whose backward gathers ahead; its own parameters exist.
  void GatherAhead(size_t place, uint32_t by, Position at) {
    const uint32_t unit = order_[place].unit;
    if (unit == by || there_.contains(unit) || ahead_.contains(unit)) return;
    ahead_[unit] =
        Add(at, kForever, Shard(units_[unit]) * ranks_, units_[unit].parameters.front(), gather_stream_);
  }

  // Averages the gradients of the unit's parameters over all ranks; one part of them stays.
  void Reduce(const Unit& unit, Position at, Position next) {
    std::map<std::string_view, size_t> mine;
    for (size_t i = 0; i < unit.parameters.size(); ++i) mine[step_.blocks[unit.parameters[i]].name] = i;
    std::vector<uint64_t> parts;
    Position end = kBefore;      // of this step's gradients
    Position carried = kBefore;  // of the gradients that the previous step left
    for (const BlockIndex i : step_.blocks.Indices()) {
      const StepBlock& gradient = step_.blocks[i];
      const auto place = mine.find(gradient.name);
      if (place == mine.end()) continue;
      if (gradient.accumulated < kForever) {
        end = std::max(end, gradient.end);
        parts.push_back(shards_.at(unit.parameters[place->second]));
        changed_.blocks[i].end =
            After(HooksAfter(at, kGradientsGo), static_cast<int64_t>(unit.parameters.size() - place->second));
        changed_.blocks[i].accumulated = kForever;
      } else if (gradient.category == Category::kGradient && gradient.begin == kBefore &&
                 gradient.end < kForever) {
        carried = std::max(carried, gradient.end);
      }
    }
    if (end == kBefore) return;  // none of them is trained
    const BlockIndex like = unit.parameters.front();
    const uint64_t shard = std::accumulate(parts.begin(), parts.end(), uint64_t{0});
    const Position together = HooksAfter(at, kPutTogether);
    Add(together, next, shard * ranks_, like, step_.blocks[like].stream);
    AddList(After(together), ListOfPutTogether(parts), unit);
    const BlockIndex kept =
        Add(HooksAfter(at, kKeepShard), end, shard, like, reduce_stream_, Category::kGradient);
    changed_.blocks[kept].accumulated = HooksAfter(at, kTakeShard);
    if (carried != kBefore) Add(kBefore, carried, shard, like, reduce_stream_, Category::kGradient);
  }

  // Unit by unit, with the rest of the model last: all its parameters and buffers move to the device, then
  // the parameters are sharded, then the whole parameters are freed (FSDPParamGroup).
  void SetUp() {
    std::vector<BlockIndex> buffers;
    Position first = 0, last = BeforeLoop(0, step_.first);
    for (const BlockIndex i : step_.blocks.Indices()) {
      const StepBlock& block = step_.blocks[i];
      const bool buffer =
          block.category == Category::kBuffer && block.begin == kBefore && !block.name.empty();
      if (!buffer && !shards_.contains(i)) continue;
      const Position came = SetUpAt(step_, i);
      if (came == kBefore) return;  // inserted by a lever, or the program is unusual
      first = std::min(first, came);
      last = std::max(last, came);
      if (buffer) buffers.push_back(i);
    }
    const auto moments = static_cast<int64_t>(3 * (shards_.size() + buffers.size()));
    auto next = [&, moment = int64_t{0}]() mutable { return PartOf(first, last, ++moment, moments); };
    for (const Unit* const each : AsModulesLie(step_, units_)) {
      const Unit& unit = *each;
      const size_t whole = changed_.passing.size();
      for (const BlockIndex parameter : unit.parameters) {
        const StepBlock& block = step_.blocks[parameter];
        changed_.passing.push_back({next(), 0, block.requested, block.stream});
      }
      std::erase_if(buffers, [&](BlockIndex buffer) {
        const bool own = &unit == &Rest() || unit.Has(step_.blocks[buffer].name);
        if (own) changed_.blocks[buffer].set_up = next();
        return own;
      });
      for (const BlockIndex parameter : unit.parameters) changed_.blocks[parameter].set_up = next();
      for (size_t i = whole; i < changed_.passing.size(); ++i) changed_.passing[i].end = next();
    }
  }

  // Shards state and temporaries of the optimizer by parameter; if the parameter is unknown, by size.
  void ShardState() {
    std::map<uint64_t, uint64_t> shard_of_size;
    for (const auto& [parameter, shard] : shards_) shard_of_size[step_.blocks[parameter].requested] = shard;
    const std::vector<BlockIndex> stepped = SteppedParameters(step_);
    for (const BlockIndex i : step_.blocks.Indices()) {
      const StepBlock& block = step_.blocks[i];
      if ((block.category != Category::kOptimizerState && !MadeByOptimizer(step_, block)) ||
          block.requested <= kScalar)
        continue;
      const auto own = shards_.find(stepped[i]);
      if (own != shards_.end() && block.requested == step_.blocks[own->first].requested) {
        changed_.blocks[i].requested = own->second;
        continue;
      }
      const auto found = shard_of_size.find(block.requested);
      changed_.blocks[i].requested =
          found != shard_of_size.end() ? found->second : (block.requested + ranks_ - 1) / ranks_;
    }
  }

  const Step& step_;
  Step changed_;
  const std::vector<Unit>& units_;
  const uint64_t ranks_;
  const bool reshard_;
  uint16_t gather_stream_ = 0, reduce_stream_ = 0;
  std::map<BlockIndex, uint64_t> shards_;  // by parameter: bytes, with padding that makes all shards equal
  std::vector<Call> order_;
  std::set<uint32_t> there_;              // units whose parameters from forward still exist
  std::map<uint32_t, BlockIndex> ahead_;  // by unit: the block that is gathered and not yet unpacked
  Multiprocessors device_;
};

}  // namespace

Step FullySharded(const Step& step, const std::vector<Unit>& units, uint32_t ranks, bool reshard) {
  return Sharder(step, units, ranks, reshard).Run();
}

}  // namespace vramscope::whatif
