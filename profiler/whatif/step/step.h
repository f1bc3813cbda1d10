// SPDX-License-Identifier: Apache-2.0
// One recorded deep step, as flat arrays. The arrays contain everything that levers read.
//
// References between elements are indices. Times are positions (position.h):
//
//   position  -1          0                              length
//             │ allocated │ events of the step, in order │      the same step again ...
//             │ earlier   │
//
// Each list has its own index type (index.h). Levers insert allocations and frees at positions around an
// event. The blocks are those of one device.
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
  uint64_t requested = 0;  // requested bytes, if tensors show them; otherwise allocated bytes
  Position begin = kBefore;
  Position end = kForever;
  Position accumulated = kForever;  // when autograd accumulated the block as a gradient
  OpIndex op;                       // innermost operator that was running at the allocation
  BlockIndex leaf;                  // for a gradient: block of the leaf tensor, if the step created the leaf
  BlockIndex copy_of;               // for a block inserted by a lever: the block whose elements it copies
  Position once = kBefore;          // for an inserted block that is never freed: when it is allocated (>= 0)
  Position set_up = kBefore;        // for a setup block of a lever: when it is allocated (below 0)
  std::string_view name;            // from labels: "layers.0.weight" for a parameter and its gradient
  uint16_t stream = 0;
  // kActivation if the block ever was an activation, otherwise its last category.
  classify::Category category = classify::Category::kUnattributed;
  bool workspace = false;
  bool piles_up = false;  // each step allocates one such block and never frees it
  bool piled = false;     // allocated by an earlier step and never freed

  // True if autograd accumulated the block as the gradient of a parameter.
  [[nodiscard]] bool IsParametersGradient() const { return accumulated < kForever && leaf == model::kNone; }
};

// A block that is allocated before the training loop and freed before the recorded step. The positions of
// such a block are below 0. Only a block that a lever inserted may end in the first steps.
struct Passing {
  Position begin = 0;
  Position end = 0;
  uint64_t bytes = 0;  // bytes of the block, including rounding
  uint16_t stream = 0;
};

// A tensor that is an operand or a result of an operator.
struct Operand {
  OpIndex op{0};
  BlockIndex block;    // block of the tensor's storage
  uint32_t shape = 0;  // index in Step::shapes; 0 = unknown
  uint32_t strides = 0;
  uint64_t offset = 0;  // offset in the storage, in elements
  uint64_t tensor = 0;  // address of the tensor object, to distinguish tensors of one block; may be reused
  uint16_t argument = 0;
  uint16_t element = 0;  // if the argument is a list: 1-based index in the list
  uint8_t dtype = 0;     // c10::ScalarType
  uint8_t flags = 0;     // trace::kTensor...
};

struct Op {
  uint32_t name = 0;  // trace::StringId
  OpIndex parent;     // the enclosing operator on the same thread
  NodeIndex node;     // the autograd node that the engine was running
  Position begin = 0;
  Position end = kForever;
  uint32_t first_input = 0, input_count = 0;  // range in Step::operands
  uint32_t first_output = 0, output_count = 0;
};

// An autograd node, which is created in forward and run in backward.
struct Node {
  uint32_t name = 0;
  OpIndex op;  // the forward operator in which it was created
  Position made = kBefore;
  Position begin = kForever;
  Position end = kForever;
};

// A tensor that autograd saves for backward.
struct Saved {
  BlockIndex block;
  NodeIndex node;  // the node that saves the tensor, if known
  Position at = 0;
  Position released = kForever;
  uint64_t tensor = 0;
  double share = 1;   // elements of the tensor relative to the block: < 1 for a view, > 1 if expanded
  bool gaps = false;  // the tensor's elements are not contiguous
};

struct ModuleCall {
  uint32_t name = 0;  // trace::StringId of the module path
  CallIndex parent;
  Position begin = 0;
  Position end = kForever;
};

struct Window {
  Position begin = 0;
  Position end = 0;
};

// Returns the position (below 0) of an event before the training loop. `first` is the loop's first step.
[[nodiscard]] inline Position BeforeLoop(model::EventIndex event, const timeline::Step& first) {
  return Position(event) - first.begin - 1;
}

[[nodiscard]] inline bool Within(std::span<const Window> windows, Position at) {
  return std::any_of(windows.begin(), windows.end(),
                     [&](const Window& window) { return window.begin <= at && at < window.end; });
}

struct Shape {
  uint32_t first = 0, count = 0;  // range in Step::dims
  bool known = false;
};

// A cached value that is computed from a step at its first use. A copy of the step has an empty cache. Not
// thread-safe.
class OnFirstUse {
 public:
  OnFirstUse() = default;
  OnFirstUse(const OnFirstUse& /*of another step*/) {}
  OnFirstUse& operator=(const OnFirstUse& /*of another step*/) {
    value_.reset();
    return *this;
  }

  // Computes the value at the first call. All calls on one object must use the same type.
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
  model::EventIndex first_event = 0;  // the event of the run at position 0
  model::EventIndex end_event = 0;    // one past the step's last event
  int64_t length = 0;                 // number of events in the step
  timeline::Step first;               // the loop's first step; it allocates blocks that later steps use
  std::string torch_version;
  std::string settings;  // allocator settings at the program's start

  Indexed<StepBlock> blocks;     // in order of allocation
  std::vector<Passing> passing;  // freed blocks whose memory later blocks may reuse
  Indexed<Op> ops;               // in order of begin
  std::vector<OpIndex> op_ends;  // operators in order of end, so inner operators come first
  std::vector<Operand> operands;
  Indexed<Node> nodes;
  std::vector<Saved> saved;
  Indexed<ModuleCall> modules;
  std::vector<Window> backward;
  std::vector<Window> optimizer;
  std::vector<Window> zero_grad;
  std::vector<Window> autocast;
  std::vector<Position> cache_emptied;  // where the program itself calls empty_cache()
  std::string optimizer_class;          // "AdamW"; several classes are separated by commas
  std::vector<Shape> shapes;
  std::vector<int64_t> dims;
  // Modules that the model's own checkpointing option covers; empty = unknown.
  std::vector<std::string> own_switch;
  [[nodiscard]] double HostNs(Position from, Position to) const {
    const auto time_of = [&](Position at) {
      const int64_t within = std::clamp<int64_t>(at.event, 0, std::max<int64_t>(length - 1, 0));
      return run->times.TimeOf(first_event + static_cast<model::EventIndex>(within));
    };
    return from < to ? static_cast<double>(time_of(to) - time_of(from)) : 0;
  }
  // True if the program only runs its model forward.
  [[nodiscard]] bool OnlyForward() const { return backward.empty() && optimizer.empty(); }
  // The begin and end of forward. With a backward pass, forward lasts from 0 to the begin of backward.
  // Without one, forward lasts from the begin of the first module call to the last end of a call.
  [[nodiscard]] Position ForwardBegin() const {
    return OnlyForward() && !modules.empty() ? modules[0].begin : 0;
  }
  [[nodiscard]] Position ForwardEnd() const {
    if (!backward.empty()) return backward.front().begin;
    Position end = modules.empty() ? length : 0;
    for (const ModuleCall& call : modules) end = std::max(end, std::min<Position>(call.end, length));
    return end;
  }
  // Returns a text by its ID. The text comes from the trace, or from a lever.
  [[nodiscard]] std::string_view Text(uint32_t id) const {
    return id < kFirstOwnText ? run->Text(id) : std::string_view((*own_texts)[id - kFirstOwnText]);
  }
  [[nodiscard]] std::string_view NameOf(const Op& op) const { return Text(op.name); }
  [[nodiscard]] const int64_t* Dims(uint32_t shape) const { return dims.data() + shapes[shape].first; }
  [[nodiscard]] uint32_t Rank(uint32_t shape) const { return shapes[shape].count; }
  // The blocks of parameters that get a gradient in this step, in order of allocation.
  std::vector<BlockIndex> trained;
  static constexpr uint32_t kFirstOwnText = 1u << 31;
  std::shared_ptr<std::deque<std::string>> own_texts;  // texts added by levers; copies of the step share them
  uint16_t added_streams = 0;                          // number of streams added for inserted blocks

  OnFirstUse last_uses;  // cache of LastUsesOf()
  OnFirstUse takers;     // cache of TakersOf()
  OnFirstUse stepped;    // cache of OptimizerCalls
  OnFirstUse whole_run;  // cache of WholeRun, for the step as recorded
};

[[nodiscard]] inline std::span<const Operand> InputsOf(const Step& step, const Op& op) {
  return {step.operands.data() + op.first_input, op.input_count};
}
[[nodiscard]] inline std::span<const Operand> OutputsOf(const Step& step, const Op& op) {
  return {step.operands.data() + op.first_output, op.output_count};
}

// Returns the tensor's sizes; empty if they were not recorded.
[[nodiscard]] inline std::span<const int64_t> SizesOf(const Step& step, const Operand& operand) {
  return {step.Dims(operand.shape), step.Rank(operand.shape)};
}
[[nodiscard]] inline std::span<const int64_t> StridesOf(const Step& step, const Operand& operand) {
  return {step.Dims(operand.strides), step.Rank(operand.strides)};
}

// True if both tensors have the same sizes and strides.
[[nodiscard]] bool LieAlike(const Step& step, const Operand& a, const Operand& b);
// True if both tensors are views of the same elements of one block.
[[nodiscard]] bool IsSameView(const Step& step, const Operand& a, const Operand& b);

// Returns the bytes from the begin of the storage to the end of the tensor; 0 if the shape is unknown.
[[nodiscard]] uint64_t BytesUpTo(const Step& step, const Operand& operand);

// Parses "8,128,256". Appends to `dims`.
[[nodiscard]] Shape ParseShape(std::string_view text, std::vector<int64_t>& dims);

// Returns the number of elements. Elements of an expanded dimension count repeatedly. Returns 1 if the shape
// is unknown.
[[nodiscard]] uint64_t ElementsIn(const Step& step, const Operand& operand);

// Returns the bytes of one element; 0 for an unknown type.
[[nodiscard]] uint32_t BytesOf(uint8_t dtype);

// Reads the last complete deep step of the device's process, but never the process's first step. If there is
// none, the error explains how to record one. O(events of the trace).
[[nodiscard]] Result<Step> ReadStep(const classify::Analysis& analysis, model::DeviceIndex device);

}  // namespace vramscope::whatif
