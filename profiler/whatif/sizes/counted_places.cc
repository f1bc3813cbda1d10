// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/counted_places.h"

#include <algorithm>
#include <array>
#include <vector>

#include "profiler/whatif/sizes/carried_axis.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint8_t kTypeOfIndices = 4;  // int64, as c10::ScalarType

// What is looked up, or multiplied as matrices, is no number of places any more.
constexpr std::array<std::string_view, 11> kOthers = {
    "aten::mm",     "aten::bmm",         "aten::addmm",     "aten::baddbmm",
    "aten::matmul", "aten::linear",      "aten::embedding", "aten::index_select",
    "aten::index",  "aten::convolution", "aten::einsum"};
constexpr std::array<std::string_view, 6> kPutters = {"aten::index_put_",   "aten::index_add_",
                                                      "aten::index_copy_",  "aten::scatter_",
                                                      "aten::scatter_add_", "aten::scatter_reduce_"};

bool IsOneOf(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class CountedPlaces {
 public:
  CountedPlaces(const Step& step, const BatchAxis& axis, Counted asked)
      : step_(step), axis_(axis), asked_(asked), counted_(step.blocks.size(), false) {}

  // The room that is not known; 0: there is none.
  int64_t Room() {
    for (const uint32_t end : step_.op_ends) {
      const Op& op = step_.ops[end];
      if (op.node != kNone) continue;
      if (const int64_t room = RoomOf(op); room != 0) return room;
      Pass(op);
    }
    return 0;
  }

 private:
  [[nodiscard]] bool IsCounted(const Operand& operand) const {
    return operand.block != kNone && counted_[operand.block];
  }

  void Pass(const Op& op) {
    const std::span<const Operand> inputs = InputsOf(step_, op);
    const bool counts = step_.NameOf(op) == "aten::cumsum";
    const bool goes_on = std::ranges::any_of(inputs, [&](const Operand& input) { return IsCounted(input); });
    if (!counts && (!goes_on || IsOneOf(kOthers, step_.NameOf(op)))) return;
    for (const Operand& result : OutputsOf(step_, op))
      if (result.block != kNone && step_.blocks[result.block].begin > kBefore) counted_[result.block] = true;
  }

  [[nodiscard]] int64_t RoomOf(const Op& op) const {
    const std::span<const Operand> inputs = InputsOf(step_, op), results = OutputsOf(step_, op);
    if (inputs.empty() || results.empty() || step_.Rank(results[0].shape) == 0) return 0;
    const std::string_view name = step_.NameOf(op);
    if (name == "aten::one_hot") return Grow(inputs[0]) ? SizesOf(step_, results[0]).back() : 0;
    if (!IsOneOf(kPutters, name)) return 0;
    const uint32_t into = inputs[0].block;
    if (into == kNone || axis_.stride[into] != 0 || step_.blocks[into].begin == kBefore) return 0;
    const bool places = std::ranges::any_of(inputs.subspan(1), [&](const Operand& index) {
      return index.dtype == kTypeOfIndices && Grow(index);
    });
    return places ? SizesOf(step_, results[0]).front() : 0;
  }

  // Samples that have a dimension of their own are counted one by one.
  [[nodiscard]] bool Grow(const Operand& places) const {
    if (!IsCounted(places)) return false;
    const auto place = PlaceIn(step_, axis_, places, axis_.stride[places.block]);
    return place && (asked_ == Counted::kAtAll || step_.Dims(places.shape)[place->dimension] > axis_.batch);
  }

  const Step& step_;
  const BatchAxis& axis_;
  const Counted asked_;
  std::vector<bool> counted_;  // by block: numbers of places, or what was computed of these
};

}  // namespace

std::string WhyRoomUnknown(const Step& step, const BatchAxis& axis, Counted counted) {
  const int64_t room = CountedPlaces(step, axis, counted).Room();
  if (room == 0) return "";
  return "tokens are counted, and get places in room for " + std::to_string(room) +
         " of them: whether there is more room for more tokens, and how that is rounded, only the program's "
         "code says. Record it with that change.";
}

}  // namespace vramscope::whatif
