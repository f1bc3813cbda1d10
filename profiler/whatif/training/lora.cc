// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/lora.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/training/freeze.h"
#include "profiler/whatif/training/lora_gradients.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr Position kHalf = 0.5;

// A product with a matrix that was put in: F.linear(x, matrix), x as [tokens, in] within.
struct Product {
  uint32_t matrix = kNone;  // the parameter
  uint32_t input = kNone;   // block
  uint32_t output = kNone;
  uint32_t gradient = kNone;  // of the matrix
  Operand given, made;        // as the module sees them
  int64_t in = 0, out = 0;
  uint32_t transposed = kNone, folded = kNone, multiplied = kNone, unfolded = kNone;  // nodes
  size_t first_save = 0;
  bool copied = false;  // x lies with gaps, so that a copy of it is multiplied, which is `input`
};

class Adapter {
 public:
  Adapter(const Step& step, const std::vector<LinearCall>& linears, uint32_t rank)
      : linears_(linears), places_(GradientPlacesOf(step, linears)), rank_(rank), into_(step, Anchors(step)) {
    for (const StepBlock& block : step.blocks) {
      if (block.workspace && block.op != kNone && step.NameOf(step.ops[block.op]) == "aten::mm" &&
          block.begin != kBefore)
        workspace_ = block.requested;
    }
    for (const LinearCall& linear : linears_) forward_ends_.push_back(step.modules[linear.call].end);
    for (size_t i = 0; i < linears_.size(); ++i)
      if (linears_[i].tokens == 0) StandIn(linears_[i], places_[i]);
  }

  // Parameters that were put in come in pairs, for each linear layer: (parameter, weight that it is like).
  Step Run(const std::vector<LinearCall>& uncalled, std::vector<std::pair<uint32_t, uint32_t>>* added) && {
    for (size_t i = linears_.size(); i-- > 0;) Adapt(i, *added);
    for (const LinearCall& linear : uncalled) {
      element_ = BytesOf(linear.given.dtype);
      (void)AddMatrices(linear);
    }
    return std::move(into_).Finish();
  }

 private:
  [[nodiscard]] std::vector<Position> Anchors(const Step& step) const {
    std::vector<Position> anchors;
    for (size_t i = 0; i < linears_.size(); ++i) {
      anchors.push_back(step.modules[linears_[i].call].end);
      anchors.push_back(places_[i].begin - 1);
      if (places_[i].sum_end < kForever) anchors.push_back(places_[i].sum_end - 1);
    }
    return anchors;
  }

  // Nothing goes into a layer whose samples a mask chose, and none; its matrices get a gradient still. Blocks
  // without bytes stand for what no block holds.
  void StandIn(LinearCall& linear, GradientPlace& place) {
    const ModuleCall& call = into_.step().modules[linear.call];
    StepBlock nothing = CopyOf(into_.step(), linear.weight);
    nothing.copy_of = kNone;
    nothing.requested = 0;
    nothing.name = {};
    nothing.category = Category::kTemporaryForward;
    nothing.begin = call.begin, nothing.end = call.end;
    linear.input = linear.given.block = into_.AddBlock(nothing);
    linear.output = linear.made.block = into_.AddBlock(nothing);
    nothing.begin = nothing.end = into_.Moved(place.begin);
    place.gradient.block = into_.AddBlock(nothing);
    place.operand = kNone;
  }

  // Backward from the last layer on: what an earlier one adds to may be what a later one made.
  void Adapt(size_t i, std::vector<std::pair<uint32_t, uint32_t>>& added) {
    const LinearCall& linear = linears_[i];
    into_.SetElements(linear.given.dtype);
    element_ = BytesOf(linear.given.dtype);
    Room forward = into_.RoomBehind(forward_ends_[i]);
    const uint32_t output = SplitOutput(linear, forward);
    Product down, up;
    down.given = linear.given;
    down.input = linear.input;
    down.in = linear.in;
    down.out = up.in = rank_;
    up.out = linear.out;
    std::tie(down.matrix, up.matrix) = AddMatrices(linear);
    added.emplace_back(down.matrix, linear.weight);
    added.emplace_back(up.matrix, linear.weight);
    Multiply(linear, forward, down);
    up.given = down.made;
    up.input = down.output;
    Multiply(linear, forward, up);
    const uint32_t sum = Add(linear, forward, output, up);
    ModuleCall& call = into_.step().modules[linear.call];
    call.holds = forward.Tick();  // of the layer, which has what it is given until it returns
    HoldInFunction(into_.step(), linear.given.block, call.begin, call.holds);
    Backward(i, sum, down, up);
  }

  // The layer's own output gets a block of its own; the recorded one is the sum.
  uint32_t SplitOutput(const LinearCall& linear, Room& room) {
    Step& step = into_.step();
    StepBlock own = CopyOf(step, linear.output);
    own.category = Category::kTemporaryForward;
    const uint32_t output = into_.AddBlock(own);
    const Position behind = room.Tick();
    const ModuleCall& call = step.modules[linear.call];
    for (Operand& operand : step.operands) {
      const Position at = step.ops[operand.op].begin;
      if (operand.block == linear.output && at > call.begin && at < behind) operand.block = output;
    }
    return output;
  }

  // (down, up)
  std::pair<uint32_t, uint32_t> AddMatrices(const LinearCall& linear) {
    const uint32_t down = AddParameter(linear, ".down.weight", rank_, linear.in);
    return {down, AddParameter(linear, ".up.weight", linear.out, rank_)};
  }

  uint32_t AddParameter(const LinearCall& linear, const char* name, int64_t rows, int64_t columns) {
    Step& step = into_.step();
    StepBlock block = CopyOf(step, linear.weight);
    block.copy_of = kNone;
    block.category = Category::kParameter;
    block.requested = static_cast<uint64_t>(rows * columns) * element_;
    block.name = step.Text(into_.Text(std::string(linear.path) + name));
    block.set_up = SetUpBehind(linear, step);
    return into_.AddBlock(block);
  }

  // Where a model with adapters goes to the device: behind the layer's own parameters.
  [[nodiscard]] static Position SetUpBehind(const LinearCall& linear, const Step& step) {
    const Position at = SetUpAt(step, linear);
    return at < kBefore ? at + kHalf : kBefore;
  }

  uint32_t AddResult(const Step& step, uint32_t like, int64_t elements, uint32_t op, Position begin) {
    StepBlock block = CopyOf(step, like);
    block.copy_of = kNone;
    block.requested = static_cast<uint64_t>(elements) * element_;
    block.begin = begin;
    block.end = kForever;
    block.op = op;
    block.name = {};
    block.category = step.ops[op].node == kNone ? Category::kTemporaryForward : Category::kTemporaryBackward;
    return into_.AddBlock(block);
  }

  void TakeWorkspace(const LinearCall& linear, uint32_t op, Room& room) {
    if (workspace_ == 0 || linear.tokens == 0) return;
    const uint32_t made = AddResult(into_.step(), linear.output, 0, op, room.Tick());
    StepBlock& block = into_.step().blocks[made];
    block.requested = workspace_;
    block.end = room.Tick();
    block.workspace = true;
    block.category = Category::kWorkspace;
  }

  // F.linear(x, matrix)
  void Multiply(const LinearCall& linear, Room& room, Product& product) {
    const int64_t tokens = linear.tokens;
    const Operand matrix = into_.Matrix(product.matrix, product.out, product.in);
    const uint32_t outer = into_.Begin("aten::linear", kNone, kNone, room.Tick(), {product.given, matrix});
    const uint32_t turn = into_.Begin("aten::t", outer, kNone, room.Tick(), {matrix});
    product.transposed = into_.AddNode(turn, room.Tick());
    const Operand turned = into_.Matrix(product.matrix, product.in, product.out, true);
    into_.End(turn, room.Tick(), {turned});
    const uint32_t matmul = into_.Begin("aten::matmul", outer, kNone, room.Tick(), {product.given, turned});
    Operand folded = into_.Matrix(product.input, tokens, product.in);
    if (!linear.flat) {
      const std::span<const int64_t> sizes = SizesOf(into_.step(), product.given);
      product.copied =
          !StridesOfView(sizes, StridesOf(into_.step(), product.given), Extents{tokens, product.in});
      const char* const name = product.copied ? "aten::reshape" : "aten::view";
      const uint32_t view = into_.Begin(name, matmul, kNone, room.Tick(), {product.given});
      if (product.copied)
        folded.block = product.input = CopyWithoutGaps(linear, view, room, product.given, product.in);
      product.folded = into_.AddNode(view, room.Tick());
      into_.End(view, room.Tick(), {folded});
    }
    const uint32_t mm = into_.Begin("aten::mm", matmul, kNone, room.Tick(), {folded, turned});
    product.multiplied = into_.AddNode(mm, room.Tick());
    product.first_save = into_.step().saved.size();
    into_.Save(product.matrix, product.multiplied, room.Tick());
    into_.Save(product.input, product.multiplied, room.Tick());
    product.output = AddResult(into_.step(), linear.output, tokens * product.out, mm, room.Tick());
    TakeWorkspace(linear, mm, room);
    const Operand flat = into_.Matrix(product.output, tokens, product.out);
    into_.End(mm, room.Tick(), {flat});
    product.made = flat;
    if (!linear.flat) {
      const uint32_t view = into_.Begin("aten::_unsafe_view", matmul, kNone, room.Tick(), {flat});
      product.unfolded = into_.AddNode(view, room.Tick());
      product.made = Unfolded(linear, product.output, product.out);
      into_.End(view, room.Tick(), {product.made});
    }
    into_.End(matmul, room.Tick(), {product.made});
    into_.End(outer, room.Tick(), {product.made});
  }

  uint32_t CopyWithoutGaps(const LinearCall& linear, uint32_t within, Room& room, const Operand& given,
                           int64_t width) {
    const uint32_t clone =
        into_.Begin("aten::clone", within, into_.step().ops[within].node, room.Tick(), {given});
    const uint32_t copy = AddResult(into_.step(), linear.output, linear.tokens * width, clone, room.Tick());
    into_.End(clone, room.Tick(), {Unfolded(linear, copy, width)});
    return copy;
  }

  // [batch, length, width]
  Operand Unfolded(const LinearCall& linear, uint32_t block, int64_t width) {
    Step& step = into_.step();
    Operand operand = into_.Matrix(block, linear.tokens, width);
    const int64_t* const given = step.Dims(linear.given.shape);
    std::vector<int64_t> dims(given, given + step.Rank(linear.given.shape));
    dims.back() = width;
    std::vector<int64_t> strides(dims.size(), 1);
    for (size_t d = dims.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * dims[d + 1];
    operand.shape = into_.ShapeOf(dims);
    operand.strides = into_.ShapeOf(strides);
    return operand;
  }

  // base + up: the recorded output is born here. Its node.
  uint32_t Add(const LinearCall& linear, Room& room, uint32_t output, const Product& up) {
    const Operand own = Like(linear.made, output);
    const uint32_t add = into_.Begin("aten::add", kNone, kNone, room.Tick(), {own, up.made});
    const uint32_t node = into_.AddNode(add, room.Tick());
    StepBlock& sum = into_.step().blocks[linear.output];
    sum.begin = room.Tick();
    sum.op = add;
    into_.End(add, room.Tick(), {Like(linear.made, linear.output)});
    into_.step().blocks[output].end = room.Tick();
    into_.step().blocks[up.output].end = room.Tick();
    return node;
  }

  [[nodiscard]] static Operand Like(Operand operand, uint32_t block) {
    operand.block = block;
    operand.flags = static_cast<uint8_t>(trace::kTensorRequiresGrad);
    return operand;
  }

  // A node of backward that hands on what it is given: a view of it, at most.
  void HandOn(uint32_t node, const char* name, const Operand& given, const Operand& made, Room& room) {
    if (node == kNone) return;
    const uint32_t op = BeginNode(node, name, given, room);
    const uint32_t view = into_.Begin("aten::view", op, node, room.Tick(), {given});
    into_.End(view, room.Tick(), {made});
    into_.End(op, room.Tick(), {});
    EndNode(node, room);
  }

  uint32_t BeginNode(uint32_t node, const char* name, const Operand& given, Room& room) {
    const uint32_t text = into_.Text(name);
    into_.step().nodes[node].name = text;
    into_.step().nodes[node].begin = room.Tick();
    return into_.Begin(name, kNone, node, room.Tick(), {given});
  }
  void EndNode(uint32_t node, Room& room) { into_.step().nodes[node].end = room.Tick(); }

  void Backward(size_t i, uint32_t sum, Product& down, Product& up) {
    const LinearCall& linear = linears_[i];
    const GradientPlace& place = places_[i];
    Room room = into_.RoomBehind(place.begin - 1);
    // A layer behind it may have made the sum that it is given one in place.
    const Operand given = place.operand != kNone ? into_.step().operands[place.operand] : place.gradient;
    Operand gradient = Like(linear.made, given.block);
    if (std::ranges::equal(SizesOf(into_.step(), gradient), SizesOf(into_.step(), given)))
      gradient.strides = given.strides;
    const uint32_t op = BeginNode(sum, "AddBackward0", gradient, room);
    into_.End(op, room.Tick(), {});
    EndNode(sum, room);
    gradient = Differentiate(linear, up, gradient, true, room);
    into_.step().blocks[up.input].end = into_.step().saved[up.first_save + 1].released + kHair;
    const uint32_t inner = gradient.block;  // of h
    gradient = Differentiate(linear, down, gradient, place.sum != kNone, room);
    into_.step().blocks[inner].end = into_.step().saved[down.first_save].released - kHair;
    Step& step = into_.step();
    StepBlock& input = step.blocks[down.input];
    const Position released = step.saved[down.first_save + 1].released + kHair;
    if (input.begin != kBefore) input.end = down.copied ? released : std::max(input.end, released);
    if (place.sum != kNone) SumGradients(linear, place, gradient.block, into_, room);
  }

  // As rows, which are a copy where it lies with gaps.
  Operand Folded(const LinearCall& linear, const Product& product, const Operand& given, Room& room) {
    Operand flat = into_.Matrix(given.block, linear.tokens, product.out);
    const std::span<const int64_t> sizes = SizesOf(into_.step(), given),
                                   strides = StridesOf(into_.step(), given);
    if (linear.flat || strides.size() != sizes.size() ||
        StridesOfView(sizes, strides, Extents{linear.tokens, product.out})) {
      HandOn(product.unfolded, "UnsafeViewBackward0", given, flat, room);
      return flat;
    }
    const uint32_t op = BeginNode(product.unfolded, "UnsafeViewBackward0", given, room);
    flat.block = CopyWithoutGaps(linear, op, room, given, product.out);
    into_.End(op, room.Tick(), {});
    EndNode(product.unfolded, room);
    return flat;
  }

  // Of F.linear; the gradient of its input, where it is asked for.
  Operand Differentiate(const LinearCall& linear, Product& product, const Operand& given, bool asked,
                        Room& room) {
    const int64_t tokens = linear.tokens;
    const Operand flat = Folded(linear, product, given, room);
    const uint32_t node = product.multiplied;
    const uint32_t op = BeginNode(node, "MmBackward0", flat, room);
    const Operand columns = into_.Matrix(flat.block, product.out, tokens, true);
    const uint32_t for_matrix = into_.Begin("aten::mm", op, node, room.Tick(),
                                            {columns, into_.Matrix(product.input, tokens, product.in)});
    product.gradient =
        AddResult(into_.step(), linear.output, product.in * product.out, for_matrix, room.Tick());
    TakeWorkspace(linear, for_matrix, room);
    into_.End(for_matrix, room.Tick(), {into_.Matrix(product.gradient, product.out, product.in)});
    Operand handed = flat;
    if (asked) {
      const uint32_t for_input = into_.Begin("aten::mm", op, node, room.Tick(),
                                             {flat, into_.Matrix(product.matrix, product.out, product.in)});
      handed.block = AddResult(into_.step(), linear.output, tokens * product.in, for_input, room.Tick());
      TakeWorkspace(linear, for_input, room);
      handed = into_.Matrix(handed.block, tokens, product.in);
      into_.End(for_input, room.Tick(), {handed});
    }
    into_.End(op, room.Tick(), {});
    // The engine lets go of what it gave a node before it has the node let go of what that saved.
    if (flat.block != given.block) into_.step().blocks[flat.block].end = room.Tick();
    for (size_t save : {product.first_save, product.first_save + 1})
      into_.step().saved[save].released = room.Tick();
    EndNode(node, room);
    const Operand unfolded = linear.flat ? handed : Unfolded(linear, handed.block, product.in);
    if (asked) HandOn(product.folded, "ViewBackward0", handed, unfolded, room);
    const Operand gradient = into_.Matrix(product.gradient, product.out, product.in);
    HandOn(product.transposed, "TBackward0", gradient, gradient, room);
    Accumulate(linear, product, gradient, room);
    return unfolded;
  }

  void Accumulate(const LinearCall& linear, const Product& product, const Operand& gradient, Room& room) {
    const uint32_t node = into_.AddNode(kNone, kBefore);
    const uint32_t op = BeginNode(node, "torch::autograd::AccumulateGrad", gradient, room);
    Step& step = into_.step();
    StepBlock& block = step.blocks[product.gradient];
    block.accumulated = room.Tick();
    block.category = Category::kGradient;
    block.name = step.blocks[product.matrix].name;
    into_.End(op, room.Tick(), {});
    EndNode(node, room);
    KeepAsOthers(product.gradient, step.blocks[linear.weight].name, product.out == rank_ ? 1 : 2, into_);
  }

  std::vector<LinearCall> linears_;
  std::vector<GradientPlace> places_;
  const int64_t rank_;
  std::vector<Position> forward_ends_;  // recorded
  Inserter into_;
  uint64_t workspace_ = 0;  // of one product
  uint64_t element_ = 0;    // bytes
};

}  // namespace

Step WithLora(const Step& step, const std::vector<LinearCall>& linears,
              const std::vector<LinearCall>& uncalled, uint32_t rank) {
  std::vector<std::pair<uint32_t, uint32_t>> added;
  const Step whole = Adapter(step, linears, rank).Run(uncalled, &added);
  std::set<uint32_t> matrices;
  for (const auto& [matrix, weight] : added) matrices.insert(matrix);
  Step changed = Frozen(whole, [&](uint32_t parameter) { return !matrices.contains(parameter); });
  const std::vector<uint32_t> stepped = SteppedParameters(whole);
  std::stable_sort(added.begin(), added.end(),  // as the model has them
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [parameter, weight] : added) {
    const bool trained = std::binary_search(whole.trained.begin(), whole.trained.end(), weight);
    AddTrained(whole, trained ? weight : whole.trained.front(), stepped, parameter, changed);
  }
  std::sort(changed.trained.begin(), changed.trained.end());
  return changed;
}

}  // namespace vramscope::whatif
