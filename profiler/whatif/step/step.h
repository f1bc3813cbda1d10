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
// A position is the number of an event within the step; a lever that inserts something puts it at a fraction.
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
#include "trace_format/result.h"

namespace vramscope::whatif {

using Position = double;
inline constexpr Position kBefore = -1;     // of a begin: before the step
inline constexpr Position kForever = 1e18;  // of an end: not within what was recorded
inline constexpr Position kHair = 1e-6;     // between what is put in at one position, one after the other
inline constexpr uint64_t kFloatBytes = 4;  // of an element in float32
// How far behind a release, or a last use, what follows it is freed: directly, or with one event between.
inline constexpr Position kAtOnce = 1.5, kSoon = 2.5;

// Whether what a lever puts in grows with the batch, where it says so: small blocks do not tell.
enum class Grows : uint8_t { kUnsaid, kWithBatch, kNot };

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
  int64_t expanded = 0;         // of a copy of x.expand(8, -1), so many times the same elements: 8; else 0
  uint32_t pieces = 1;          // put together by a lever: blocks that live alike, `requested` in equal parts
  Position last_use = kBefore;  // of a copy that forward made: no operand names it
  Position once = kBefore;      // put in by a lever, made for good: when, from the first step's begin on
  Position set_up = kBefore;    // there before the first step: when, before 0, where a lever says it
  Position replaced = kForever;  // operands of operators behind it are a copy that has the block's name
  std::string_view name;  // in labels: "layers.0.weight", also of its gradient; lives as long as the run
  uint16_t stream = 0;
  classify::Category category = classify::Category::kUnattributed;  // what it is for most of its life
  bool workspace = false;
  bool piles_up = false;       // each step leaves one more
  bool piled = false;          // a step before it left it so
  bool single_buffer = false;  // a module's buffer in float32, as its tree says, also if none works on it
  Grows grows = Grows::kUnsaid;

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

// What a call of Tensor.to() asks for: a type by its name, or that of another tensor, which may be one that
// the converted one was computed from.
enum class Asks : uint8_t { kNotTold, kType, kTensor, kOrigin };

struct Op {
  uint32_t name = 0;               // trace::StringId
  uint32_t parent = model::kNone;  // the operator around it, on the same thread
  uint32_t node = model::kNone;    // the autograd node that the engine ran then
  Position begin = 0;
  Position end = kForever;
  uint32_t first_input = 0, input_count = 0;  // into Step::operands
  uint32_t first_output = 0, output_count = 0;
  uint32_t dims = 0;   // text of the scalar argument that has the dimensions of a reduction, mostly 1
  uint32_t dtype = 0;  // text of the scalar argument that names an element type: "torch.float32"
  Asks asks = Asks::kNotTold;
  bool first = false;    // Asks::kOrigin: it comes first in each line between: (x.float() + y).to(x.dtype)
  bool again = false;    // aten::to: the variable that had what is converted gets the copy
  bool taken = false;    // aten::to: what it returns has no name and goes into the operator behind it
  bool moves = false;    // aten::to that asks for no type: with a device alone
  bool narrows = false;  // the program converts what it is given before, where its parameters have 16 bits
  uint32_t asked = model::kNone;  // aten::to: the block whose tensor's type it asks for, where that was told
  Position named = kBefore;       // aten::to, type_as: until when a variable holds what it returns
  Position left = kBefore;        // when the function returns that called it, where no module's forward did
  bool sixth = false;             // its argument 5 is true: scaled_dot_product_attention's is_causal
  bool contiguous = false;        // aten::to: what it copies it makes contiguous, however that lies
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
  double share = 1;      // its elements, in those of the block: of a view less, of an expanded one more
  bool gaps = false;     // its elements do not lie side by side
  int64_t expanded = 0;  // x.expand(8, -1, -1), 8 times the same elements: 8; else 0
};

// A call of a module's forward.
struct ModuleCall {
  uint32_t name = 0;  // dotted path
  uint32_t parent = model::kNone;
  Position begin = 0;
  Position end = kForever;
  Position holds = kBefore;  // what it is given, longer than its own operators run: with adapters beside them

  // Until when it has what it is given.
  [[nodiscard]] Position HoldsUntil() const { return std::max(end, holds); }
};

// A variable of the function that calls a module holds a block: until the call returns, or longer.
struct Held {
  uint32_t block = model::kNone;
  uint32_t call = model::kNone;  // into Step::modules
  uint32_t name = 0;             // the variable's: trace::StringId
  bool to_end = false;           // nothing gives the variable another block before its function returns
  bool in_given = false;         // in a list or a table that the function was given
};

// A variable of the function that called a module got what it returned, and keeps it until the function
// returns.
struct KeptResult {
  uint32_t block = model::kNone;
  uint32_t call = model::kNone;  // of that module
};

// A variable of a function that runs in a call of a module, or what it was given, holds a block so long.
struct Named {
  uint32_t block = model::kNone;
  Position until = kBefore;
  Position unconverted = kBefore;  // of these those that cannot hold a copy where the program converts it
  bool all = false;                // no other variable does, in the call that made it
  bool itself = false;             // nor before the program converts it, of what it converts
};

// Of blocks that variables hold as other tensors than the one that it was made as: those of the tensor that
// was made at `since`.
struct NamedSince {
  uint32_t block = model::kNone;
  Position since = kBefore;
  Position until = kBefore;
};

// The program asked for the type of a block's tensor before, and would have done otherwise with another one.
struct TypeBranch {
  enum class Form : uint8_t {
    kClamp,        // a new one, clamped
    kToParameter,  // a new one, of its parameters' type
    kSoftmax       // what softmax returned would have been computed in float32 and converted back
  };
  uint32_t block = model::kNone;
  Position at = 0;
  Form form = Form::kClamp;
  bool bfloat16 = false;  // that is the other type; else float16
};

// A branch that does something else with a type of 16 bits, or under autocast, and whose form is not known.
struct OtherBranch {
  uint32_t block = model::kNone;  // of the tensor that it asks
  uint8_t type = 0;               // that it asks for: c10::ScalarType; 0: whether autocast is on
  bool sure = false;              // it was passed, and does something with tensors
  std::string where;              // "Gate.forward, model.py:217"
};

// Attention looks back so far at most: the program makes masks where there are as many tokens, or more.
struct SlidingWindow {
  std::string name;  // of the attribute that says so
  int64_t tokens = 0;
};

struct Window {
  Position begin = 0;
  Position end = 0;
};

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
  Position length = 0;
  timeline::Step first;  // of the loop: what later ones find was made there
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
  std::vector<Held> held;  // in the order of the calls; empty: not recorded
  std::vector<KeptResult> kept_results;
  std::vector<Named> named;              // the longest of each block, in the order of the blocks
  std::vector<NamedSince> named_since;   // in the order of the blocks
  bool keeps_products = false;           // a lever makes the program name them for its attention
  std::vector<TypeBranch> half_only;     // what is done with 16 bits alone
  std::vector<TypeBranch> to_parameter;  // what is not in float32, as those are, would have been converted
  std::vector<OtherBranch> other_branches;
  std::vector<SlidingWindow> sliding_windows;
  std::vector<Window> backward;
  std::vector<Window> optimizer;
  std::vector<Window> zero_grad;
  std::vector<Window> autocast;
  std::vector<Position> autocast_cleared;  // the program would empty autocast's cache there
  std::vector<Position> cache_emptied;     // it empties the allocator's cache itself there
  std::vector<Window> autocast_off;        // the program would switch it off there, if it were on
  std::string optimizer_class;  // "AdamW"; of optimizers of several classes, all with commas between
  std::vector<Shape> shapes;
  std::vector<int64_t> dims;

  // Where a position was before levers put something in.
  [[nodiscard]] Position Recorded(Position at) const {
    Position before = 0;
    for (const Window& window : inserted)
      before += std::clamp<Position>(at - window.begin, 0, window.end - window.begin);
    return at - before;
  }
  // How long the host took from one moment of the recorded step to another.
  [[nodiscard]] double HostNs(Position from, Position to) const {
    const auto time_of = [&](Position at) {
      const Position within =
          std::clamp<Position>(Recorded(at), 0, std::max<Position>(Recorded(length) - 1, 0));
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
    for (const ModuleCall& call : modules) end = std::max(end, std::min(call.end, length));
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
  std::vector<Window> inserted;                        // by levers, in order: no time of the recorded step
  bool without_caches = false;      // which the recorded program appended keys and values to
  bool narrowed = false;            // blocks are smaller than the shapes of operands say: widths were pruned
  uint32_t refuses = model::kNone;  // by levers: an operator, given two types that PyTorch does not compute
                                    // with, or that converts to what the recording does not tell
  uint16_t added_streams = 0;       // behind those of the run, for blocks that a lever put in

  OnFirstUse batch_axis;      // FollowBatch
  OnFirstUse batch_to_scale;  // BatchToScale
  OnFirstUse fixed_pieces;    // FixedPiecesOf
  OnFirstUse last_uses;       // LastUsesOf
  OnFirstUse takers;          // TakersOf
  OnFirstUse first_takers;    // FirstTakersOf
  OnFirstUse appended;        // WithoutCaches
  OnFirstUse stepped;         // OptimizerCalls
  OnFirstUse whole_run;       // WholeRun, of the step as it was recorded
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

// A block that a lever puts in: elements of `block`, with a size and a life that are still to be said.
[[nodiscard]] StepBlock CopyOf(const Step& step, uint32_t block);

// Bytes from the begin of the storage to the end of the tensor; 0 where its shape is not known.
[[nodiscard]] uint64_t BytesUpTo(const Step& step, const Operand& operand);

// "8,128,256"; its dimensions are put behind those in `dims`.
[[nodiscard]] Shape ParseShape(std::string_view text, std::vector<int64_t>& dims);

// How many elements a tensor of its shape has, those of an expanded dimension counted each time; 1 where the
// shape is not known.
[[nodiscard]] uint64_t ElementsIn(const Step& step, const Operand& operand);

// Whether it has no elements, so that no block holds it.
[[nodiscard]] inline bool IsEmpty(const Step& step, const Operand& operand) {
  return operand.block == model::kNone && ElementsIn(step, operand) == 0;
}
// Whether it is on the device: in a block, or without elements.
[[nodiscard]] inline bool IsThere(const Step& step, const Operand& operand) {
  return operand.block != model::kNone || IsEmpty(step, operand);
}

// Bytes of one element; 0 for types that are not known.
[[nodiscard]] uint32_t BytesOf(uint8_t dtype);

// The last complete deep step behind the first step of the device's process, whose allocations were all seen.
// An error is a sentence that says what to record. O(events of the trace): decodes it once more.
[[nodiscard]] Result<Step> ReadStep(const classify::Analysis& analysis, model::DeviceIndex device);

}  // namespace vramscope::whatif
