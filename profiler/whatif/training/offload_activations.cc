// SPDX-License-Identifier: Apache-2.0
// Every tensor that a node saves is copied to the host when it is saved, and copied back when the node runs:
//
//   recorded   │ made ├ used ├───────────── kept ────────────────│ its node ├ released
//   on host    │ made ├ used ├ freed               a copy comes back │ its node ├ freed
//
// One copy per reference: a tensor that three nodes save comes back three times, one after the other, and a
// copy of a weight comes back in addition to the weight. A view copies only its own elements. If they are not
// contiguous, the device packs them first. PyTorch: torch/autograd/graph.py, save_on_cpu;
// copy_requires_temporaries in aten/src/ATen/native/cuda/Copy.cu; 2.1 to 2.15.
//
// Memory-efficient attention pads the rows of an added mask. The mask comes back without this padding, and
// backward pads it again (pad in _scaled_dot_product_efficient_attention_backward).
//
// A recomputed part saves nothing but its positional arguments: they move to the host and come back before
// the recomputation (_NoopSaveInputs in torch/utils/checkpoint.py). Keyword arguments stay on the device. The
// model assumes calls as in the documentation, checkpoint(block, hidden, context), with positional arguments.
// If an argument is a view, the first operator that uses it shows its elements.
//
// The hooks are active in forward only. Tensors that nodes created in backward save stay on the device. Such
// nodes use copies of what came back, or tensors that a torch.autograd.Function keeps without
// save_for_backward(), which no hook sees. The recording does not show which of the two it is.
#include "profiler/whatif/training/offload_activations.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr std::string_view kEfficientCall = "aten::_scaled_dot_product_efficient_attention";
constexpr uint16_t kMask = 3;      // argument index in attention
constexpr uint64_t kAligned = 16;  // rows of a mask are multiples of this many bytes

class Offloader {
 public:
  Offloader(const Step& step, Scene& scene) : step_(step), uses_(LastUsesOf(step)), scene_(scene) {
    for (const Block& block : scene.blocks) {
      if (block.origin == kNone) continue;
      const auto [place, fresh] = of_origin_.try_emplace(block.origin, block);
      if (!fresh && block.begin < place->second.begin) place->second = block;
      // A mask for which the program requests a gradient: the graph keeps it.
      if (block.category == Category::kGradient && step.blocks[block.origin].category != Category::kGradient)
        leaves_.insert(block.origin);
    }
    kept_.resize(step.blocks.size(), kBefore);
    kept_by_again_.resize(step.blocks.size(), kBefore);
    stays_.resize(step.blocks.size(), false);
  }

  uint64_t Move() {
    std::vector<Block> copies;
    FindReleased();
    for (const Saved& saved : step_.saved) Send(saved, copies);
    SendUnsaved(copies);
    LeaveOutCopies();
    for (Block& block : scene_.blocks) Drop(block);
    scene_.blocks.insert(scene_.blocks.end(), copies.begin(), copies.end());
    return moved_;
  }

 private:
  // The recomputed part of forward that contains that moment.
  [[nodiscard]] const Again* AgainAt(Position at) const {
    for (const Again& again : scene_.again)
      if (again.begin <= at && at < again.end) return &again;
    return nullptr;
  }

  // Inputs of these parts that their nodes save.
  void FindReleased() {
    for (const Saved& saved : step_.saved) {
      const Again* const again = AgainAt(saved.at);
      if (again == nullptr || step_.blocks[saved.block].begin >= again->begin) continue;
      if (saved.released >= kForever) continue;  // its release was not recorded
      Position& last = released_.try_emplace({saved.block, again}, kBefore).first->second;
      last = std::max(last, uses_.UnpackedUntil(step_, saved));
    }
  }

  // Arguments that no node saves, such as a mask that was converted first: the checkpoint keeps them.
  void SendUnsaved(std::vector<Block>& copies) {
    for (const Again& again : scene_.again) {
      for (const BlockIndex block : WorkedOnIn(again)) {
        const auto found = of_origin_.find(block);
        if (found == of_origin_.end() || found->second.birth != Birth::kEachStep || stays_[block]) continue;
        BringBack(block, again, copies);
        if (kept_[block] == kBefore && !leaves_.contains(block)) unsaved_.insert(block);
      }
    }
  }

  [[nodiscard]] std::span<const Op> OpsOf(const Again& again) const {
    const auto first = std::ranges::lower_bound(step_.ops, again.begin, {}, &Op::begin);
    return {first, std::ranges::lower_bound(first, step_.ops.end(), again.end, {}, &Op::begin)};
  }

  // The inputs that a part uses.
  [[nodiscard]] std::vector<BlockIndex> WorkedOnIn(const Again& again) const {
    std::vector<BlockIndex> blocks;
    for (const Op& op : OpsOf(again)) {
      if (op.node != kNone) continue;
      for (const Operand& one : InputsOf(step_, op)) {
        const bool given = one.block != kNone && step_.blocks[one.block].begin > kBefore &&
                           step_.blocks[one.block].begin < again.begin;
        if (given && std::ranges::find(blocks, one.block) == blocks.end()) blocks.push_back(one.block);
      }
    }
    return blocks;
  }

  // The first use of an input by a part: the operand is the input tensor itself. nullptr: no use, or unknown
  // strides.
  [[nodiscard]] const Operand* GivenAs(BlockIndex block, const Again& again) const {
    for (const Op& op : OpsOf(again))
      for (const Operand& operand : InputsOf(step_, op))
        if (operand.block == block && op.node == kNone) return IsLayoutKnown(operand) ? &operand : nullptr;
    return nullptr;
  }

  [[nodiscard]] bool IsLayoutKnown(const Operand& operand) const {
    const Shape &shape = step_.shapes[operand.shape], &strides = step_.shapes[operand.strides];
    return shape.known && strides.known && shape.count == strides.count;
  }

  // A view copies only its own elements; x.expand(8, -1) copies them eight times. Both are packed on the
  // device.
  void BringAsGiven(Block& copy, const Again& again, std::vector<Block>& copies) const {
    const Operand* const given = GivenAs(copy.origin, again);
    const OpIndex maker = OutermostMaker(step_, copy.origin);
    if (given == nullptr || maker == kNone) return;
    uint64_t whole = 0;
    for (const Operand& made : OutputsOf(step_, step_.ops[maker]))
      if (made.block == copy.origin && step_.shapes[made.shape].known)
        whole = std::max(whole, ElementsIn(step_, made));
    const uint64_t elements = ElementsIn(step_, *given);
    if (whole == 0 || elements == whole) return;
    copy.bytes = copy.bytes / whole * elements;
    const std::span<const int64_t> sizes = SizesOf(step_, *given), strides = StridesOf(step_, *given);
    if (!LiesWithoutGaps(sizes, strides)) AddPacked(copy, again.begin, copies);
  }

  // Brings back an input of a recomputation. It is freed with the last node that saves it, or when the
  // function that received it returns.
  void BringBack(BlockIndex block, const Again& again, std::vector<Block>& copies) {
    if (!inputs_.emplace(block, &again).second) return;
    const auto kept = released_.find({block, &again});
    Block copy = of_origin_.at(block);
    copy.begin = again.at;
    copy.end = kept == released_.end() ? again.unwound : std::max(kept->second, again.unwound);
    for (const auto& [held, until] : again.held)
      if (held == block) copy.end = std::max(copy.end, until);
    BringAsGiven(copy, again, copies);
    moved_ += copy.bytes;
    copies.push_back(copy);
  }

  // True for a result that its own node saves, as tanh() does, and from which nothing is computed. Backward
  // does not reach that node. So a variable holds the result: otherwise both would be freed.
  [[nodiscard]] bool KeepsItsNode(const Saved& saved) const {
    if (saved.node == kNone || step_.nodes[saved.node].begin < kForever) return false;
    OpIndex op = step_.nodes[saved.node].op;
    if (op == kNone) return false;
    const std::span<const Operand> results = OutputsOf(step_, step_.ops[op]);
    if (results.empty() || results[0].block != saved.block) return false;
    while (step_.ops[op].parent != kNone) op = step_.ops[op].parent;
    return TakersOf(step_).Next(saved.block, op) == kNone;
  }

  void Send(const Saved& saved, std::vector<Block>& copies) {
    const auto found = of_origin_.find(saved.block);
    if (found == of_origin_.end()) return;
    // Without a recorded release, the graph outlives the step. A tensor that keeps its own node is held by a
    // variable.
    if (saved.released >= kForever || KeepsItsNode(saved)) {
      stays_[saved.block] = true;
      return;
    }
    const Again* const again = AgainAt(saved.at);
    const bool inside = again != nullptr && step_.blocks[saved.block].begin >= again->begin;
    if (inside) {  // recomputed, or kept by the checkpoint itself
      kept_by_again_[saved.block] = std::max(kept_by_again_[saved.block], saved.released);
      return;
    }
    kept_[saved.block] = std::max(kept_[saved.block], saved.released);
    if (again == nullptr)
      BringBackReference(saved, found->second, copies);
    else if (found->second.birth == Birth::kEachStep)
      BringBack(saved.block, *again, copies);
  }

  void BringBackReference(const Saved& saved, Block copy, std::vector<Block>& copies) {
    if (saved.node != kNone && step_.nodes[saved.node].begin >= kForever) return;  // backward never needs it
    copy.birth = Birth::kEachStep;
    if (copy.category == Category::kParameter) copy.category = Category::kTemporaryBackward;
    copy.bytes = static_cast<uint64_t>(static_cast<double>(copy.bytes) * saved.share);
    copy.begin = saved.node == kNone ? In(Stage::kAhead, saved.released)
                                     : In(Stage::kUnpacks, uses_.works_from[saved.node]);
    copy.end = std::max(Before(uses_.UnpackedUntil(step_, saved)), After(copy.begin));
    if (saved.gaps) AddPacked(copy, saved.at, copies);
    if (const uint64_t filled = FilledUp(saved, copy.bytes); filled > copy.bytes) {
      copies.push_back(copy);
      copies.back().bytes = filled;
      copies.back().begin = After(copy.begin);
      copies.back().end = std::max(Before(copy.end), copies.back().begin);
    }
    moved_ += copy.bytes;
    copies.push_back(copy);
  }

  // Bytes of a mask whose rows are padded for memory-efficient attention, given its bytes without padding; 0
  // if it is not such a mask.
  [[nodiscard]] uint64_t FilledUp(const Saved& saved, uint64_t bytes) const {
    const OpIndex made_in = saved.node == kNone ? OpIndex() : step_.nodes[saved.node].op;
    if (made_in == kNone || step_.NameOf(step_.ops[made_in]) != kEfficientCall) return 0;
    for (const Operand& operand : InputsOf(step_, step_.ops[made_in])) {
      if (operand.argument != kMask || operand.block == kNone ||
          (operand.block != saved.block && operand.block != step_.blocks[saved.block].copy_of))
        continue;
      uint64_t rows = 1;
      const std::span<const int64_t> sizes = SizesOf(step_, operand);
      for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= static_cast<uint64_t>(sizes[d]);
      return sizes.empty() || rows == 0 ? 0 : rows * UpTo(bytes / rows, kAligned);
    }
    return 0;
  }

  static void AddPacked(Block packed, Position at, std::vector<Block>& copies) {
    packed.begin = After(at);
    packed.end = After(at, 2);
    packed.category = Category::kTemporaryForward;
    copies.push_back(packed);
  }

  // A tensor with gaps comes back without gaps: backward no longer copies it for an operator that needs it
  // contiguous. Recomputed tensors do not come back.
  void LeaveOutCopies() {
    std::set<std::pair<NodeIndex, BlockIndex>> packed;
    for (const Saved& saved : step_.saved) {
      if (!saved.gaps || saved.node == kNone || stays_[saved.block] || AgainAt(saved.at) != nullptr) continue;
      packed.emplace(saved.node, saved.block);
      const BlockIndex copied = step_.blocks[saved.block].copy_of;
      if (copied != kNone) packed.emplace(saved.node, copied);
    }
    std::unordered_set<BlockIndex> left_out;
    for (const Op& op : step_.ops) {
      if (op.node == kNone || op.input_count == 0 || op.output_count != 1) continue;
      const Operand &given = InputsOf(step_, op)[0], &made = OutputsOf(step_, op)[0];
      if (made.block == given.block || step_.NameOf(op) != "aten::contiguous" ||
          !packed.contains({op.node, given.block}) || !IsLayoutKnown(given))
        continue;
      const std::span<const int64_t> sizes = SizesOf(step_, given), strides = StridesOf(step_, given);
      if (LiesWithoutGaps(sizes, StridesOfResult(sizes, strides))) left_out.insert(made.block);
    }
    for (Block& block : scene_.blocks)
      if (block.origin != kNone && left_out.contains(block.origin)) block.bytes = 0;
  }

  // The block itself is freed after its last use in forward.
  void Drop(Block& block) const {
    if (unsaved_.contains(block.origin) && block.begin == step_.blocks[block.origin].begin)
      block.end = std::min(block.end, step_.blocks[block.origin].end);
    if (block.origin == kNone || block.birth != Birth::kEachStep || kept_[block.origin] == kBefore ||
        stays_[block.origin] || leaves_.contains(block.origin))
      return;
    const StepBlock& recorded = step_.blocks[block.origin];
    const Position kept = std::max(kept_[block.origin], kept_by_again_[block.origin]);
    if (block.begin != recorded.begin || !IsAtOnce(recorded.end, kept))
      return;  // recomputed, or held by something else for longer
    block.end = std::min(block.end, After(std::max(uses_.held[block.origin], block.begin)));
  }

  const Step& step_;
  const LastUses& uses_;
  Scene& scene_;
  std::unordered_map<BlockIndex, Block> of_origin_;  // the block as forward allocated it
  std::vector<Position> kept_;                       // by block: when the last node released it
  // The same for nodes of the part that created the block. relu_(), for example, saves its own result, so its
  // node saves the recomputed one.
  std::vector<Position> kept_by_again_;
  std::vector<bool> stays_;
  std::set<BlockIndex> unsaved_, leaves_;
  // When the last node of the part releases a block.
  std::map<std::pair<BlockIndex, const Again*>, Position> released_;
  std::set<std::pair<BlockIndex, const Again*>> inputs_;  // inputs of recomputed parts
  uint64_t moved_ = 0;
};

}  // namespace

Result<uint64_t> OffloadActivations(const Step& step, Scene& scene) {
  if (step.backward.empty() || step.saved.empty())
    return Error{"no saved tensor of autograd was recorded in the step."};
  if (const std::string reason = WhyBackwardIsMore(step); !reason.empty()) return Error{reason};
  return Offloader(step, scene).Move();
}

}  // namespace vramscope::whatif
