// SPDX-License-Identifier: Apache-2.0
// One recorded deep step as flat arrays: everything that a lever may ask about it.
//
// Why its own form: the run (profiler/model) answers questions about whole recordings and joins what belongs
// to a block; a lever asks about operators, operands and autograd nodes of one step, many times over. All
// references are indices, all times are positions:
//
//   position  -1          0                              length
//             │ was there │ events of the step, in order │      the same step again ...
//
// What a lever puts in lies around an event (position.h).
// Only CUDA-like devices matter here; operands on other devices have no block.
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
#include "profiler/whatif/step/position.h"
#include "trace_format/result.h"

namespace vramscope::whatif {

inline constexpr uint64_t kFloatBytes = 4;  // of an element in float32

// A block of the device that was alive at some time in the step.
struct StepBlock {
  model::BlockId id = 0;
  uint64_t requested = 0;  // bytes that the program asked for, as far as tensors tell; else as allocated
  Position begin = kBefore;
  Position end = kForever;
  Position accumulated = kForever;  // autograd took it as a gradient here
  uint32_t op = model::kNone;       // innermost operator open at its birth
  uint32_t leaf = model::kNone;     // of a gradient: the block it is that of, made in the step: no parameter
  uint32_t copy_of = model::kNone;  // put in by a lever: the block whose elements, or some of them, it holds
  Position once = kBefore;          // put in by a lever, made for good: when, from the first step's begin on
  Position set_up = kBefore;        // there before the first step: when, before 0, where a lever says it
  std::string_view name;  // in labels: "layers.0.weight", also of its gradient; lives as long as the run
  uint16_t stream = 0;
  classify::Category category = classify::Category::kUnattributed;  // what it is for most of its life
  bool workspace = false;
  bool piles_up = false;  // each step leaves one more
  bool piled = false;     // a step before it left it so

  // As autograd took it.
  [[nodiscard]] bool IsParametersGradient() const { return accumulated < kForever && leaf == model::kNone; }
};

// A block that was made before the loop began and does not stay. Positions: before 0, in the order of the
// events; of one that a lever put in the end may lie in the first steps.
struct Passing {
  Position begin = 0;
  Position end = 0;
  uint64_t bytes = 0;  // as the allocator counts them
  uint16_t stream = 0;
};

// An operand or a result of an operator.
struct Operand {
  uint32_t op = 0;
  uint32_t block = model::kNone;  // into Step::blocks
  uint32_t shape = 0;             // into Step::shapes; 0 = not known
  uint32_t strides = 0;
  uint64_t offset = 0;  // elements
  uint64_t tensor = 0;  // which one it is, of several of the block: an address, used again when it is gone
  uint16_t argument = 0;
  uint16_t element = 0;  // of a list: number + 1
  uint8_t dtype = 0;     // c10::ScalarType
  uint8_t flags = 0;     // trace::kTensor...
};

struct Op {
  uint32_t name = 0;               // trace::StringId
  uint32_t parent = model::kNone;  // the operator around it, on the same thread
  uint32_t node = model::kNone;    // the autograd node that the engine ran then
  Position begin = 0;
  Position end = kForever;
  uint32_t first_input = 0, input_count = 0;  // into Step::operands
  uint32_t first_output = 0, output_count = 0;
};

// An autograd node: made in forward, run in backward.
struct Node {
  uint32_t name = 0;
  uint32_t op = model::kNone;  // the operator that it was made in, in forward
  Position made = kBefore;
  Position begin = kForever;
  Position end = kForever;
};

// A tensor that a node keeps.
struct Saved {
  uint32_t block = model::kNone;
  uint32_t node = model::kNone;  // the owner, where it could be told
  Position at = 0;
  Position released = kForever;
  uint64_t tensor = 0;
  double share = 1;   // its elements, in those of the block: of a view less, of an expanded one more
  bool gaps = false;  // its elements do not lie side by side
};

// A call of a module's forward.
struct ModuleCall {
  uint32_t name = 0;  // dotted path
  uint32_t parent = model::kNone;
  Position begin = 0;
  Position end = kForever;
};

struct Window {
  Position begin = 0;
  Position end = 0;
};

// Of an event before the loop, whose first step is `first`: before 0.
[[nodiscard]] inline Position BeforeLoop(model::EventIndex event, const timeline::Step& first) {
  return Position(event) - first.begin - 1;
}

// Whether it is in one of them.
[[nodiscard]] inline bool Within(std::span<const Window> windows, Position at) {
  return std::any_of(windows.begin(), windows.end(),
                     [&](const Window& window) { return window.begin <= at && at < window.end; });
}

struct Shape {
  uint32_t first = 0, count = 0;  // into Step::dims
  bool known = false;
};

// Something worked out from a step when it is first asked for, since many questions to one step need it. A
// copy begins without: whoever copies a step is about to change it. Not for several threads.
class OnFirstUse {
 public:
  OnFirstUse() = default;
  OnFirstUse(const OnFirstUse& /*of another step*/) {}
  OnFirstUse& operator=(const OnFirstUse& /*of another step*/) {
    value_.reset();
    return *this;
  }

  // Always of one type.
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
  model::EventIndex first_event = 0;  // of the run: position 0
  model::EventIndex end_event = 0;    // as recorded, behind the step's last one
  int64_t length = 0;                 // events
  timeline::Step first;               // of the loop: what later ones find was made there
  std::string torch_version;
  std::string triton_ops;  // "bmm": with commas, those that Triton's kernels do in place of PyTorch's own
  std::string settings;    // of the allocator, as the program began with them
  std::string cublas;      // CUBLAS_WORKSPACE_CONFIG of the program

  std::vector<StepBlock> blocks;  // in order of their allocation
  std::vector<Passing> passing;   // that leave holes where later blocks lie
  std::vector<Op> ops;            // in order of their begin
  std::vector<uint32_t> op_ends;  // ops in order of their end: inner ones first
  std::vector<Operand> operands;
  std::vector<Node> nodes;
  std::vector<Saved> saved;
  std::vector<ModuleCall> modules;
  std::vector<Window> backward;
  std::vector<Window> optimizer;
  std::vector<Window> zero_grad;
  std::vector<Window> autocast;
  std::vector<Position> cache_emptied;  // it empties the allocator's cache itself there
  std::string optimizer_class;          // "AdamW"; of optimizers of several classes, all with commas between
  std::vector<Shape> shapes;
  std::vector<int64_t> dims;

  // How long the host took from one moment of the recorded step to another.
  [[nodiscard]] double HostNs(Position from, Position to) const {
    const auto time_of = [&](Position at) {
      const int64_t within = std::clamp<int64_t>(at.event, 0, std::max<int64_t>(length - 1, 0));
      return run->times.TimeOf(first_event + static_cast<model::EventIndex>(within));
    };
    return from < to ? static_cast<double>(time_of(to) - time_of(from)) : 0;
  }
  // Whether it is of a program that only runs its model forward.
  [[nodiscard]] bool OnlyForward() const { return backward.empty() && optimizer.empty(); }
  // Where the calls of the program's modules begin and end that lead to backward or, without one, are all.
  [[nodiscard]] Position ForwardBegin() const {
    return OnlyForward() && !modules.empty() ? modules[0].begin : 0;
  }
  [[nodiscard]] Position ForwardEnd() const {
    if (!backward.empty()) return backward.front().begin;
    Position end = modules.empty() ? length : 0;
    for (const ModuleCall& call : modules) end = std::max(end, std::min<Position>(call.end, length));
    return end;
  }
  // Of the trace, or of what a lever put in.
  [[nodiscard]] std::string_view Text(uint32_t id) const {
    return id < kFirstOwnText ? run->Text(id) : std::string_view((*own_texts)[id - kFirstOwnText]);
  }
  [[nodiscard]] std::string_view NameOf(const Op& op) const { return Text(op.name); }
  [[nodiscard]] const int64_t* Dims(uint32_t shape) const { return dims.data() + shapes[shape].first; }
  [[nodiscard]] uint32_t Rank(uint32_t shape) const { return shapes[shape].count; }
  // Of parameters that got a gradient in this step: their blocks, in the order of their allocation.
  std::vector<uint32_t> trained;
  static constexpr uint32_t kFirstOwnText = 1u << 31;
  std::shared_ptr<std::deque<std::string>> own_texts;  // of levers; copies of the step share them
  uint16_t added_streams = 0;  // behind those of the run, for blocks that a lever put in

  OnFirstUse last_uses;  // LastUsesOf
  OnFirstUse takers;     // TakersOf
  OnFirstUse stepped;    // OptimizerCalls
  OnFirstUse whole_run;  // WholeRun, of the step as it was recorded
};

// What goes into an operator, and what comes out.
[[nodiscard]] inline std::span<const Operand> InputsOf(const Step& step, const Op& op) {
  return {step.operands.data() + op.first_input, op.input_count};
}
[[nodiscard]] inline std::span<const Operand> OutputsOf(const Step& step, const Op& op) {
  return {step.operands.data() + op.first_output, op.output_count};
}

// Empty where they were not recorded.
[[nodiscard]] inline std::span<const int64_t> SizesOf(const Step& step, const Operand& operand) {
  return {step.Dims(operand.shape), step.Rank(operand.shape)};
}
[[nodiscard]] inline std::span<const int64_t> StridesOf(const Step& step, const Operand& operand) {
  return {step.Dims(operand.strides), step.Rank(operand.strides)};
}

// Whether both have the same sizes and distances.
[[nodiscard]] bool LieAlike(const Step& step, const Operand& a, const Operand& b);
// Whether both show the same elements of a block in the same way.
[[nodiscard]] bool IsSameView(const Step& step, const Operand& a, const Operand& b);

// Bytes from the begin of the storage to the end of the tensor; 0 where its shape is not known.
[[nodiscard]] uint64_t BytesUpTo(const Step& step, const Operand& operand);

// "8,128,256"; its dimensions are put behind those in `dims`.
[[nodiscard]] Shape ParseShape(std::string_view text, std::vector<int64_t>& dims);

// How many elements a tensor of its shape has, those of an expanded dimension counted each time; 1 where the
// shape is not known.
[[nodiscard]] uint64_t ElementsIn(const Step& step, const Operand& operand);

// Bytes of one element; 0 for types that are not known.
[[nodiscard]] uint32_t BytesOf(uint8_t dtype);

// The last complete deep step behind the first step of the device's process, whose allocations were all seen.
// An error is a sentence that says what to record. O(events of the trace): decodes it once more.
[[nodiscard]] Result<Step> ReadStep(const classify::Analysis& analysis, model::DeviceIndex device);

}  // namespace vramscope::whatif
