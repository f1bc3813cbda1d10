// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/carried_axis.h"

#include <algorithm>
#include <array>
#include <functional>

#include "profiler/whatif/attention/attention.h"

namespace vramscope::whatif {
namespace {

// Results that have the shape of one argument: of the index, or of what was indexed.
constexpr std::pair<std::string_view, uint16_t> kShapedLike[] = {
    {"aten::gather", 2}, {"aten::gather_backward", 1}, {"aten::nll_loss_backward", 1}};

// Of a convolution or a pool: batch and channels come before.
constexpr int64_t kSpatial = 2;

// Of a copy in other sizes, which has all elements in their order.
uint64_t WithinRow(const Step& step, const Operand& operand, AxisPlace place) {
  uint64_t elements = place.inner;
  for (const int64_t size : SizesOf(step, operand).subspan(place.dimension + 1))
    elements *= static_cast<uint64_t>(size);
  return elements;
}

// A convolution whose windows lie beside each other, as those of patches do: `now` of them along dimension
// `d` of so many elements, and whole ones of each step along the axis.
bool AreCutIntoPatches(const Step& step, const Op& op, int64_t d, int64_t size, int64_t now, uint64_t inner) {
  if (op.input_count < 2 || now == 0 || size % now != 0) return false;
  const std::span<const int64_t> weight = SizesOf(step, InputsOf(step, op)[1]);
  const int64_t patch = size / now;
  return patch > 1 && d < static_cast<int64_t>(weight.size()) && weight[static_cast<size_t>(d)] == patch &&
         inner % static_cast<uint64_t>(patch) == 0;
}

// The place of dimension `d` when those that are reduced are gone; -1 when it is one of them.
int64_t AfterReduction(const Step& step, const Op& op, uint32_t rank, uint32_t d) {
  const std::vector<bool> reduced = ReducedOf(step.Text(op.dims), rank);
  return reduced[d] ? -1 : std::count(reduced.begin(), reduced.begin() + d, false);
}

// The operand whose rows are the columns of the result, where another's are its rows: distances of all to
// all, or x[:, kinds], what is said of each kind that there is in any sample. nullptr: there is none.
const Operand* RowsAcross(const Step& step, const Op& op, const Operand& result) {
  if (op.input_count != 2 || !step.shapes[result.strides].known) return nullptr;
  const Operand &first = InputsOf(step, op)[0], &second = InputsOf(step, op)[1];
  const std::span<const int64_t> from = SizesOf(step, first), by = SizesOf(step, second);
  const std::span<const int64_t> made = SizesOf(step, result);
  if (step.NameOf(op) == "aten::cdist" || step.NameOf(op) == "aten::_cdist_forward")
    return made.size() < 2 || by.size() < 2 ? nullptr : &second;
  if (step.NameOf(op) != "aten::index" || from.size() != 2 || by.size() != 1 || made.size() != 2)
    return nullptr;
  const bool rows = made[0] == by[0] && made[1] == from[1];  // x[places]
  return !rows && made[0] == from[0] && made[1] == by[0] ? &second : nullptr;
}

}  // namespace

uint64_t CarryAxis(const Step& step, const Op& op, Kind kind, const Operand& operand, AxisPlace place,
                   const Operand& result) {
  const uint32_t in = step.Rank(operand.shape);
  const uint32_t out = step.Rank(result.shape);
  const int64_t size = step.Dims(operand.shape)[place.dimension];
  const auto stride_at = [&](int64_t d) -> uint64_t {
    if (d < 0 || d >= out) return 0;
    const int64_t now = step.Dims(result.shape)[d];
    const bool windows = kind == Kind::kWindows;
    const bool longer = now > size && (kind == Kind::kJoin || windows);
    const bool fewer = now < size && windows && d >= kSpatial && place.inner == 1;
    if (windows && d >= kSpatial && AreCutIntoPatches(step, op, d, size, now, place.inner))
      return static_cast<uint64_t>(step.Dims(result.strides)[d]) * place.inner /
             static_cast<uint64_t>(size / now);
    if (now != size && !longer && !fewer) return 0;
    return static_cast<uint64_t>(step.Dims(result.strides)[d]) * place.inner;
  };
  // [samples, rows, heads, features]: sums of rows are [samples, heads, rows].
  if (in == 4 && out == 3 && place.dimension == 1 && step.NameOf(op) == kEfficientForward)
    return stride_at(2);
  if (kind == Kind::kReduction && out < in) return stride_at(AfterReduction(step, op, in, place.dimension));
  const int64_t left = place.dimension;
  const int64_t right = static_cast<int64_t>(place.dimension) + out - in;
  const int64_t first = kind == Kind::kLeading ? left : right;
  if (const uint64_t stride = stride_at(first); stride != 0) return stride;
  if (const uint64_t stride = stride_at(first == left ? right : left); stride != 0) return stride;
  return step.NameOf(op) == "aten::reshape" ? WithinRow(step, operand, place) : 0;
}

void AddPlace(PlacesOfAxis& places, uint64_t stride) {
  if (stride == 0 || places[0] == stride) return;
  if (places[0] == 0)
    places[0] = stride;
  else if (places[1] == 0)
    places[1] = stride;
}

void AddCompared(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result,
                 const Operand& first, const std::vector<bool>& left_out, PlacesOfAxis& places) {
  if (!AreBroadcast(step, op, result) || !step.shapes[result.strides].known) return;
  const uint32_t rank = step.Rank(result.shape);
  // The operand has the same elements all along dimension `d` of the result.
  const auto is_spread = [&](const Operand& operand, uint32_t d) {
    const uint32_t missing = rank - step.Rank(operand.shape);
    if (d < missing || step.Dims(operand.shape)[d - missing] == 1) return true;
    return step.shapes[operand.strides].known && StridesOf(step, operand)[d - missing] == 0;
  };
  uint32_t own = 0;  // the dimension of the result in which the first one has the axis
  while (own < rank && ElementsWithin(step, places[0], result, own) == 0) ++own;
  if (own == rank) return;
  for (const Operand& operand : InputsOf(step, op)) {
    if (operand.block == model::kNone || left_out[operand.block]) continue;
    const uint32_t missing = rank - step.Rank(operand.shape);
    for (uint32_t d = missing; d < rank; ++d) {
      if (d == own || (!is_spread(first, d) && !is_spread(operand, own))) continue;
      for (const uint64_t stride : {axis.stride[operand.block], axis.second[operand.block]})
        AddPlace(places, ElementsWithin(step, axis.StrideIn(operand, stride), operand, d - missing) *
                             static_cast<uint64_t>(StridesOf(step, result)[d]));
    }
  }
}

void AddAcross(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result,
               const std::vector<bool>& left_out, PlacesOfAxis& places) {
  const Operand* const across = RowsAcross(step, op, result);
  if (across == nullptr || across->block == model::kNone || left_out[across->block]) return;
  const uint64_t stride = axis.StrideIn(*across, axis.stride[across->block]);
  const uint64_t rows =
      ElementsWithin(step, stride, *across, step.Rank(across->shape) == 1 ? 0 : step.Rank(across->shape) - 2);
  AddPlace(places, rows * static_cast<uint64_t>(StridesOf(step, result).back()));
}

PlacesOfAxis PlacesOfCompared(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result) {
  for (const Operand& operand : InputsOf(step, op)) {
    if (operand.block == model::kNone || operand.block == result.block || axis.second[operand.block] == 0 ||
        operand.dtype != result.dtype || !step.shapes[operand.strides].known)
      continue;
    if (LieAlike(step, operand, result)) return {axis.stride[operand.block], axis.second[operand.block]};
  }
  return {};
}

namespace {

// The last two operands that are matrices, or stacks of them: addmm and baddbmm begin with what is added,
// which the matrices follow. Nothing: there are none.
std::array<const Operand*, 2> FactorsOf(const Step& step, const Op& op) {
  std::array<const Operand*, 2> factors{};
  for (const Operand& operand : InputsOf(step, op))
    if (step.Rank(operand.shape) >= 2) factors = {factors[1], &operand};
  return factors;
}

}  // namespace

PlacesOfAxis CarryThroughProduct(const Step& step, const BatchAxis& axis, const Op& op,
                                 const Operand& result) {
  const auto factors = FactorsOf(step, op);
  PlacesOfAxis places{};
  if (factors[0] == nullptr) return places;
  const uint32_t rank = step.Rank(result.shape);
  const auto add = [&](const Operand& factor, uint32_t d) {
    if (factor.block == model::kNone || step.Rank(factor.shape) != rank || d >= rank) return;
    const int64_t beside = axis.BesideIn(factor.block);
    for (const uint64_t stride : {axis.stride[factor.block], axis.second[factor.block]}) {
      const uint64_t inner = ElementsWithin(step, axis.StrideIn(factor, stride), factor, d);
      // joined[:, :8]: those alone that stand beside the tokens.
      if (inner == 1 && beside != 0 && SizesOf(step, factor)[d] == beside) continue;
      AddPlace(places, inner * static_cast<uint64_t>(step.Dims(result.strides)[d]));
    }
  };
  for (uint32_t d = 0; d + 2 < rank; ++d) add(*factors[0], d), add(*factors[1], d);
  add(*factors[0], rank - 2);
  add(*factors[1], rank - 1);
  return places;
}

uint32_t SizedByChance(const Step& step, const BatchAxis& axis, const Op& op,
                       const std::vector<bool>& sized) {
  const auto factors = FactorsOf(step, op);
  if (factors[0] == nullptr || factors[0]->block == model::kNone || factors[1]->block == model::kNone)
    return model::kNone;
  const uint32_t which = sized[factors[0]->block] ? 0 : 1;
  const Operand &made = *factors[which], &told = *factors[1 - which];
  const uint32_t rank = step.Rank(made.shape);
  if (!sized[made.block] || sized[told.block] || axis.stride[told.block] == 0 ||
      rank != step.Rank(told.shape))
    return model::kNone;
  const auto has = [&](const Operand& factor, uint32_t d) {
    return ElementsWithin(step, axis.StrideIn(factor, axis.stride[factor.block]), factor, d) != 0;
  };
  for (uint32_t d = 0; d + 2 < rank; ++d)
    if (has(made, d) && !has(told, d)) return made.block;
  return model::kNone;
}

PlacesOfAxis PlacesOfWhole(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result) {
  PlacesOfAxis places{};
  const std::string_view name = step.NameOf(op);
  constexpr std::string_view kOfParts[] = {"aten::select_backward", "aten::slice_backward",
                                           "aten::diagonal_backward",
                                           "aten::value_selecting_reduction_backward"};
  const uint32_t viewed = op.node == model::kNone ? model::kNone : step.nodes[op.node].op;
  if (viewed == model::kNone || step.ops[viewed].input_count == 0) return places;
  const bool spread = name == "aten::div" && step.NameOf(step.ops[viewed]) == "aten::mean";
  // index_backward() in torch/csrc/autograd/FunctionsManual.cpp: of whole rows that numbers of the CPU pick.
  const bool rows = name == "aten::new_zeros" && step.NameOf(step.ops[viewed]) == "aten::index";
  if (!spread && !rows && std::ranges::find(kOfParts, name) == std::end(kOfParts)) return places;
  const Operand& whole = InputsOf(step, step.ops[viewed])[0];
  if (whole.block == model::kNone || !step.shapes[result.strides].known ||
      !std::ranges::equal(SizesOf(step, whole), SizesOf(step, result)))
    return places;
  for (const uint64_t stride : {axis.stride[whole.block], axis.second[whole.block]}) {
    for (uint32_t d = 0; stride != 0 && d < step.Rank(whole.shape); ++d)
      AddPlace(places, ElementsWithin(step, axis.StrideIn(whole, stride), whole, d) *
                           static_cast<uint64_t>(StridesOf(step, result)[d]));
  }
  return places;
}

const Op& AlignedIn(const Step& step, const Op& op) {
  if (step.NameOf(op) != "aten::value_selecting_reduction_backward") return op;
  const auto index = static_cast<uint32_t>(&op - step.ops.data());
  for (uint32_t i = index + 1; i < step.ops.size() && step.ops[i].begin < op.end; ++i)
    if (step.ops[i].parent == index && step.NameOf(step.ops[i]) == "aten::scatter_") return step.ops[i];
  return op;
}

uint32_t LaidOutAs(const Step& step, const Op& op, const Operand& result) {
  const uint32_t viewed = op.node == model::kNone ? model::kNone : step.nodes[op.node].op;
  if (viewed == model::kNone || step.NameOf(step.ops[viewed]) != "aten::as_strided" ||
      step.ops[viewed].input_count == 0)
    return model::kNone;
  const Operand& base = InputsOf(step, step.ops[viewed])[0];
  const bool same = step.Rank(result.shape) == 1 && ElementsIn(step, result) == ElementsIn(step, base);
  return same ? base.block : model::kNone;
}

PlacesOfAxis PlacesOfStatistics(const Step& step, const BatchAxis& axis, const Op& op,
                                const Operand& result) {
  constexpr uint32_t kChannels = 1;
  PlacesOfAxis places{};
  if (step.NameOf(op).find("batch_norm") == std::string_view::npos || op.input_count == 0) return places;
  const Operand& normed = InputsOf(step, op)[0];
  const std::span<const int64_t> sizes = SizesOf(step, normed), made = SizesOf(step, result);
  if (normed.block == model::kNone || sizes.size() <= kChannels || made.size() != 1 ||
      made[0] != sizes[kChannels] || !step.shapes[result.strides].known)
    return places;
  for (const uint64_t stride : {axis.stride[normed.block], axis.second[normed.block]})
    AddPlace(places, ElementsWithin(step, axis.StrideIn(normed, stride), normed, kChannels) *
                         static_cast<uint64_t>(StridesOf(step, result)[0]));
  return places;
}

std::vector<Operand> MostTellingFirst(const Step& step, const Op& op, Kind kind) {
  const std::span<const Operand> given = InputsOf(step, op);
  std::vector<Operand> operands(given.begin(), given.end());
  if (kind == Kind::kJoin)
    std::ranges::stable_sort(operands, std::ranges::greater{},
                             [&](const Operand& operand) { return ElementsIn(step, operand); });
  return operands;
}

bool CopiesFromCpu(const Step& step, const Op& op, const Operand& result) {
  const std::span<const Operand> inputs = InputsOf(step, op);
  const auto in_block = [](const Operand& operand) { return operand.block != model::kNone; };
  return step.NameOf(op) == "aten::_to_copy" && !inputs.empty() && std::ranges::none_of(inputs, in_block) &&
         std::ranges::equal(SizesOf(step, inputs[0]), SizesOf(step, result));
}

bool IsMaskOfAttention(const Step& step, const Op& op, const Operand& operand) {
  const std::string_view name = step.NameOf(op);
  constexpr uint16_t kForward = 3, kBackward = 4;
  return name.find("_attention") != std::string_view::npos &&
         operand.argument == (name.ends_with("_backward") ? kBackward : kForward);
}

MaskOfRows FindMaskOfRows(const Step& step, const BatchAxis& axis, const Op& op) {
  const std::span<const Operand> inputs = InputsOf(step, op);
  if (step.NameOf(op) != "aten::scaled_dot_product_attention" || inputs.size() < 4) return {};
  const Operand& mask = inputs[3];
  const uint32_t rank = step.Rank(mask.shape);
  if (!IsMaskOfAttention(step, op, mask) || mask.block == model::kNone || rank < 2 ||
      !step.shapes[mask.strides].known || step.blocks[mask.block].begin == kBefore ||
      axis.stride[mask.block] != 0)
    return {};
  MaskOfRows found{&mask, {}};
  for (const uint32_t factor : {0, 1}) {
    const Operand& rows = inputs[factor];
    const uint32_t of = step.Rank(rows.shape), d = rank - 2 + factor;
    if (rows.block == model::kNone || of < 2 || SizesOf(step, rows)[of - 2] != SizesOf(step, mask)[d])
      continue;
    AddPlace(found.places,
             ElementsOfSample(step, axis, rows, of - 2) * static_cast<uint64_t>(StridesOf(step, mask)[d]));
  }
  return found.places[0] != 0 ? found : MaskOfRows{};
}

bool IsOfOtherRows(const Step& step, const Op& op, const Operand& operand, const Operand& result) {
  const std::string_view name = step.NameOf(op);
  if (name.find("_attention") == std::string_view::npos) return false;
  if (!name.ends_with("_backward")) return operand.argument != 0;
  constexpr uint16_t kQuery = 1;  // which the key and the value follow, as their gradients do
  return result.argument < kGradientOfMask && operand.argument != kQuery + result.argument;
}

uint32_t SortedWith(const Step& step, const Op& op, uint32_t block) {
  if (step.NameOf(op) != "aten::embedding_dense_backward" || op.input_count < 2) return model::kNone;
  const Operand& indices = InputsOf(step, op)[1];
  const uint64_t bytes = ElementsIn(step, indices) * BytesOf(indices.dtype);
  const StepBlock& made = step.blocks[block];
  if (bytes == 0 || made.requested < bytes) return model::kNone;
  const bool own = &op == &step.ops[made.op];
  return own || made.requested == bytes ? indices.block : model::kNone;
}

PlacesOfAxis Without(PlacesOfAxis places, PlacesOfAxis others) {
  PlacesOfAxis rest{};
  for (const uint64_t place : places)
    if (place != others[0] && place != others[1]) AddPlace(rest, place);
  return rest;
}

bool AreBroadcast(const Step& step, const Op& op, const Operand& result) {
  const std::span<const int64_t> made = SizesOf(step, result);
  const std::span<const Operand> operands = InputsOf(step, op);
  return std::ranges::all_of(operands, [&](const Operand& operand) {
    const std::span<const int64_t> sizes = SizesOf(step, operand);
    if (sizes.size() > made.size()) return false;
    return std::ranges::equal(sizes, made.last(sizes.size()),
                              [](int64_t from, int64_t to) { return from == to || from == 1; });
  });
}

const Operand* ShapedLike(const Step& step, const Op& op) {
  for (const auto& [name, argument] : kShapedLike) {
    if (step.NameOf(op) != name) continue;
    for (const Operand& operand : InputsOf(step, op))
      if (operand.argument == argument) return &operand;
  }
  return nullptr;
}

std::optional<AxisPlace> PlaceIn(const Step& step, const BatchAxis& axis, const Operand& operand,
                                 uint64_t stride) {
  for (uint32_t d = 0; d < step.Rank(operand.shape); ++d) {
    if (const uint64_t inner = ElementsWithin(step, axis.StrideIn(operand, stride), operand, d); inner != 0)
      return AxisPlace{d, inner};
  }
  return {};
}

uint64_t PlaceInResized(const Step& step, const BatchAxis& axis, const Op& op) {
  if (op.input_count == 0 || op.output_count == 0 || step.NameOf(op) != "aten::resize_") return 0;
  const Operand &from = InputsOf(step, op)[0], &to = OutputsOf(step, op)[0];
  if (to.block == model::kNone || to.block != from.block || step.Rank(to.shape) == 0) return 0;
  const auto place = PlaceIn(step, axis, from, axis.stride[to.block]);
  if (!place || place->dimension != 0 || !step.shapes[to.strides].known) return 0;
  if (step.Dims(to.shape)[0] != step.Dims(from.shape)[0]) return 0;
  return place->inner * static_cast<uint64_t>(step.Dims(to.strides)[0]);
}

bool MultipliesFeatures(const Step& step, const BatchAxis& axis, const Op& op) {
  if (op.node != model::kNone || op.input_count != 2) return false;
  const Operand &left = InputsOf(step, op)[0], &right = InputsOf(step, op)[1];
  const uint32_t rank = step.Rank(left.shape), other = step.Rank(right.shape);
  if (left.block == model::kNone || right.block == model::kNone || rank < 2 || other < 2) return false;
  const auto lies = [&](const Operand& operand, uint32_t dimension) {
    return ElementsWithin(step, axis.StrideIn(operand, axis.stride[operand.block]), operand, dimension) !=
               0 ||
           ElementsWithin(step, axis.StrideIn(operand, axis.second[operand.block]), operand, dimension) != 0;
  };
  return lies(right, other - 2) && lies(left, rank - 2) && !lies(left, rank - 1);
}

std::vector<const Operand*> RecurrentStates(const Step& step, const BatchAxis& axis, const Op& op) {
  constexpr uint16_t kWeights = 1;
  const auto is_state = [&](const Operand& state) {
    return state.block != model::kNone && step.Rank(state.shape) == 3 && axis.stride[state.block] == 0 &&
           step.Dims(state.shape)[1] == axis.batch && step.blocks[state.block].begin != kBefore &&
           step.shapes[state.strides].known;
  };
  std::vector<const Operand*> states;
  for (const Operand& given : InputsOf(step, op))
    if (given.argument > kWeights && is_state(given)) states.push_back(&given);
  for (const Operand& result : OutputsOf(step, op))
    if ((result.argument == 1 || result.argument == 2) && is_state(result)) states.push_back(&result);
  return states;
}

}  // namespace vramscope::whatif
