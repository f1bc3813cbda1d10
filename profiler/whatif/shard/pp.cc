// SPDX-License-Identifier: Apache-2.0
// The first stage of a pipeline: what comes before the blocks, and the first of these. It holds most: of all
// stages it is the one that waits longest for gradients.
//
//   forward    table ─ layer 0 ─ layer 1 ┃ layer 2 ─ layer 3 ─ head ─ loss
//              stage 0                   ┃ other stages: gone, with their parameters, gradients and state
//   backward   ◀───── gradient, received ┛
#include <algorithm>
#include <set>
#include <utility>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class FirstStage {
 public:
  FirstStage(const Step& step, Position cut) : step_(step), changed_(step), cut_(cut), resume_(kForever) {
    for (const Node& node : step.nodes)
      if (node.op != kNone && !IsGone(node)) resume_ = std::min(resume_, node.begin);
    backward_end_ = step.backward.front().end;
  }

  Step Run() && {
    if (resume_ >= kForever) return std::move(changed_);
    DropParameters();
    FindBoundary();
    DropSaves();
    DropBlocks();
    DropSums();
    DropWork();
    return std::move(changed_);
  }

 private:
  [[nodiscard]] bool IsGone(const Node& node) const { return node.made >= cut_; }
  [[nodiscard]] bool IsBetween(Position at) const { return at >= cut_ && at < resume_; }

  // Parameters and buffers that are first used behind the cut, or whose modules are.
  void DropParameters() {
    std::set<uint32_t> used, later;
    for (const Operand& operand : step_.operands) {
      const Op& op = step_.ops[operand.op];
      if (operand.block == kNone || op.node != kNone || step_.blocks[operand.block].begin != kBefore)
        continue;
      if (op.begin < cut_) used.insert(operand.block);
      if (IsBetween(op.begin)) later.insert(operand.block);
    }
    for (const uint32_t block : used) later.erase(block);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i)
      if (step_.blocks[i].begin == kBefore && !used.contains(i) && IsOfLater(step_.blocks[i].name))
        later.insert(i);
    std::erase_if(later, [&](uint32_t block) {
      const classify::Category category = step_.blocks[block].category;
      return category != classify::Category::kParameter && category != classify::Category::kBuffer;
    });
    std::set<std::string_view> names;
    for (const uint32_t block : later)
      if (!step_.blocks[block].name.empty()) names.insert(step_.blocks[block].name);
    StepOnly([&](uint32_t parameter) { return !names.contains(step_.blocks[parameter].name); }, changed_);
    for (const uint32_t block : later) Drop(changed_.blocks[block]);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      if (names.contains(step_.blocks[i].name)) Drop(changed_.blocks[i]);
    }
  }

  // What no operator works on goes with its module, or the nearest one around that which is called, where
  // that is called behind the cut.
  [[nodiscard]] bool IsOfLater(std::string_view name) const {
    for (size_t dot = name.rfind('.'); dot != std::string_view::npos; dot = name.rfind('.')) {
      name = name.substr(0, dot);
      const auto call = std::ranges::find_if(
          step_.modules, [&](const ModuleCall& one) { return step_.Text(one.name) == name; });
      if (call != step_.modules.end()) return IsBetween(call->begin);
    }
    return false;
  }

  // What the stage sends, and what it gets for it.
  void FindBoundary() {
    for (const Op& op : step_.ops) {
      if (op.begin < cut_ || op.node != kNone) continue;
      for (uint32_t k = 0; k < op.input_count && sent_ == kNone; ++k) {
        const uint32_t block = step_.operands[op.first_input + k].block;
        if (block == kNone || step_.blocks[block].begin <= kBefore || step_.blocks[block].begin >= cut_)
          continue;
        sent_ = block;
        taken_ = op.first_input + k;
        taker_ = step_.operands[taken_].op;
      }
      if (sent_ != kNone) break;
    }
    if (sent_ == kNone) return;
    changed_.blocks[sent_].end = backward_end_ - kHair;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      const bool gradient =  // not of a parameter that is as large
          block.op != kNone && step_.ops[block.op].node != kNone && block.accumulated >= kForever;
      if (gradient && IsBetween(block.begin) && block.end > resume_ && got_ == kNone &&
          block.requested == step_.blocks[sent_].requested)
        got_ = i;
    }
    if (got_ == kNone) return;
    changed_.blocks[got_].begin = step_.backward.front().begin + kHair;
    changed_.blocks[got_].end = backward_end_ - 2 * kHair;
    AddApart();
  }

  // Who calls backward() has the gradient that was received, so another one is not added into it, as into one
  // that only the engine has: into new memory, with the sum from then on.
  void AddApart() {
    const auto adds = [&](const Op& op) {
      return op.node != kNone && op.begin >= resume_ && step_.NameOf(op) == "aten::add_" &&
             op.input_count != 0 && InputsOf(step_, op)[0].block == got_;
    };
    const auto add = std::find_if(step_.ops.begin(), step_.ops.end(), adds);
    if (add == step_.ops.end()) return;
    StepBlock sum = CopyOf(step_, got_);
    sum.begin = add->begin + kHair;
    sum.op = static_cast<uint32_t>(add - step_.ops.begin());
    const auto made = static_cast<uint32_t>(changed_.blocks.size());
    changed_.blocks.push_back(sum);
    SeenAs(changed_, got_, sum.op, made);
  }

  void DropSaves() {
    std::vector<Position> kept(step_.blocks.size(), kBefore);
    const auto gone = [&](const Saved& saved) {
      return saved.node != kNone && IsGone(step_.nodes[saved.node]);
    };
    for (const Saved& saved : step_.saved)
      if (!gone(saved)) kept[saved.block] = std::max(kept[saved.block], saved.released);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      StepBlock& block = changed_.blocks[i];
      if (i == sent_ || block.begin == kBefore || block.begin >= cut_ || !IsBetween(block.end)) continue;
      block.end = std::max(kept[i], cut_) + kHair;
    }
    std::erase_if(changed_.saved, gone);
  }

  // What the other stages make, and what they left a step ago.
  void DropBlocks() {
    std::multiset<uint64_t> left;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (!IsBetween(block.begin) || i == got_ || changed_.blocks[i].requested == 0) continue;
      if (block.accumulated < kForever) continue;  // of a parameter that this stage has as well
      if (block.end >= kForever) left.insert(block.requested);
      Drop(changed_.blocks[i]);
    }
    for (StepBlock& block : changed_.blocks) {
      if (block.begin != kBefore || block.end >= kForever || block.accumulated < kForever) continue;
      const auto found = left.find(block.requested);
      if (found == left.end()) continue;
      left.erase(found);
      Drop(block);
    }
  }

  // A parameter that a later stage has as well, as a table of words that is the head too: of the two
  // gradients that are added up there is one.
  void DropSums() {
    const auto gone = [&](uint32_t block) { return IsBetween(step_.blocks[block].begin) && block != got_; };
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      const Op& op = step_.ops[i];
      const std::span<const Operand> given = InputsOf(step_, op), made = OutputsOf(step_, op);
      const bool adds = step_.NameOf(op) == "aten::add" || step_.NameOf(op) == "aten::add_";
      if (!adds || op.node == kNone || op.begin < resume_ || given.size() < 2 || made.empty()) continue;
      const uint32_t a = given[0].block, b = given[1].block, sum = made[0].block;
      if (a == kNone || b == kNone || sum == kNone || gone(a) == gone(b)) continue;
      const uint32_t left = gone(a) ? b : a;
      if (left == sum) continue;
      StepBlock& stays = changed_.blocks[left];
      const StepBlock& of_both = step_.blocks[sum];
      stays.end = of_both.end, stays.accumulated = of_both.accumulated;
      stays.name = of_both.name, stays.category = of_both.category;
      Drop(changed_.blocks[sum]);
      SeenAs(changed_, sum, i, left);
    }
  }

  void DropWork() {
    for (Op& op : changed_.ops) {
      const bool gone = op.node != kNone ? IsBetween(op.begin) : op.begin >= cut_ && op.begin < resume_;
      if (!gone) continue;
      for (uint32_t k = 0; k < op.input_count; ++k) changed_.operands[op.first_input + k].block = kNone;
      for (uint32_t k = 0; k < op.output_count; ++k) changed_.operands[op.first_output + k].block = kNone;
      op.input_count = op.output_count = 0;
    }
    if (got_ != kNone) Receive();
  }

  // In the place of what was done with it: so the batch is followed into the gradient.
  void Receive() {
    Op& op = changed_.ops[taker_];
    Operand given = step_.operands[taken_], got = given;
    got.block = got_;
    got.flags |= static_cast<uint8_t>(trace::kTensorIsOutput);
    op.name = TextOf(changed_, "vramscope::received");
    op.first_input = static_cast<uint32_t>(changed_.operands.size());
    op.first_output = op.first_input + 1;
    op.input_count = op.output_count = 1;
    changed_.operands.push_back(given);
    changed_.operands.push_back(got);
    changed_.blocks[got_].op = taker_;
  }

  const Step& step_;
  Step changed_;
  const Position cut_;
  Position resume_;  // where backward comes to what is before the cut
  Position backward_end_ = 0;
  uint32_t sent_ = kNone, got_ = kNone;
  uint32_t taken_ = kNone, taker_ = kNone;  // the operand and the operator by which the next stage takes it
};

}  // namespace

Result<Step> FirstPipelineStage(const Step& step, const std::vector<uint32_t>& blocks, uint32_t stages) {
  if (blocks.size() < stages)
    return Error{"the model has " + std::to_string(blocks.size()) + " blocks, too few for " +
                 std::to_string(stages) + " stages."};
  const size_t own = (blocks.size() + stages - 1) / stages;
  return FirstStage(step, step.modules[blocks[own - 1]].end).Run();
}

namespace {

// The parts of a batch one after the other, F0 B0 F1 B1 F2 B2, as a pipeline's first stage runs them:
// F0 F1 B0 F2 B1 B2 where two wait for their gradients.
class Schedule {
 public:
  Schedule(const Scene& one, uint32_t parts, uint32_t waiting)
      : begin_(one.forward.front().begin),
        forward_(one.backward.front().begin - begin_),
        backward_(one.backward.front().end - one.backward.front().begin),
        starts_(parts) {
    Position at = begin_;
    for (uint32_t i = 0; i < parts + waiting; ++i) {
      if (i < parts) starts_[i].first = at, at += forward_;
      if (i + 1 >= waiting && i + 1 - waiting < parts) starts_[i + 1 - waiting].second = at, at += backward_;
    }
  }

  [[nodiscard]] Position Of(Position at) const {
    const auto [part, behind] = PartOf(at);
    if (part >= starts_.size()) return at;
    return behind < forward_ ? starts_[part].first + behind : starts_[part].second + behind - forward_;
  }

  // Of a block that begins at `begin`. `released`: when autograd lets go of the recorded one; kBefore: it
  // does not keep it.
  [[nodiscard]] Position EndOf(Position begin, Position end, Position released) const {
    const size_t part = PartOf(begin).first;
    const Position moved = Of(end);
    if (part >= starts_.size() || part == PartOf(end).first) return moved;
    // The next part gives its name to another one, which goes forward when this one's backward has not begun.
    const Position backward = starts_[part].second;
    if (released != kBefore) return std::max(moved, backward + (released - begin_ - forward_) + kHair);
    // What backward made goes with it.
    return moved < Of(begin) ? backward + backward_ - kHair : moved;
  }

 private:
  // Which it is in, and how far behind its begin; one that there is not outside of the loop.
  [[nodiscard]] std::pair<size_t, Position> PartOf(Position at) const {
    const Position both = forward_ + backward_;
    if (at < begin_ || at >= begin_ + both * static_cast<Position>(starts_.size()))
      return {starts_.size(), 0};
    const auto part = static_cast<size_t>((at - begin_) / both);
    return {part, at - begin_ - both * static_cast<Position>(part)};
  }

  const Position begin_, forward_, backward_;
  std::vector<std::pair<Position, Position>> starts_;  // of forward and backward, by part
};

// Of those that wait beyond the parts that are written out: what forward leaves to backward.
void HoldMore(const Scene& one, uint32_t waiting, Scene& scene) {
  const Window& forward = one.forward.front();
  for (const Block& block : one.blocks) {
    const bool kept = block.birth == Birth::kEachStep && block.begin >= forward.begin &&
                      block.begin < forward.end && block.end > forward.end;
    for (uint32_t i = 0; kept && i < waiting; ++i) {
      Block other = block;
      other.begin = forward.begin + kHair * (i + 1);
      other.end = scene.backward.back().end - kHair;
      scene.blocks.push_back(other);
    }
  }
}

}  // namespace

void RunInPipeline(const Step& step, Scene& scene) {
  if (scene.pipeline_parts == 1) return;
  const uint32_t parts = std::exchange(scene.pipeline_parts, 1);
  const uint32_t waiting = std::min(scene.pipeline_stages, parts);
  Scene one = scene;
  if (!AccumulateLever().Apply(step, std::to_string(parts), scene).ok()) return;  // it was asked before
  const BatchAxis& axis = *FollowBatch(step);
  ScaleBatch(step, axis, axis.batch / parts, one);

  const Window forward = one.forward.front(), backward = one.backward.front();
  const Position both = backward.end - forward.begin;
  const auto written = static_cast<uint32_t>((scene.length - one.length) / both + 1.5);
  // Where there are more than wait, one of those that are written goes forward between two backward passes.
  const uint32_t first = std::min(waiting, parts > waiting ? written - 1 : written);
  const Schedule schedule(one, written, first);
  std::vector<Position> released(step.blocks.size(), kBefore);
  for (const Saved& saved : step.saved) {
    if (backward.begin <= saved.released && saved.released < backward.end)
      released[saved.block] = std::max(released[saved.block], saved.released);
  }
  for (Block& block : scene.blocks) {
    const Position begin = block.begin, end = block.end;
    if (block.birth != Birth::kSetup) block.begin = schedule.Of(begin);
    if (end < scene.length)
      block.end = schedule.EndOf(begin, end, block.origin == kNone ? kBefore : released[block.origin]);
    else if (end < kForever)
      block.end = scene.length + schedule.Of(end - scene.length);
  }
  for (Position& at : scene.empty_cache) at = schedule.Of(at);
  scene.backward.front().begin = schedule.Of(backward.begin);
  scene.forward.front().end = scene.backward.front().begin;
  HoldMore(one, waiting - first, scene);
}

}  // namespace vramscope::whatif
