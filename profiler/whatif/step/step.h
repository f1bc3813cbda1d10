// SPDX-License-Identifier: Apache-2.0
// One recorded deep step as flat arrays: everything that a lever may ask about.
//
// All references are indices, all times are positions:
//
//   position  -1          0                              length
//             │ was there │ events of the step, in order │      the same step again ...
//
// Each list has its own type of index (index.h). Insertions of levers have positions around an event
// (position.h). Only CUDA-like devices count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/whatif/step/index.h"
#include "profiler/whatif/step/position.h"
#include "trace_format/result.h"

namespace vramscope::whatif {

inline constexpr uint64_t kFloatBytes = 4;  // size of a float32 element

// A block of the device that was alive at some time during the step.
struct StepBlock {
  model::BlockId id = 0;
  uint64_t requested = 0;  // requested bytes, if tensors show them; otherwise as allocated
  Position begin = kBefore;
  Position end = kForever;
  Position accumulated = kForever;  // when autograd accumulated it as a gradient
  OpIndex op;                       // innermost operator open when it was allocated
  BlockIndex leaf;                  // for a gradient: the leaf's block, if the step created it
  BlockIndex copy_of;               // inserted by a lever: source of its elements
  Position once = kBefore;          // if a lever inserted it and nothing frees it: when allocated (>= 0)
  Position set_up = kBefore;        // set by levers for a setup block: when allocated (below 0)
  std::string_view name;            // from labels: "layers.0.weight", also for its gradient
  uint16_t stream = 0;
  // Activation if it ever was one, otherwise its last category.
  classify::Category category = classify::Category::kUnattributed;
  bool workspace = false;
  bool piles_up = false;  // each step leaves one more
  bool piled = false;     // left by an earlier step in this way

  // True if autograd accumulated it as a parameter's gradient.
  [[nodiscard]] bool IsParametersGradient() const { return accumulated < kForever && leaf == model::kNone; }
};

// A block allocated before the loop and freed before the recorded step. Positions are below 0; only a block
// that a lever inserted may end in the first steps.
struct Passing {
  Position begin = 0;
  Position end = 0;
  uint64_t bytes = 0;  // as the allocator counts them
  uint16_t stream = 0;
};

// An operand or a result of an operator.
struct Operand {
  OpIndex op{0};
  BlockIndex block;    // into Step::blocks
  uint32_t shape = 0;  // into Step::shapes; 0 = not known
  uint32_t strides = 0;
  uint64_t offset = 0;  // in elements
  uint64_t tensor = 0;  // distinguishes tensors of one block: an address, may be reused
  uint16_t argument = 0;
  uint16_t element = 0;  // in a list: index + 1
  uint8_t dtype = 0;     // c10::ScalarType
  uint8_t flags = 0;     // trace::kTensor...
};

struct Op {
  uint32_t name = 0;  // trace::StringId
  OpIndex parent;     // the enclosing operator on the same thread
  NodeIndex node;     // the autograd node that the engine was running
  Position begin = 0;
  Position end = kForever;
  uint32_t first_input = 0, input_count = 0;  // into Step::operands
  uint32_t first_output = 0, output_count = 0;
};

// An autograd node: created in forward, run in backward.
struct Node {
  uint32_t name = 0;
  OpIndex op;  // the forward operator in which it was created
  Position made = kBefore;
  Position begin = kForever;
  Position end = kForever;
};

struct Saved {
  BlockIndex block;
  NodeIndex node;  // the node that saves it, if known
  Position at = 0;
  Position released = kForever;
  uint64_t tensor = 0;
  double share = 1;   // elements relative to the block's: < 1 for a view, > 1 if expanded
  bool gaps = false;  // its elements are not contiguous
};

struct ModuleCall {
  uint32_t name = 0;  // dotted path
  CallIndex parent;
  Position begin = 0;
  Position end = kForever;
};

struct Window {
  Position begin = 0;
  Position end = 0;
};

// Position of an event before the loop (below 0). `first`: the loop's first step.
[[nodiscard]] inline Position BeforeLoop(model::EventIndex event, const timeline::Step& first) {
  return Position(event) - first.begin - 1;
}

[[nodiscard]] inline bool Within(std::span<const Window> windows, Position at) {
  return std::any_of(windows.begin(), windows.end(),
                     [&](const Window& window) { return window.begin <= at && at < window.end; });
}

struct Shape {
  uint32_t first = 0, count = 0;  // into Step::dims
  bool known = false;
};

// A value that is computed from a step on first use. Copies start empty. Not thread-safe.
class OnFirstUse {
 public:
  OnFirstUse() = default;
  OnFirstUse(const OnFirstUse& /*of another step*/) {}
  OnFirstUse& operator=(const OnFirstUse& /*of another step*/) {
    value_.reset();
    return *this;
  }

  // Always call with the same type.
  template <class Make>
  [[nodiscard]] const auto& Get(Make make) const {
    using Value = decltype(make());
    if (value_ == nullptr) value_ = std::make_shared<const Value>(make());
    return *static_cast<const Value*>(value_.get());
  }

 private:
  mutable std::shared_ptr<const void> value_;
};

class Step {
 public:
  const model::Run* run = nullptr;
  model::DeviceIndex device = 0;
  uint32_t number = 0;
  model::EventIndex first_event = 0;  // in the run: position 0
  model::EventIndex end_event = 0;    // one past the step's last event
  int64_t length = 0;                 // events
  timeline::Step first;               // the loop's first step: later steps use what it allocated
  std::string torch_version;
  std::string settings;  // allocator settings at the program's start

  Indexed<StepBlock> blocks;     // in order of their allocation
  std::vector<Passing> passing;  // blocks that leave holes for later blocks
  Indexed<Op> ops;               // in order of their start
  std::vector<OpIndex> op_ends;  // ops in order of their ends: inner ones first
  std::vector<Operand> operands;
  Indexed<Node> nodes;
  std::vector<Saved> saved;
  Indexed<ModuleCall> modules;
  std::vector<Window> backward;
  std::vector<Window> optimizer;
  std::vector<Window> zero_grad;
  std::vector<Window> autocast;
  std::vector<Position> cache_emptied;  // where the program itself empties the allocator's cache
  std::string optimizer_class;          // "AdamW"; several classes are separated by commas
  std::vector<Shape> shapes;
  std::vector<int64_t> dims;
  std::vector<std::string> own_switch;  // modules that the model's own switch checkpoints; empty = unknown

  // Host time between two moments of the recorded step.
  [[nodiscard]] double HostNs(Position from, Position to) const {
    const auto time_of = [&](Position at) {
      const int64_t within = std::clamp<int64_t>(at.event, 0, std::max<int64_t>(length - 1, 0));
      return run->times.TimeOf(first_event + static_cast<model::EventIndex>(within));
    };
    return from < to ? static_cast<double>(time_of(to) - time_of(from)) : 0;
  }
  // True if the program only runs its model forward.
  [[nodiscard]] bool OnlyForward() const { return backward.empty() && optimizer.empty(); }
  // Start and end of forward: from 0 to the start of backward. Without backward: from the start of the first
  // module call to the last end of a call.
  [[nodiscard]] Position ForwardBegin() const {
    return OnlyForward() && !modules.empty() ? modules[0].begin : 0;
  }
  [[nodiscard]] Position ForwardEnd() const {
    if (!backward.empty()) return backward.front().begin;
    Position end = modules.empty() ? length : 0;
    for (const ModuleCall& call : modules) end = std::max(end, std::min<Position>(call.end, length));
    return end;
  }
  // Text of the trace or of a lever.
  [[nodiscard]] std::string_view Text(uint32_t id) const {
    return id < kFirstOwnText ? run->Text(id) : std::string_view((*own_texts)[id - kFirstOwnText]);
  }
  [[nodiscard]] std::string_view NameOf(const Op& op) const { return Text(op.name); }
  [[nodiscard]] const int64_t* Dims(uint32_t shape) const { return dims.data() + shapes[shape].first; }
  [[nodiscard]] uint32_t Rank(uint32_t shape) const { return shapes[shape].count; }
  // Blocks of parameters with a gradient in this step, in order of allocation.
  std::vector<BlockIndex> trained;
  static constexpr uint32_t kFirstOwnText = 1u << 31;
  std::shared_ptr<std::deque<std::string>> own_texts;  // added by levers; shared with copies
  uint16_t added_streams = 0;                          // numbered after the run's, for inserted blocks

  OnFirstUse last_uses;  // LastUsesOf
  OnFirstUse takers;     // TakersOf
  OnFirstUse stepped;    // OptimizerCalls
  OnFirstUse whole_run;  // WholeRun, for the step as recorded
};

[[nodiscard]] inline std::span<const Operand> InputsOf(const Step& step, const Op& op) {
  return {step.operands.data() + op.first_input, op.input_count};
}
[[nodiscard]] inline std::span<const Operand> OutputsOf(const Step& step, const Op& op) {
  return {step.operands.data() + op.first_output, op.output_count};
}

// Empty if the sizes were not recorded.
[[nodiscard]] inline std::span<const int64_t> SizesOf(const Step& step, const Operand& operand) {
  return {step.Dims(operand.shape), step.Rank(operand.shape)};
}
[[nodiscard]] inline std::span<const int64_t> StridesOf(const Step& step, const Operand& operand) {
  return {step.Dims(operand.strides), step.Rank(operand.strides)};
}

// True if both have the same sizes and strides.
[[nodiscard]] bool LieAlike(const Step& step, const Operand& a, const Operand& b);
// True if both show the same elements of a block.
[[nodiscard]] bool IsSameView(const Step& step, const Operand& a, const Operand& b);

// Bytes from the storage's start to the tensor's end; 0 if the shape is unknown.
[[nodiscard]] uint64_t BytesUpTo(const Step& step, const Operand& operand);

// Parses "8,128,256". Appends to `dims`.
[[nodiscard]] Shape ParseShape(std::string_view text, std::vector<int64_t>& dims);

// Number of elements. Expanded dimensions count each time. 1 if the shape is unknown.
[[nodiscard]] uint64_t ElementsIn(const Step& step, const Operand& operand);

// Bytes of one element; 0 for unknown types.
[[nodiscard]] uint32_t BytesOf(uint8_t dtype);

// Reads the last complete deep step of the device's process, never its first step. The error explains what to
// record. O(events of the trace).
[[nodiscard]] Result<Step> ReadStep(const classify::Analysis& analysis, model::DeviceIndex device);

}  // namespace vramscope::whatif
