// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/attention/room.h"

#include <algorithm>

#include "profiler/whatif/attention/filled_heads.h"
#include "profiler/whatif/attention/flash_results.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr Position kEngine = 2;  // events of the engine itself at the end of a node

// What a product hands out: without gaps, or with its last two dimensions exchanged.
Extents StridesOfProduct(std::span<const int64_t> sizes, bool rows_last) {
  Extents made(sizes.begin(), sizes.end());
  if (!rows_last || made.size() < 2) return StridesWithoutGaps(made);
  std::swap(made.end()[-1], made.end()[-2]);
  Extents strides = StridesWithoutGaps(made);
  std::swap(strides.end()[-1], strides.end()[-2]);
  return strides;
}

// Of a view with other dimensions in front: found by the recorded strides.
std::optional<Extents> Reordered(const Step& step, const Operand& from, const Operand& to,
                                 const Extents& strides) {
  const auto sizes = SizesOf(step, from), result = SizesOf(step, to);
  const auto before = StridesOf(step, from), behind = StridesOf(step, to);
  if (strides.size() != sizes.size() || sizes.size() != result.size() || before.size() != sizes.size() ||
      behind.size() != sizes.size())
    return std::nullopt;
  Extents reordered;
  std::vector<bool> used(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (size_t k = 0; k < sizes.size() && reordered.size() == i; ++k) {
      if (used[k] || sizes[k] != result[i] || before[k] != behind[i]) continue;
      used[k] = true;
      reordered.push_back(strides[k]);
    }
    if (reordered.size() == i) return std::nullopt;
  }
  return reordered;
}

}  // namespace

AttentionRoom::AttentionRoom(const Step& step, const AttentionCall& call, Step& changed)
    : step_(step),
      call_(call),
      changed_(changed),
      backward_(call.backward.end > 0 && !call.nodes.empty()),
      output_(call.output),
      gradients_(call.gradients) {
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const bool backward = step.ops[i].node != kNone && IsOwn(step.ops[i].node);
    if (backward) backward_ops_.push_back(i);
    if (backward || (call.first <= i && i < call.last)) Blank(changed.ops[i]);
  }
  const Window time = call.backward;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    const bool forward = call.forward.begin < block.begin && block.begin < call.forward.end;
    const bool inner = backward_ && time.begin < block.begin && block.begin < time.end;
    const bool result =
        i == output_ || std::find(gradients_.begin(), gradients_.end(), i) != gradients_.end();
    if ((forward || inner) && !result) Drop(changed.blocks[i]);
    // The gradient that it is given is held while it works.
    if (backward_ && block.begin < time.begin && block.begin > step.backward.front().begin &&
        block.end > time.begin && block.end < time.end) {
      changed.blocks[i].end = time.end - 2 * kHair;
      given_.push_back(i);
    }
  }
  std::erase_if(changed.saved, [&](const Saved& saved) { return IsOwn(saved.node); });
  for (const Saved& saved : step.saved)
    if (IsOwn(saved.node)) LetGo(saved.block);
}

bool AttentionRoom::IsOwn(uint32_t node) const {
  return std::find(call_.nodes.begin(), call_.nodes.end(), node) != call_.nodes.end();
}

void AttentionRoom::Blank(Op& op) {
  for (uint32_t i = 0; i < op.input_count; ++i) changed_.operands[op.first_input + i].block = kNone;
  for (uint32_t i = 0; i < op.output_count; ++i) changed_.operands[op.first_output + i].block = kNone;
  op.input_count = op.output_count = 0;
  op.name = TextOf(changed_, "vramscope::exchanged");
}

// What only the call's nodes kept goes when the program no longer needs it: a mask, which other calls keep
// too, with the last of those that still do.
void AttentionRoom::LetGo(uint32_t kept) {
  const StepBlock& recorded = step_.blocks[kept];
  const auto last_release = [&](const std::vector<Saved>& all) {
    Position last = kBefore;
    for (const Saved& one : all)
      if (one.block == kept) last = std::max(last, one.released);
    return last;
  };
  if (recorded.begin == kBefore || recorded.end > last_release(step_.saved) + kAtOnce) return;
  const Position until = std::max(LastUsesOf(step_).held[kept], last_release(changed_.saved));
  StepBlock& block = changed_.blocks[kept];
  block.end = std::min(block.end, std::max(until, recorded.begin) + kHair);
}

// An operator that copies a block whole, behind that moment: its result; kNone: there is none.
uint32_t AttentionRoom::CopyBehind(uint32_t block, Position behind) const {
  for (const Op& op : step_.ops) {
    if (op.begin < behind || op.input_count == 0 || op.output_count == 0 ||
        step_.operands[op.first_input].block != block || step_.NameOf(op) != "aten::clone")
      continue;
    const uint32_t copy = step_.operands[op.first_output].block;
    const bool whole =
        copy != kNone && copy != block && step_.blocks[copy].requested == step_.blocks[block].requested;
    return whole ? copy : kNone;
  }
  return kNone;
}

void AttentionRoom::Join(uint32_t& block, Position behind) {
  const uint32_t copy = CopyBehind(block, behind);
  if (copy == kNone) return;
  for (Operand& operand : changed_.operands)
    if (operand.block == block) operand.block = copy;
  changed_.blocks[copy].begin = changed_.blocks[block].begin;
  Drop(changed_.blocks[block]);
  block = copy;
}

// What the memory-efficient kernel handed out lay so already, and was copied in another order.
void AttentionRoom::JoinCopies() {
  if (call_.kernel == AttentionKernel::kEfficient) return;
  Join(output_, call_.forward.end);
  for (uint32_t& gradient : gradients_) Join(gradient, call_.backward.end);
}

// A view that becomes a copy: the operator that asks for the elements in another order. A function that calls
// attention, and returns what it got so, has asked itself: x.transpose(1, 2).contiguous(), which is no
// operator where nothing is to be copied.
uint32_t AttentionRoom::AskerBehind(uint32_t block, Position behind, bool rows_last) const {
  std::optional<Extents> strides;  // those that it has then, where that can be told
  Position seen = kBefore;
  uint32_t reordered = kNone;  // by that function
  for (uint32_t i = 0; i < step_.ops.size(); ++i) {
    const Op& op = step_.ops[i];
    if (op.begin < std::max(behind, seen) || op.input_count == 0) continue;
    const Operand& from = step_.operands[op.first_input];
    const std::string_view name = step_.NameOf(op);
    if (from.block != block || !name.starts_with("aten::")) continue;
    const std::span<const int64_t> sizes = SizesOf(step_, from);
    if (seen == kBefore) strides = StridesOfProduct(sizes, rows_last);
    const Operand* const to = op.output_count == 0 ? nullptr : &step_.operands[op.first_output];
    if (name == "aten::reshape" || name == "aten::contiguous") {
      // It copies already: no order of the elements is the one that it asks for.
      if (to != nullptr && to->block != kNone && to->block != block) return kNone;
      const uint32_t asker = reordered != kNone && op.begin > step_.ops[call_.first].left ? reordered : i;
      if (to == nullptr || !strides || strides->size() != sizes.size()) return asker;
      strides = StridesOfView(sizes, *strides, SizesOf(step_, *to));
      if (!strides || (name == "aten::contiguous" && strides != StridesWithoutGaps(sizes))) return asker;
    } else if (name == "aten::transpose" || name == "aten::permute" || name == "aten::t") {
      strides = to == nullptr || !strides ? std::nullopt : Reordered(step_, from, *to, *strides);
      if (op.end < step_.ops[call_.first].left) reordered = i;
    } else if (name == "aten::view" && to != nullptr && strides && strides->size() == sizes.size()) {
      strides = StridesOfView(sizes, *strides, SizesOf(step_, *to));
      if (!strides) return reordered;
    } else if (name == "aten::narrow" ||
               name == "aten::slice") {  // of cat([cache, x]), where nothing is cached
      if (to == nullptr || !std::ranges::equal(sizes, SizesOf(step_, *to))) return kNone;
    } else if (name != "aten::as_strided") {
      return kNone;
    }
    seen = op.end;
  }
  return kNone;
}

void AttentionRoom::Split(uint32_t& block, Position behind, bool rows_last) {
  const uint32_t asker = AskerBehind(block, behind, rows_last);
  if (asker == kNone) return;
  StepBlock made = CopyOf(step_, block);
  made.copy_of = kNone;
  const Op& op = changed_.ops[asker];
  made.end = op.end + kHair;
  made.op = call_.first;
  changed_.blocks[block].begin = op.begin + kHair;
  changed_.blocks[block].op = asker;
  changed_.blocks.push_back(made);
  const auto product = static_cast<uint32_t>(changed_.blocks.size() - 1);
  for (uint32_t i = 0; i <= asker; ++i) {
    const Op& viewer = changed_.ops[i];
    if (viewer.begin < behind) continue;
    const uint32_t results = i == asker ? 0 : viewer.output_count;
    for (uint32_t k = 0; k < viewer.input_count + results; ++k) {
      const uint32_t place =
          k < viewer.input_count ? viewer.first_input + k : viewer.first_output + k - viewer.input_count;
      if (changed_.operands[place].block == block) changed_.operands[place].block = product;
    }
  }
  block = product;
}

// --precision takes memory-efficient attention for flash attention, whose result lies as the queries do, and
// puts in a copy where the program wants heads beside each other (precision/kernels.h). Of other kernels it
// is the result itself.
void AttentionRoom::TakeBackCopies() {
  if (FilledWidth(call_.width) == call_.width) TakeBackGradientCopies(step_, gradients_, changed_);
  StepBlock& output = changed_.blocks[output_];
  for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
    const StepBlock& copy = step_.blocks[i];
    if (copy.copy_of != output_ || copy.begin != output.replaced || copy.requested != output.requested)
      continue;
    output.end = std::max(output.end, copy.end);
    output.replaced = kForever;
    for (Saved& saved : changed_.saved)
      if (saved.block == i) saved.block = output_;
    for (Operand& operand : changed_.operands)
      if (operand.block == i) operand.block = output_;
    Drop(changed_.blocks[i]);
    return;
  }
}

void AttentionRoom::SplitCopies() {
  Split(output_, call_.forward.end, false);
  for (uint32_t& gradient : gradients_) {  // of queries, keys and values
    const bool rows_last = gradients_.size() == 3 && &gradient == &gradients_[1];
    if (IsViewOfProduct(gradient, call_.backward.end, rows_last))
      Join(gradient, call_.backward.end);
    else
      Split(gradient, call_.backward.end, rows_last);
  }
}

// The gradient of x.view(batch, heads, rows, width) asks for [batch * heads, rows, width].
bool AttentionRoom::IsViewOfProduct(uint32_t block, Position behind, bool rows_last) const {
  for (const Op& op : step_.ops) {
    if (op.begin < behind || op.input_count == 0 || op.output_count == 0) continue;
    const Operand &from = InputsOf(step_, op)[0], &to = OutputsOf(step_, op)[0];
    if (from.block != block || !step_.NameOf(op).starts_with("aten::")) continue;
    if (step_.NameOf(op) != "aten::reshape" || to.block == block) return false;
    const std::span<const int64_t> sizes = SizesOf(step_, from);
    const std::optional<Extents> strides = StridesOfProduct(sizes, rows_last);
    return strides && strides->size() == sizes.size() &&
           StridesOfView(sizes, *strides, SizesOf(step_, to)).has_value();
  }
  return false;
}

Stage AttentionRoom::Forward() { return {changed_, call_.forward, call_.first, Stream(), true}; }

Stage AttentionRoom::Backward(std::string_view node) {
  Node& own = changed_.nodes[call_.nodes.front()];
  own.name = TextOf(changed_, node);
  own.op = call_.first;
  own.begin = call_.backward.begin;
  own.end = call_.backward.end;
  const uint32_t op = backward_ops_.front();
  changed_.ops[op].node = call_.nodes.front();
  changed_.ops[op].parent = kNone;
  std::vector<Operand> outputs;
  const Operand* const given[] = {&call_.query, &call_.key, &call_.value};
  for (size_t i = 0; i < gradients_.size(); ++i)
    outputs.push_back(Result(gradients_[i], *given[i < std::size(given) ? i : 0]));
  Revive(op, node, {step_.ops[op].begin, call_.backward.end - kEngine}, std::move(outputs));
  return {changed_, call_.backward, op, Stream(), false};
}

void AttentionRoom::Name(std::string_view op, uint32_t sums, uint64_t rows) {
  std::vector<Operand> outputs = {Result(output_, call_.query)};
  if (sums != kNone) {
    const auto length = static_cast<int64_t>(rows);
    Operand row = Result(sums, call_.query);
    row.shape = ShapeOf({call_.batch, call_.heads, length});
    row.strides = ShapeOf({call_.heads * length, length, 1});
    outputs.push_back(row);
  }
  Revive(call_.first, op, call_.forward, std::move(outputs));
}

// An operator that was, as another one on the call's operands.
void AttentionRoom::Revive(uint32_t op, std::string_view name, Window time, std::vector<Operand> outputs) {
  Op& made = changed_.ops[op];
  made.name = TextOf(changed_, name);
  made.begin = time.begin;
  made.end = time.end;
  const auto add = [&](std::vector<Operand> operands, uint32_t& first, uint32_t& count, uint8_t flag) {
    first = static_cast<uint32_t>(changed_.operands.size());
    count = static_cast<uint32_t>(operands.size());
    for (uint16_t i = 0; i < count; ++i) {
      operands[i].op = op;
      operands[i].argument = i;
      operands[i].flags |= flag;
      changed_.operands.push_back(operands[i]);
    }
  };
  add({call_.query, call_.key, call_.value}, made.first_input, made.input_count, 0);
  add(std::move(outputs), made.first_output, made.output_count, trace::kTensorIsOutput);
}

// With the sizes of `like`, and the strides by which what is behind the call sees it: the queries may be a
// part of wider rows, and the batch that is followed through would be where nobody looks for it.
Operand AttentionRoom::Result(uint32_t block, const Operand& like) const {
  Operand operand = like;
  const std::span<const int64_t> sizes = SizesOf(step_, like);
  const auto seen =
      std::find_if(changed_.operands.begin(), changed_.operands.end(), [&](const Operand& other) {
        return other.block == block && changed_.shapes[other.strides].known &&
               std::ranges::equal(SizesOf(changed_, other), sizes);
      });
  if (seen != changed_.operands.end()) operand.strides = seen->strides;
  operand.block = block;
  operand.offset = 0;
  operand.flags = static_cast<uint8_t>(trace::kTensorRequiresGrad);
  return operand;
}

uint32_t AttentionRoom::ShapeOf(const std::vector<int64_t>& dims) {
  changed_.shapes.push_back(
      {static_cast<uint32_t>(changed_.dims.size()), static_cast<uint32_t>(dims.size()), true});
  changed_.dims.insert(changed_.dims.end(), dims.begin(), dims.end());
  return static_cast<uint32_t>(changed_.shapes.size() - 1);
}

void AttentionRoom::Keep(uint32_t block, Position at, double share) {
  if (!backward_) return;
  const Position released = call_.backward.end - kHair;
  changed_.saved.push_back({block, call_.nodes.front(), at, released, 0, share});
  StepBlock& kept = changed_.blocks[block];
  if (kept.begin == kBefore && kept.end >= kForever) return;
  kept.end = std::max(kept.end, released + kHair);
  if (kept.category == Category::kTemporaryForward) kept.category = Category::kActivation;
}

// norm(x).type_as(x) as a value: with --precision the call is given a copy, and its nodes kept that.
uint32_t AttentionRoom::KeptOf(uint32_t block) const {
  uint32_t kept = block;
  for (const Saved& saved : step_.saved) {
    if (!IsOwn(saved.node)) continue;
    if (saved.block == block) return block;
    const StepBlock& copy = step_.blocks[saved.block];
    if (copy.copy_of == block && copy.begin < call_.forward.begin) kept = saved.block;
  }
  return kept;
}

void AttentionRoom::KeepOperands(Position at) {
  for (const Operand* const operand : {&call_.query, &call_.key, &call_.value}) {
    const uint32_t kept = KeptOf(operand->block);
    const auto whole = static_cast<double>(step_.blocks[kept].requested);
    const uint64_t part = operand == &call_.query ? call_.QueryBytes() : call_.KeyBytes();
    Keep(kept, at, whole == 0 ? 1 : static_cast<double>(part) / whole);
  }
}

void AttentionRoom::ReleaseGiven(Stage& stage) {
  const Position at = stage.Tick();
  for (const uint32_t block : given_) changed_.blocks[block].end = at;
}

void AttentionRoom::Release(uint32_t block, Stage& stage) {
  const Position at = stage.Tick();
  if (block < step_.blocks.size()) {  // the program's own: as long as something else needs it
    StepBlock& own = changed_.blocks[block];
    if (own.end > call_.backward.end) return;
    Position until = LastUsesOf(step_).held[block];
    for (const Saved& other : changed_.saved)
      if (other.block == block && other.node != call_.nodes.front()) until = std::max(until, other.released);
    own.end = std::max(at, until + kHair);
    return;
  }
  changed_.blocks[block].end = at;
  for (Saved& saved : changed_.saved)
    if (saved.block == block) saved.released = at;
}

}  // namespace vramscope::whatif
