// SPDX-License-Identifier: Apache-2.0
// Frees blocks that the code keeps too long: after the last operator or autograd node that needs them,
// instead of when a variable is reassigned.
//
//   recorded   │ logits made ├ cross_entropy ├ backward reads them ├──── `logits` ────│ the next step's
//   logits freed      │ logits made ├ cross_entropy ├ backward reads them ├ del logits
//
// Applies only to blocks that outlive the call of the whole model and exist when backward begins. Local
// variables of its modules are freed when the module returns, and those of a loss function around it when the
// loss function returns. Code there may read them without operators (for shapes, for example), which no
// recording shows. Backward's own blocks belong to autograd. The gradient of a leaf that is not a parameter
// is freed with the graph, whose AccumulateGrad holds that leaf: some programs request such a gradient for a
// view of their batch, and nobody reads it.
//
// Left unchanged: gradients of parameters and optimizer state, which are kept on purpose; what the optimizer
// computes; blocks that no recorded operator uses; and blocks that the next step uses (a prefetched batch).
// Python calls hold their arguments until they return, and no `del` changes that. So arguments stay too, and
// so do blocks that a module holds from step to step. A list is freed as a whole.
#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/text/frame.h"
#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr size_t kMostNamed = 5;
constexpr int64_t kArguments = 3;  // events after backward that free its arguments

struct Freed {
  BlockIndex block;
  uint64_t bytes = 0;
  bool next_step = false;  // it was kept into the next step
};

std::string MebibytesOf(uint64_t bytes) {
  const uint64_t tenths = (bytes * 10 + (1 << 19)) >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

// The innermost line of the program's own code that allocated the block; "" if unknown.
std::string LineOf(const Step& step, const StepBlock& block) {
  const auto frames = step.run->source->Stack(step.run->blocks[block.id].stack);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const std::string_view line = step.Text(*frame);
    if (text::KindOfFrame(line) == text::FrameKind::kOwn) return std::string(line);
  }
  return "";
}

class Early {
 public:
  explicit Early(const Step& step)
      : step_(step), needed_(LastUsesOf(step).held), goes_with_graph_(step.blocks.size(), false) {
    for (const Operand& operand : step.operands) {
      const Op& op = step.ops[operand.op];
      if (operand.block != kNone && op.end < kForever)
        needed_[operand.block] = std::max(needed_[operand.block], op.end);
    }
    for (const Saved& saved : step.saved)
      needed_[saved.block] = std::max(needed_[saved.block], saved.released);
    for (const ModuleCall& call : step.modules)
      if (call.parent == kNone) models_.push_back({call.begin, std::max(call.end + 1, NextBehind(call.end))});
    for (const BlockIndex i : step.blocks.Indices()) {
      const StepBlock& block = step.blocks[i];
      const bool carried = block.begin == kBefore && block.end < kForever;
      if (carried && needed_[i] != kBefore) used_when_carried_[block.requested] = true;
    }
    for (const Window& backward : step.backward) HoldLeaves(backward);
    NeedLists();
  }

  std::vector<Freed> Free(Scene& scene) const {
    std::vector<Freed> freed;
    for (Block& block : scene.blocks) {
      if (block.birth != Birth::kEachStep || block.origin == kNone || block.piles_up || !MayGo(block) ||
          IsOfModule(block.end - scene.length))
        continue;
      // One place after its last use, but not before its allocation or, for a batch, the loss.
      const Position needed = After(
          std::max({needed_[block.origin], step_.blocks[block.origin].begin, WithTheLoss(block.origin)}));
      if (IsAtOnce(block.end, needed)) continue;
      freed.push_back({block.origin, block.bytes, block.end >= scene.length});
      block.end = std::max(needed, After(block.begin));
    }
    std::stable_sort(freed.begin(), freed.end(),
                     [](const Freed& a, const Freed& b) { return a.bytes > b.bytes; });
    return freed;
  }

 private:
  // The start of the next operator: model(x).loss frees everything else that the model returned before it
  // runs.
  [[nodiscard]] Position NextBehind(Position at) const {
    const auto next =
        std::partition_point(step_.ops.begin(), step_.ops.end(), [&](const Op& op) { return op.begin < at; });
    return next == step_.ops.end() ? at : next->begin;
  }

  // A batch can only be freed after the model has returned. It is freed together with the loss, directly
  // before backward, most recent tensor first, in the order in which lists are destroyed.
  [[nodiscard]] Position WithTheLoss(BlockIndex block) const {
    const StepBlock& input = step_.blocks[block];
    if (input.category != classify::Category::kInput) return kBefore;
    for (const Window& backward : step_.backward) {
      if (backward.begin <= input.begin || backward.end <= needed_[block]) continue;
      if (backward.begin <= needed_[block]) return kBefore;  // backward needs it
      const Op* const last = LastBefore(backward.begin);
      if (last == nullptr || last->end >= backward.begin) return kBefore;
      return Before(last->end, int64_t{block} + 1);
    }
    return kBefore;
  }

  // The outermost operator before `at`, except the one that creates the initial gradient of backward.
  [[nodiscard]] const Op* LastBefore(Position at) const {
    auto op = std::partition_point(step_.ops.begin(), step_.ops.end(),
                                   [&](const Op& one) { return one.begin < at; });
    while (op != step_.ops.begin()) {
      --op;
      if (op->parent == kNone && step_.NameOf(*op) != "aten::ones_like") return &*op;
    }
    return nullptr;
  }

  // The leaf and its gradient are held together through a backward pass, if nothing after the pass reads the
  // gradient.
  void HoldLeaves(const Window& backward) {
    for (const BlockIndex i : step_.blocks.Indices()) {
      const StepBlock& block = step_.blocks[i];
      const bool here = backward.begin <= block.accumulated && block.accumulated < backward.end;
      if (block.leaf == kNone || !here || needed_[i] >= backward.end) continue;
      goes_with_graph_[i] = true;
      for (const BlockIndex held : {i, block.leaf}) needed_[held] = std::max(needed_[held], backward.end);
    }
  }

  // Equal blocks that one call of a module allocates, and that are freed at the same moment, are in a list.
  // `del` frees all of them when none is needed any more.
  void NeedLists() {
    const std::vector<CallIndex> calls = CallsOf(step_);
    std::map<std::tuple<CallIndex, uint32_t, uint64_t>, std::vector<BlockIndex>> alike;
    for (const BlockIndex i : step_.blocks.Indices()) {
      const StepBlock& block = step_.blocks[i];
      const OpIndex maker = block.begin == kBefore ? OpIndex() : OutermostMaker(step_, i);
      if (maker == kNone || calls[maker] == kNone || needed_[i] == kBefore || needed_[i] >= kForever)
        continue;
      alike[{calls[maker], step_.ops[maker].name, block.requested}].push_back(i);
    }
    for (auto& [made, blocks] : alike) {
      std::ranges::sort(blocks, {}, [&](BlockIndex i) { return step_.blocks[i].end; });
      for (size_t first = 0, next = 1; next <= blocks.size(); ++next) {
        if (next < blocks.size() &&
            IsAtOnce(step_.blocks[blocks[next]].end, step_.blocks[blocks[next - 1]].end))
          continue;
        Position last = kBefore;
        for (size_t i = first; i < next; ++i) last = std::max(last, needed_[blocks[i]]);
        for (; first < next; ++first) needed_[blocks[first]] = last;
      }
    }
  }

  // True if a block that ends there is freed during the model's next call. No variable of the program holds
  // such a block: a module does, until it assigns another one.
  [[nodiscard]] bool IsOfModule(Position end) const {
    return std::ranges::any_of(step_.modules, [&](const ModuleCall& call) {
      return call.parent == kNone && call.begin < end && end < call.end;
    });
  }

  [[nodiscard]] bool MayGo(const Block& block) const {
    const StepBlock& recorded = step_.blocks[block.origin];
    if (needed_[block.origin] == kBefore || needed_[block.origin] >= kForever || recorded.workspace)
      return false;
    if (recorded.leaf != kNone && recorded.accumulated < kForever)
      return goes_with_graph_[block.origin] && recorded.begin == block.begin;
    if (recorded.accumulated < kForever || MadeByOptimizer(step_, recorded)) return false;
    if (recorded.op != kNone && step_.ops[recorded.op].node != kNone) return false;
    for (const Window& backward : step_.backward) {
      // Blocks made for a call, and its arguments, are held until it returns.
      const bool argument = recorded.end >= backward.end && recorded.end <= backward.end + kArguments;
      if (argument || (backward.begin <= recorded.begin && recorded.begin < backward.end)) return false;
    }
    // It was held by a variable of a function around the model that returned before backward.
    const auto next = std::ranges::find_if(
        step_.backward, [&](const Window& backward) { return backward.begin > recorded.begin; });
    if (next != step_.backward.end() && recorded.end < next->begin) return false;
    for (const Window& model : models_) {
      if (model.begin <= recorded.begin && recorded.end <= model.end) return false;
    }
    if (recorded.begin != block.begin) return false;  // a copy inserted by a lever
    return recorded.end < kForever || !used_when_carried_.contains(recorded.requested);
  }

  const Step& step_;
  std::vector<Position> needed_;       // by block: the end of its last use
  std::vector<bool> goes_with_graph_;  // by block: the gradient of a leaf that is not a parameter
  std::vector<Window> models_;         // calls inside no other call, and what is freed directly after them
  std::map<uint64_t, bool> used_when_carried_;  // sizes of blocks of the previous step that this step used
};

class FreeEarly final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("free-early"); }

  Status Check(std::string_view value) const override {
    if (value == "all") return {};
    return Error{"--free-early must be all, not \"" + std::string(value) + "\"."};
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    VRAMSCOPE_TRY(Check(value));
    if (step.ops.empty())
      return Error{"no operator was recorded, so no last use is known. Record again with --depth auto."};
    const std::vector<Freed> freed = Early(step).Free(scene);
    if (freed.empty()) return Error{"the recorded step keeps nothing after its last use."};
    Outcome outcome;
    uint64_t bytes = 0;
    for (const Freed& one : freed) bytes += one.bytes;
    outcome.notes.push_back(std::to_string(freed.size()) + (freed.size() == 1 ? " block" : " blocks") +
                            " of " + MebibytesOf(bytes) + " in total are kept after their last use");
    for (size_t i = 0; i < std::min(freed.size(), kMostNamed); ++i)
      outcome.notes.push_back(Described(step, freed[i]));
    outcome.code = "del outputs, logits, loss    # after the last use of each; the notes list them";
    return outcome;
  }

 private:
  static std::string Described(const Step& step, const Freed& freed) {
    const StepBlock& block = step.blocks[freed.block];
    std::string text = MebibytesOf(freed.bytes);
    if (!block.name.empty()) text += ", " + std::string(block.name);
    if (block.op != kNone) text += ", made by " + std::string(step.NameOf(step.ops[block.op]));
    if (const std::string line = LineOf(step, block); !line.empty()) text += " at " + line;
    return text + (freed.next_step ? ", kept into the next step" : ", kept within the step");
  }
};

}  // namespace

const Lever& FreeEarlyLever() {
  static const FreeEarly lever;
  return lever;
}

}  // namespace vramscope::whatif
