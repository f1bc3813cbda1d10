// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/checkpoints/checkpointer.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "profiler/whatif/lifetimes/graph_behind.h"

namespace vramscope::whatif {

using model::kNone;

Checkpointer::Checkpointer(const Step& step, const std::vector<CallIndex>& calls,
                           const std::vector<OpIndex>& kept_ops)
    : step_(step), uses_(LastUsesOf(step)), kept_ops_(kept_ops), cached_(step.blocks.size(), false) {
  FindSegments(calls);
  FindSaves();
  FindGiven();
  for (const OpIndex index : kept_ops) {
    const Op& op = step.ops[index];
    for (uint32_t i = 0; i < op.output_count; ++i) {
      const BlockIndex block = step.operands[op.first_output + i].block;
      if (block != kNone && step.blocks[block].begin >= op.begin) cached_[block] = true;
    }
  }
}

bool Checkpointer::IsInnerOfKept(BlockIndex block) const {
  const StepBlock& made = step_.blocks[block];
  const auto behind = std::partition_point(kept_ops_.begin(), kept_ops_.end(),
                                           [&](OpIndex op) { return step_.ops[op].begin <= made.begin; });
  return behind != kept_ops_.begin() && !cached_[block] && made.end <= step_.ops[*(behind - 1)].end;
}

bool Checkpointer::any() const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [](const Segment& segment) { return segment.recompute < kForever; });
}

void Checkpointer::FindSegments(const std::vector<CallIndex>& calls) {
  for (const CallIndex call : calls) {
    Segment segment;
    segment.call = call;
    segment.begin = step_.modules[call].begin;
    segment.end = step_.modules[call].end;
    segment.parent = SegmentAt(segment.begin);
    if (segment.parent != kNone) segment.depth = segments_[segment.parent].depth + 1;
    levels_ = std::max(levels_, segment.depth + 1);
    segments_.push_back(segment);
  }
}

Checkpointer::SegmentIndex Checkpointer::SegmentAt(Position at) const {
  const auto behind = std::upper_bound(segments_.begin(), segments_.end(), at,
                                       [](Position p, const Segment& one) { return p < one.begin; });
  SegmentIndex place;
  if (behind != segments_.begin()) place = SegmentIndex(behind - segments_.begin() - 1);
  while (place != kNone && segments_[place].end <= at) place = segments_[place].parent;
  return place;
}

bool Checkpointer::IsWithin(SegmentIndex segment, SegmentIndex around) const {
  while (segment != kNone && segment != around) segment = segments_[segment].parent;
  return segment == around;
}

Position Checkpointer::Again(const Segment& segment, Position at) const {
  return Recomputed(segment.recompute, segment.depth, segment.begin, at);
}

Position Checkpointer::Unwound(const Segment& segment) const {
  return whatif::Unwound(segment.recompute, segment.depth);
}

void Checkpointer::FindSaves() {
  kept_.resize(step_.blocks.size());
  for (const Saved& saved : step_.saved) {
    const bool runs = saved.node == kNone || step_.nodes[saved.node].begin < kForever;
    // Backward skips a node if nothing was computed from its results. Such a node releases what it saved when
    // its results are freed, whether recorded or not.
    if (!runs && saved.released >= kForever) continue;
    Kept& kept = kept_[saved.block];
    const SegmentIndex place = SegmentAt(saved.at);
    if (place == kNone || saved.released >= kForever) {
      kept.outside = std::max(kept.outside, saved.released);
      continue;
    }
    kept.inside = std::max(kept.inside, saved.released);
    segments_[place].last_save = std::max(segments_[place].last_save, saved.at);
    if (!runs && SegmentAt(saved.released) == place) continue;  // so does the recomputed node
    Position& unpacked = unpacked_.emplace(std::pair(saved.block, place), kBefore).first->second;
    unpacked = std::max(unpacked, uses_.UnpackedUntil(step_, saved));
    for (SegmentIndex around = place; around != kNone; around = segments_[around].parent) {
      Segment& segment = segments_[around];
      if (step_.blocks[saved.block].begin < segment.begin) given_.emplace_back(saved.block, around);
      segment.released = std::max(segment.released, saved.released);
      if (saved.node != kNone) segment.recompute = std::min(segment.recompute, uses_.works_from[saved.node]);
    }
  }
}

// The inputs of a call are held until it is recomputed, even if no node saves them and no operator uses them:
// checkpoint() keeps the function with all its arguments.
void Checkpointer::FindGiven() {
  const auto add = [&](BlockIndex block, Position at) {
    const Position born = step_.blocks[block].begin;
    if (born == kBefore) return;
    for (SegmentIndex place = SegmentAt(at); place != kNone && born < segments_[place].begin;
         place = segments_[place].parent)
      given_.emplace_back(block, place);
  };
  for (const Operand& operand : step_.operands) {
    const Op& op = step_.ops[operand.op];
    if (operand.block == kNone || op.node != kNone) continue;
    add(operand.block, op.begin);
  }
  std::sort(given_.begin(), given_.end());
  given_.erase(std::unique(given_.begin(), given_.end()), given_.end());
  for (const Segment& segment : segments_) {
    if (segment.parent == kNone) continue;
    Position& last_save = segments_[segment.parent].last_save;
    last_save = std::max(last_save, segment.begin);
  }
}

void Checkpointer::FindStates(const Scene& scene, Left& left, Graphs& graphs) const {
  for (const Block& block : scene.blocks) {
    if (block.birth != Birth::kEachStep || block.origin == kNone || block.end >= kForever ||
        block.end < scene.length || block.category == classify::Category::kGradient)
      continue;
    const Position made = step_.blocks[block.origin].begin;
    const Position replaced = block.end - scene.length;
    const SegmentIndex home = SegmentAt(made);
    if (home == kNone || SegmentAt(replaced) != home || !IsMadeAgain(home)) continue;
    const Segment& segment = segments_[home];
    if (std::max(made, replaced) > segment.last_save) continue;
    left.replaced[block.origin] = Again(segment, replaced);
    left.Add(block.origin, home, block.end);
    graphs[home].emplace_back(block.origin, block.end);
  }
}

Checkpointer::Left Checkpointer::FindLeft(const Scene& scene) const {
  Left left;
  Graphs held;
  FindStates(scene, left, held);
  if (held.empty()) return left;
  std::map<SegmentIndex, std::unordered_map<NodeIndex, Position>> nodes;  // until when
  const GraphsBehind graphs(step_);
  for (const auto& [home, blocks] : held) nodes[home] = graphs.Until(blocks, segments_[home].begin);
  for (const Saved& saved : step_.saved) {
    const auto known = nodes.find(SegmentAt(saved.at));
    if (known == nodes.end() || saved.node == kNone) continue;
    const auto behind = known->second.find(saved.node);
    if (behind != known->second.end()) left.Add(saved.block, known->first, behind->second);
  }
  return left;
}

void Checkpointer::Leave(const Left& left, SegmentIndex place, Block& copy) {
  const auto found = left.until.find({copy.origin, place});
  if (found != left.until.end()) copy.end = std::max(copy.end, After(found->second));
}

void Checkpointer::LeaveRecorded(const Left& left, SegmentIndex home, Block& block) const {
  const auto replaced = left.replaced.find(block.origin);
  if (replaced != left.replaced.end()) block.end = std::max(block.begin, replaced->second);
  for (auto it = left.until.lower_bound({block.origin, SegmentIndex(0)});
       it != left.until.end() && it->first.first == block.origin; ++it)
    if (!IsWithin(home, it->first.second)) block.end = std::max(block.end, After(it->second));
}

void Checkpointer::Change(Scene& scene) const {
  std::vector<Block> copies;
  const Left left = FindLeft(scene);
  for (Block& block : scene.blocks) {
    if (block.birth != Birth::kEachStep || block.origin == kNone) continue;
    const SegmentIndex home = SegmentAt(step_.blocks[block.origin].begin);
    // Parameters gathered for backward exist by then: fully_shard requests them before the nodes run.
    const bool gathered = block.category == classify::Category::kCommunication;
    const bool again = home != kNone && !gathered;
    if (again && cached_[block.origin] && IsMadeAgain(home)) {
      Position end = segments_[home].released;
      if (step_.blocks[block.origin].begin <= segments_[home].last_save) end = EndOfCopy(block.origin, home);
      Drop(block, home);
      block.end = std::max(block.end, end);
      Leave(left, home, block);
      continue;
    }
    if (again && !IsInnerOfKept(block.origin)) Recompute(block, home, left, copies);
    Drop(block, home);
    LeaveRecorded(left, home, block);
  }
  GatherWithin(scene);
  scene.blocks.insert(scene.blocks.end(), copies.begin(), copies.end());
  std::vector<std::vector<std::pair<BlockIndex, Position>>> held(segments_.size());
  for (const auto& [kept, until] : left.until)
    if (step_.blocks[kept.first].begin < segments_[kept.second].begin)
      held[kept.second].emplace_back(kept.first, until);
  for (const SegmentIndex i : segments_.Indices()) {
    const Segment& segment = segments_[i];
    if (segment.recompute < kForever && segment.parent == kNone)
      scene.again.push_back({segment.begin, segment.end, segment.recompute, segment.released,
                             Unwound(segment), std::move(held[i])});
  }
}

double Checkpointer::RecomputedNs() const {
  double ns = 0;
  for (const Segment& segment : segments_) {
    if (segment.recompute < kForever) ns += step_.HostNs(segment.begin, segment.last_save);
  }
  for (const OpIndex index : kept_ops_) {
    const Op& op = step_.ops[index];
    const SegmentIndex home = SegmentAt(op.begin);
    if (home != kNone && IsMadeAgain(home) && op.begin <= segments_[home].last_save)
      ns -= step_.HostNs(op.begin, op.end);
  }
  return std::max(ns, 0.0);
}

Position Checkpointer::EndOfCopy(BlockIndex block, SegmentIndex place) const {
  const Segment& segment = segments_[place];
  const StepBlock& recorded = step_.blocks[block];
  const Position unwound = Unwound(segment);
  const auto own = unpacked_.find({block, place});
  const Position given = GivenWithin(block, place);
  const Position needed = own == unpacked_.end() ? given : std::max(given, Before(own->second));
  if (needed != kBefore) return std::max(needed, unwound);
  // Results inside a nested segment are freed there, as in forward.
  const bool dropped = SegmentAt(recorded.begin) != place && kept_[block].inside != kBefore;
  const Position end = dropped ? std::max(uses_.held[block], recorded.begin) : recorded.end;
  return end < segment.last_save ? Again(segment, end) : unwound;
}

void Checkpointer::Recompute(const Block& block, SegmentIndex home, const Left& left,
                             std::vector<Block>& copies) const {
  const Position begin = step_.blocks[block.origin].begin;
  for (SegmentIndex place = home; place != kNone; place = segments_[place].parent) {
    const Segment& segment = segments_[place];
    if (!IsMadeAgain(place) || begin > segment.last_save) continue;
    Block copy = block;
    copy.begin = Again(segment, begin);
    copy.end = EndOfCopy(block.origin, place);
    Leave(left, place, copy);
    copies.push_back(copy);
  }
}

void Checkpointer::Drop(Block& block, SegmentIndex home) const {
  const StepBlock& recorded = step_.blocks[block.origin];
  const Kept& kept = kept_[block.origin];
  const Position given = GivenUntil(block.origin, home);
  const bool longer =  // held by something else
      !IsAtOnce(recorded.end, kept.inside) && !IsAtOnce(recorded.end, kept.outside);
  if (kept.inside != kBefore && !longer) {
    const Position used = uses_.held[block.origin];
    block.end = std::min(block.end, After(std::max({used, kept.outside, block.begin, given})));
  }
  if (given != kBefore) block.end = std::max(block.end, After(given));
}

Position Checkpointer::GivenUntil(BlockIndex block, SegmentIndex home) const {
  Position until = kBefore;
  for (auto it = std::lower_bound(given_.begin(), given_.end(), std::pair(block, SegmentIndex(0)));
       it != given_.end() && it->first == block; ++it) {
    const Segment& segment = segments_[it->second];
    if (segment.parent == kNone && !IsWithin(home, it->second) && IsMadeAgain(it->second))
      until = std::max(until, segment.released);
  }
  return until;
}

Position Checkpointer::GivenWithin(BlockIndex block, SegmentIndex around) const {
  if (levels_ == 1) return kBefore;
  Position until = kBefore;
  for (auto it = std::lower_bound(given_.begin(), given_.end(), std::pair(block, SegmentIndex(0)));
       it != given_.end() && it->first == block; ++it) {
    if (it->second == around || !IsWithin(it->second, around) || !IsMadeAgain(it->second)) continue;
    until = std::max(until, Unwound(segments_[it->second]));
    const auto kept = unpacked_.find(*it);
    if (kept != unpacked_.end()) until = std::max(until, Before(kept->second));
  }
  return until;
}

namespace {

bool IsGathered(const StepBlock& block) {
  return block.category == classify::Category::kCommunication && block.copy_of != kNone &&
         block.begin > kBefore;
}

}  // namespace

// Units of fully_shard inside a segment. The recomputation gathers those whose backward has not begun, one
// after the other as forward does, and frees none of them. Their backward then uses these parameters.
//
//   segment      recompute │ unit a │ unit b ...          │ backward of b │ backward of a
//   recorded                                   gather b ├─────────────┤
//                                                          gather a ├────────────────┤
//   with it      gather a ├────────────────────────────────────────────────────────┤
//                         gather b ├──────────────────────────────────┤
//
// If a unit is the segment itself, backward has already gathered its parameters. PyTorch: pre_forward and
// post_forward in torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, 2.15.
void Checkpointer::GatherWithin(Scene& scene) const {
  struct Gather {
    const StepBlock* forward = nullptr;  // nullptr: several, because the unit is called more than once
    const Segment* segment = nullptr;    // the outermost segment
    Block* backward = nullptr;           // the first one; a block for gradients may look the same
  };
  // By parameter and stream: the block into which a unit is gathered is on another stream than its
  // parameters.
  std::map<std::pair<BlockIndex, uint16_t>, Gather> gathers;
  for (const StepBlock& block : step_.blocks) {
    if (!IsGathered(block)) continue;
    SegmentIndex place = SegmentAt(block.begin);
    while (place != kNone && segments_[place].parent != kNone) place = segments_[place].parent;
    if (place == kNone || !IsMadeAgain(place)) continue;
    const auto [known, fresh] =
        gathers.try_emplace({block.copy_of, block.stream}, Gather{&block, &segments_[place]});
    if (!fresh) known->second.forward = nullptr;
  }
  for (Block& block : scene.blocks) {
    if (block.origin == kNone || !IsGathered(step_.blocks[block.origin])) continue;
    const StepBlock& gathered = step_.blocks[block.origin];
    const auto found = gathers.find({gathered.copy_of, gathered.stream});
    if (found == gathers.end()) continue;
    Gather& gather = found->second;
    if (gather.forward == nullptr || gather.forward == &gathered ||
        gather.forward->requested != gathered.requested || block.end <= gather.segment->recompute)
      continue;
    if (gather.backward == nullptr || block.begin < gather.backward->begin) gather.backward = &block;
  }
  for (const auto& [of, gather] : gathers)
    if (gather.backward != nullptr)
      GatherEarlier(*gather.segment, *gather.forward, of.second != step_.blocks[of.first].stream,
                    *gather.backward);
}

// `together`: `block` holds all of the unit's parameters. They are copied out of it at once if the backward
// of the following unit gathered it ahead.
void Checkpointer::GatherEarlier(const Segment& segment, const StepBlock& forward, bool together,
                                 Block& block) const {
  const bool ahead = block.begin <= segment.recompute;
  if (ahead && !together) return;  // its backward has begun
  const Position again = Again(segment, forward.begin);
  if (together && ahead)
    block.end = std::min(block.end, After(again));
  else if (together)
    block.end = forward.end < segment.end ? Again(segment, forward.end) : Unwound(segment);
  if (!ahead) block.begin = again;
}

}  // namespace vramscope::whatif
