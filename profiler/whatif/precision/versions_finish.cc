// SPDX-License-Identifier: Apache-2.0
// How long each version of a block lives: told when all of them are known.
#include <algorithm>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint8_t kDoubleType = 7;  // c10::ScalarType

// cat([x, y]), einsum("ij,jk->ik", x, y)
bool IsOfList(const Step& step, const Op& op, uint32_t block) {
  return std::ranges::any_of(
      InputsOf(step, op), [&](const Operand& given) { return given.block == block && given.element != 0; });
}

}  // namespace

// Whether the call of a module did that the block was made in, or one around it: what their functions alone
// had is gone by then.
bool Versions::ReturnedBetween(Position made, Position from, Position until) const {
  for (uint32_t call = CallAt(step_, made); call != kNone; call = step_.modules[call].parent)
    if (from + kHair < step_.modules[call].end && step_.modules[call].end < until) return true;
  return false;
}

// Whoever had the block last in the record has the version that it works on.
void Versions::Deal(uint32_t block, const std::vector<uint32_t>& versions,
                    const std::vector<Position>& held) {
  const StepBlock& recorded = step_.blocks[block];
  const auto longest = *std::max_element(versions.begin(), versions.end(),
                                         [&](uint32_t a, uint32_t b) { return held[a] < held[b]; });
  const bool forward = !InBackward(recorded.begin) && changed_.blocks[block].replaced >= kForever;
  // A variable of the program kept it beyond all that operators and nodes did.
  const uint32_t kept = returned_[block] != kNone ? returned_[block] : block;
  const bool outlives = forward && (recorded.end > held[longest] + kSoon ||
                                    ReturnedBetween(recorded.begin, held[longest], recorded.end));
  const uint32_t last = outlives ? kept : longest;
  for (const uint32_t version : versions) {
    if (settled_[version]) continue;
    StepBlock& made = changed_.blocks[version];
    made.end = version == last ? recorded.end : std::max(held[version], made.begin) + kHair;
    // Of several that an operator made for itself, C++ lets go in the reverse order, of a list's in theirs.
    const bool own = version >= recorded_ && made.op != kNone && held[version] == step_.ops[made.op].end;
    const Position behind = own ? (made.begin - step_.ops[made.op].begin) * kHair : 0;
    if (own && version != last) made.end += IsOfList(step_, step_.ops[made.op], block) ? behind : -behind;
  }
}

// Of a copy, which may be one of the same view, what a tensor is that had `share` of what was copied: more
// than all of it where that was expanded, x.to(half).expand(8, -1).
double Versions::ShareOf(uint32_t copy, double share) const {
  const uint64_t whole = step_.blocks[changed_.blocks[copy].copy_of].requested / BytesOf(kFloatType);
  const uint64_t copied = changed_.blocks[copy].requested / BytesOf(types_[copy]);
  return copied == 0 ? 1
                     : std::min(std::max(1.0, share),
                                share * static_cast<double>(whole) / static_cast<double>(copied));
}

uint32_t Versions::HeldAt(uint32_t block, Position at) const {
  const uint32_t returned = block < recorded_ ? returned_[block] : kNone;
  return returned != kNone && changed_.blocks[returned].begin < at ? returned : block;
}

// model.to(torch.bfloat16) converts buffers of float64 with all others, and conversions of them to the type
// of what they meet, self.positions.to(x.dtype), have nothing left to do.
void Versions::NarrowDoubles() {
  std::vector<bool> doubles(recorded_, false);
  for (uint32_t i = 0; i < recorded_; ++i)
    doubles[i] = step_.blocks[i].category == Category::kBuffer && step_.blocks[i].begin == kBefore;
  std::vector<bool> seen(recorded_, false);
  for (const Operand& operand : step_.operands) {
    if (operand.block == kNone) continue;
    seen[operand.block] = true;
    if (operand.dtype != kDoubleType) doubles[operand.block] = false;
  }
  for (uint32_t i = 0; i < recorded_; ++i) {
    doubles[i] = doubles[i] && seen[i];
    if (doubles[i]) changed_.blocks[i].requested /= BytesOf(kDoubleType) / BytesOf(kHalfType);
  }
  for (const Op& op : step_.ops) {
    if (op.node != kNone || step_.NameOf(op) != "aten::_to_copy" || op.input_count == 0) continue;
    const uint32_t given = InputsOf(step_, op)[0].block;
    if (given == kNone || !doubles[given]) continue;
    for (const Operand& result : OutputsOf(step_, op)) {
      if (result.block == kNone || result.block == given || !IsLow(result.block)) continue;
      StepBlock& gone = changed_.blocks[result.block];
      gone.requested = 0;
      gone.accumulated = kForever;
      gone.end = gone.begin + kHair;
      settled_[result.block] = true;
    }
  }
}

Window Versions::CacheAt(Position at) const {
  const auto part =
      std::find_if(forward_.begin(), forward_.end(), [&](const Window& one) { return at < one.end; });
  const std::vector<Position>& cleared = step_.autocast_cleared;
  const auto next = std::ranges::upper_bound(cleared, at);
  const Position left = left_[static_cast<size_t>(part - forward_.begin())];
  return {next == cleared.begin() ? part->begin : std::max(part->begin, next[-1]),
          next == cleared.end() ? left : std::min(left, *next)};
}

Step Versions::Finish(const std::vector<uint32_t>& saved_version) && {
  if (all_low_) NarrowDoubles();
  std::vector<Position> held = used_;
  for (size_t i = 0; i < held.size(); ++i) held[i] = std::max({held[i], held_[i], named_[i]});
  std::vector<uint32_t> lent;  // versions that a node or a variable keeps in the place of a clone not made
  for (const auto& [block, copy] : left_out_) {
    if (settled_[copy]) continue;
    held[copy] = std::max(held[copy], held[block]);
    lent.push_back(copy);
  }
  for (size_t i = 0; i < saved_version.size(); ++i) {
    Saved& saved = changed_.saved[i];
    const uint32_t recorded = saved.block;
    saved.block = saved_version[i];
    // Of several references of one node only one may have been seen to go.
    const Position ran = saved.node == kNone ? kForever : changed_.nodes[saved.node].end;
    held[saved.block] = std::max(held[saved.block], std::min(saved.released, ran));
    const bool own =
        recorded == (saved.block < recorded_ ? saved.block : changed_.blocks[saved.block].copy_of);
    if (!own) lent.push_back(saved.block);
    if (saved.block < recorded_) {
      if (!own)
        saved.share *= static_cast<double>(step_.blocks[recorded].requested) /
                       static_cast<double>(step_.blocks[saved.block].requested);
      continue;
    }
    changed_.blocks[saved.block].category = Category::kActivation;
    saved.share = ShareOf(saved.block, saved.share);
  }
  // return attended.transpose(1, 2).contiguous(): the function's own variable is named anew there, and those
  // of its callers have the copy.
  for (Named& one : changed_.named) {
    const Position replaced = changed_.blocks[one.block].replaced;
    if (replaced >= kForever) continue;
    if (one.itself) one.until = one.unconverted;
    one.until = std::min(one.until, NamedAsMadeBefore(changed_, one.block, replaced));
  }
  for (auto& one : changed_.held) {
    const Window call{changed_.modules[one.call].begin, changed_.modules[one.call].end};
    one.block = HeldAt(one.block, call.begin);
    if (call.end < kForever) UsedInForward(one.block, call.end);
  }
  for (KeptResult& one : changed_.kept_results) one.block = HeldAt(one.block, changed_.modules[one.call].end);
  for (const auto& [version, left] : all_cached_) {
    changed_.blocks[version].end = std::max(left, held[version] + kHair);
    changed_.blocks[version].last_use = left;
    settled_[version] = true;
  }
  for (uint32_t block = 0; block < recorded_; ++block) {
    StepBlock& recorded = changed_.blocks[block];
    // Of what a lever put in the optimizer has temporaries like those of a parameter that was there.
    const uint32_t like =
        types_[block] == 0 && Within(step_.optimizer, recorded.begin) ? recorded.copy_of : kNone;
    if (IsLow(like == kNone ? block : like)) recorded.requested /= BytesOf(kFloatType) / BytesOf(kHalfType);
    if (copies_[block].empty()) continue;
    if (step_.blocks[block].begin == kBefore) settled_[block] = true;
    std::vector<uint32_t> versions = {itself_[block]};  // of two that are held as long it is the last
    versions.insert(versions.end(), copies_[block].begin(), copies_[block].end());
    // What became a sum was settled with it; when it goes beside the sum's copies is told here.
    const auto sum = stands_for_.find(itself_[block]);
    const bool became = sum != stands_for_.end() && sum->second == block;
    if (became) settled_[itself_[block]] = false;
    Deal(block, versions, held);
    if (became) settled_[itself_[block]] = true;
  }
  for (const uint32_t version : lent)
    changed_.blocks[version].end = std::max(changed_.blocks[version].end, held[version] + kHair);
  return std::move(changed_);
}

}  // namespace vramscope::whatif
