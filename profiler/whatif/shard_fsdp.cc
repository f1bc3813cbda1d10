// SPDX-License-Identifier: Apache-2.0
// torch.distributed.fsdp.fully_shard, as _fsdp_param_group.py and _fsdp_collectives.py of 2.15 allocate.
//
//   forward of unit i     the gathered bytes in one block, on a stream of their own, until those of unit i+1
//                         are there; then parameter by parameter, until the unit is left
//   backward of unit i    the same, and before it computes, the bytes of unit i-1 are gathered ahead
//   behind it             parameters go; all gradients in one block, which stays until unit i-1 is done;
//                         the gradients go, the last parameter's first; 1/N of them stays
//
// What puts many tensors into one block, or takes them out of it, takes a list of where each lies, on the
// device for a moment (pack_vecs in aten/src/ATen/native/cuda/TensorShape.cu).
//
// The rest of the model is gathered with its first module and not let go of before backward is done.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "profiler/whatif/batch_axis.h"
#include "profiler/whatif/parameters.h"
#include "profiler/whatif/shard.h"
#include "profiler/whatif/shard_sums.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr Position kHair = 1e-6;
constexpr Position kMoment = 0.01;  // between what hooks do one after the other
constexpr uint64_t kScalar = 4;     // counts of steps are not sharded

// Of the copies' kernels.
constexpr uint64_t kThreads = 128, kBlockBytes = kThreads * 16, kNumber = 8;

uint64_t Up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// split_with_sizes_copy_out_cuda_contiguous_no_cast, of so many chunks of which each holds a part of all.
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

// chunk_cat: six numbers for each tensor, and whose each thread block is.
uint64_t ListOfPutTogether(const std::vector<uint64_t>& parts) {
  uint64_t numbers = 6 * parts.size();
  for (const uint64_t part : parts) numbers += Up(part, kBlockBytes);
  return numbers * kNumber;
}

bool Within(std::string_view name, std::string_view path) {
  return name.substr(0, path.size()) == path && name.size() > path.size() && name[path.size()] == '.';
}

class Sharder {
 public:
  Sharder(const Step& step, const std::vector<Unit>& units, uint32_t ranks, bool reshard)
      : step_(step), changed_(step), units_(units), ranks_(ranks), reshard_(reshard) {
    const auto streams = static_cast<uint16_t>(step.run->streams.size());
    gather_stream_ = streams;
    reduce_stream_ = static_cast<uint16_t>(streams + 1);
    changed_.added_streams = 2;
    if (const Result<BatchAxis>& axis = FollowBatch(step); axis.ok()) device_ = axis->device;
    FindShards();
  }

  Step Run() && {
    order_ = ForwardOrder();
    for (size_t i = 0; i < order_.size(); ++i) Forward(i);
    Backward();
    AddUpByUnit();
    ShardState();
    SetUp();
    for (const auto& [parameter, shard] : shards_) changed_.blocks[parameter].requested = shard;
    return std::move(changed_);
  }

 private:
  struct Call {
    uint32_t unit;
    Window window;
  };

  [[nodiscard]] const Unit& Rest() const { return units_.back(); }

  // Rows of the first dimension, as torch.chunk deals them out, and bytes of those of rank 0. What no
  // operator was given is taken to have the rows of another parameter of its size.
  void FindShards() {
    std::map<uint32_t, int64_t> rows;
    for (const Operand& operand : step_.operands) {
      if (operand.block == kNone || (operand.flags & trace::kTensorIsLeaf) == 0) continue;
      if (step_.Rank(operand.shape) > 0) rows.emplace(operand.block, step_.Dims(operand.shape)[0]);
    }
    std::map<uint64_t, int64_t> rows_of_size;
    for (const Unit& unit : units_)
      for (const uint32_t parameter : unit.parameters)
        if (const auto own = rows.find(parameter); own != rows.end())
          rows_of_size.emplace(step_.blocks[parameter].requested, own->second);
    for (const Unit& unit : units_) {
      for (const uint32_t parameter : unit.parameters) {
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
    for (const uint32_t parameter : unit.parameters) bytes += shards_.at(parameter);
    return bytes;
  }

  uint32_t Add(Position begin, Position end, uint64_t bytes, uint32_t like, uint16_t stream,
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
    return static_cast<uint32_t>(changed_.blocks.size() - 1);
  }

  void AddParameters(const Unit& unit, Position begin, Position end) {
    std::vector<uint64_t> parts;
    for (const uint32_t parameter : unit.parameters) {
      parts.push_back(shards_.at(parameter));
      Add(begin += kHair, end, parts.back() * ranks_, parameter, step_.blocks[parameter].stream);
    }
    AddList(begin + kHair, ListOfTakenOut(parts, ranks_, device_), unit);
  }

  // As large with any batch.
  void AddList(Position at, uint64_t bytes, const Unit& unit) {
    Add(at, at + kHair, bytes, kNone, step_.blocks[unit.parameters.front()].stream);
  }

  // Calls of units that have parameters, in order; the rest of the model comes first.
  [[nodiscard]] std::vector<Call> ForwardOrder() const {
    std::vector<Call> calls;
    for (uint32_t i = 0; i < units_.size(); ++i) {
      if (units_[i].parameters.empty()) continue;
      for (const Window& window : units_[i].forward) calls.push_back({i, window});
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
        call.window.begin + kMoment * static_cast<Position>(call.unit + 1 == units_.size() ? 0 : 4);
    const bool last = place + 1 == order_.size();
    const Position next = last ? Rest().forward.front().end : order_[place + 1].window.begin + 5 * kMoment;
    const bool kept = &unit == &Rest() || !reshard_;
    if (kept && call.window.begin != unit.forward.front().begin) return;  // it has been gathered
    Add(begin, std::max(next, begin + 3 * kMoment), Shard(unit) * ranks_, unit.parameters.front(),
        gather_stream_);
    AddParameters(unit, begin + 2 * kMoment, kept ? Done(unit) + kMoment : call.window.end + kMoment);
  }

  // Where the unit's backward is over, and its gradients are there.
  [[nodiscard]] Position Done(const Unit& unit) const {
    return &unit == &Rest() ? step_.backward.back().end - 10 * kMoment : unit.backward.end;
  }

  void Backward() {
    std::vector<const Unit*> order;  // in which backward begins them
    for (const Unit& unit : units_) {
      if (!unit.parameters.empty()) order.push_back(&unit);
    }
    std::sort(order.begin(), order.end(), [&](const Unit* a, const Unit* b) {
      return a == &Rest() || (b != &Rest() && a->backward.begin < b->backward.begin);
    });
    if (reshard_) {
      for (size_t i = 0; i < order.size(); ++i) {
        if (order[i] == &Rest()) continue;
        const Position begin = order[i]->backward.begin - 40 * kMoment;
        // Where the loss is computed outside of the model, the rest and the last unit begin together.
        const Position ahead = i == 0 ? begin : std::min(begin, order[i - 1]->backward.begin - 30 * kMoment);
        Add(ahead, begin + 2 * kMoment, Shard(*order[i]) * ranks_, order[i]->parameters.front(),
            gather_stream_);
        AddParameters(*order[i], begin + kMoment, Done(*order[i]) + kMoment);
      }
    }
    std::sort(order.begin(), order.end(), [&](const Unit* a, const Unit* b) { return Done(*a) < Done(*b); });
    for (size_t i = 0; i < order.size(); ++i) {
      const bool last = i + 1 == order.size();
      Reduce(*order[i], Done(*order[i]),
             last ? Done(*order[i]) + 8 * kMoment : Done(*order[i + 1]) + 2 * kMoment);
    }
  }

  // Gradients of those of the unit's parameters that have one are averaged, and one part stays.
  void Reduce(const Unit& unit, Position at, Position next) {
    std::map<std::string_view, size_t> mine;
    for (size_t i = 0; i < unit.parameters.size(); ++i) mine[step_.blocks[unit.parameters[i]].name] = i;
    std::vector<uint64_t> parts;
    Position end = kBefore;      // of what this step keeps
    Position carried = kBefore;  // of what the step before kept
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& gradient = step_.blocks[i];
      const auto place = mine.find(gradient.name);
      if (place == mine.end()) continue;
      if (gradient.accumulated < kForever) {
        end = std::max(end, gradient.end);
        parts.push_back(shards_.at(unit.parameters[place->second]));
        changed_.blocks[i].end =
            at + 5 * kMoment + kHair * static_cast<Position>(unit.parameters.size() - place->second);
        changed_.blocks[i].accumulated = kForever;
      } else if (gradient.category == Category::kGradient && gradient.begin == kBefore &&
                 gradient.end < kForever) {
        carried = std::max(carried, gradient.end);
      }
    }
    if (end == kBefore) return;  // none of them is trained
    const uint32_t like = unit.parameters.front();
    const uint64_t shard = std::accumulate(parts.begin(), parts.end(), uint64_t{0});
    Add(at + 4 * kMoment, next, shard * ranks_, like, step_.blocks[like].stream);
    AddList(at + 4.5 * kMoment, ListOfPutTogether(parts), unit);
    const uint32_t kept = Add(at + 6 * kMoment, end, shard, like, reduce_stream_, Category::kGradient);
    changed_.blocks[kept].accumulated = at + 7 * kMoment;
    if (carried != kBefore) Add(kBefore, carried, shard, like, reduce_stream_, Category::kGradient);
  }

  // Gradients that wait in sums of their units', which are added to those of the units before when the unit
  // is done.
  void AddUpByUnit() {
    for (const SumOfUnit& sum : SumsOfUnits(step_, units_)) {
      const Position added = Done(*sum.unit) + 9 * kMoment;
      StepBlock& waits = changed_.blocks[sum.gradient];
      waits.end = sum.second == kNone ? added : step_.ops[sum.second].end + kHair;
      if (sum.second == kNone) continue;
      const uint64_t bytes = waits.requested;
      Add(step_.ops[sum.second].begin + kMoment, added, bytes, sum.gradient, waits.stream,
          Category::kTemporaryBackward);
    }
  }

  // Unit by unit, the rest of the model last: all its parameters and buffers come to the device, then shards
  // are made of the parameters, then these go (FSDPParamGroup).
  void SetUp() {
    std::vector<uint32_t> buffers;
    Position at = 0, last = -kForever;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      const bool buffer =
          block.category == Category::kBuffer && block.begin == kBefore && !block.name.empty();
      if (!buffer && !shards_.contains(i)) continue;
      if (block.id >= step_.run->blocks.size()) return;  // a lever put it in
      const model::EventIndex alloc = step_.run->blocks[block.id].alloc_event;
      if (alloc >= step_.first.begin) return;  // not as programs are written
      const Position came = Position(alloc) - Position(step_.first.begin) - 1;
      at = std::min(at, came);
      last = std::max(last, came);
      if (buffer) buffers.push_back(i);
    }
    const Position moment = (last - at) / static_cast<Position>(3 * (shards_.size() + buffers.size()));
    for (const Unit& unit : units_) {
      const size_t whole = changed_.passing.size();
      for (const uint32_t parameter : unit.parameters) {
        const StepBlock& block = step_.blocks[parameter];
        changed_.passing.push_back({at += moment, 0, block.requested, block.stream});
      }
      std::erase_if(buffers, [&](uint32_t buffer) {
        const bool own = &unit == &Rest() || Within(step_.blocks[buffer].name, unit.path);
        if (own) changed_.blocks[buffer].set_up = at += moment;
        return own;
      });
      for (const uint32_t parameter : unit.parameters) changed_.blocks[parameter].set_up = at += moment;
      for (size_t i = whole; i < changed_.passing.size(); ++i) changed_.passing[i].end = at += moment;
    }
  }

  // State, and what the optimizer computes, by parameter; of one that is not known by its size.
  void ShardState() {
    std::map<uint64_t, uint64_t> shard_of_size;
    for (const auto& [parameter, shard] : shards_) shard_of_size[step_.blocks[parameter].requested] = shard;
    const std::vector<uint32_t> stepped = SteppedParameters(step_);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
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
  std::map<uint32_t, uint64_t> shards_;  // by parameter: bytes, with what is put behind to make all equal
  std::vector<Call> order_;
  Multiprocessors device_;
};

}  // namespace

std::vector<Unit> UnitsOf(const Step& step, const std::vector<uint32_t>& calls) {
  std::vector<Unit> units;
  for (const uint32_t index : calls) {
    const ModuleCall& call = step.modules[index];
    const std::string_view path = step.Text(call.name);
    auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.path == path; });
    if (unit == units.end()) unit = units.insert(unit, {path, {}, {kForever, kBefore}, {}});
    unit->forward.push_back({call.begin, call.end});
  }
  Window whole{kForever, kBefore};
  const Position backward = step.backward.front().begin;
  for (const ModuleCall& call : step.modules) {
    if (call.begin >= backward || call.end > backward) continue;
    whole = {std::min(whole.begin, call.begin), std::max(whole.end, call.end)};
  }
  units.push_back({"", {whole}, {kForever, kBefore}, {}});
  for (const Node& node : step.nodes) {
    if (node.op == kNone || node.begin >= kForever) continue;
    for (Unit& unit : units) {
      const bool made = std::any_of(unit.forward.begin(), unit.forward.end(), [&](const Window& w) {
        return w.begin < node.made && node.made < w.end;
      });
      if (!made) continue;
      unit.backward = {std::min(unit.backward.begin, node.begin),
                       std::max(unit.backward.end, std::min(node.end, step.length))};
    }
  }
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    const bool trained = std::binary_search(step.trained.begin(), step.trained.end(), i);
    if (!trained && (block.category != Category::kParameter || block.copy_of != kNone)) continue;
    const auto unit = std::find_if(units.begin(), units.end() - 1,
                                   [&](const Unit& u) { return Within(block.name, u.path); });
    unit->parameters.push_back(i);
  }
  // Gradients of a unit's parameters may be taken over behind its last node.
  for (Unit& unit : units) {
    for (const StepBlock& block : step.blocks) {
      if (block.accumulated < kForever && Within(block.name, unit.path))
        unit.backward.end = std::max(unit.backward.end, block.accumulated);
    }
  }
  return units;
}

Step FullySharded(const Step& step, const std::vector<Unit>& units, uint32_t ranks, bool reshard) {
  return Sharder(step, units, ranks, reshard).Run();
}

}  // namespace vramscope::whatif
