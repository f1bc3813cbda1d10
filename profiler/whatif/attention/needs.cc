// SPDX-License-Identifier: Apache-2.0
// What kernels of attention take beside their results.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/step/reduction.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kColumnsAtOnce = 64;  // that its backward takes of heads wider than one tile

// How many thread blocks share the columns of one head: fewer where gradients of keys and values are summed
// for each of them (num_splits_key in aten/src/ATen/native/transformers/cuda/attention_backward.cu).
uint64_t SplitsOfColumns(const AttentionCall& call) {
  constexpr uint64_t kMostSums = 200;
  const uint64_t all = UpTo(static_cast<uint64_t>(call.columns), kColumnsAtOnce) / kColumnsAtOnce;
  return std::max<uint64_t>(std::min(all, kMostSums / std::max<uint64_t>(call.Heads(), 1)), 1);
}

}  // namespace

FlashNeeds FlashNeedsOf(const AttentionCall& call, int multiprocessors) {
  constexpr uint64_t kRows = 128, kRowsOfTurn = 64, kUnit = 32, kUnitOfWide = 64;  // of widths
  constexpr int64_t kWide = 128;
  constexpr int kMostSplits = 128;
  constexpr double kFull = 0.8, kNearlyBest = 0.85;
  const auto rows = static_cast<uint64_t>(call.rows), columns = static_cast<uint64_t>(call.columns);
  const uint64_t width = UpTo(static_cast<uint64_t>(call.width), call.width <= kWide ? kUnit : kUnitOfWide);
  FlashNeeds needs;
  needs.sums = call.Heads() * UpTo(rows, kRows) * kFloatBytes;
  needs.queries = needs.sums * width;
  // set_params_splitkv and num_splits_heuristic: the columns are shared out when that fills the device more.
  const uint64_t block = call.width <= 64 ? 256 : call.width <= 128 ? 128 : 64;
  const int blocks = static_cast<int>((columns + block - 1) / block);
  const double turns = static_cast<double>(call.Heads() * ((rows + kRowsOfTurn - 1) / kRowsOfTurn));
  const int device = 2 * multiprocessors;
  if (call.dropout || turns >= kFull * device) return needs;
  const auto efficiency = [&](int splits) {
    const double waves = turns * splits / device;
    return waves / std::ceil(waves);
  };
  const auto columns_of = [&](int splits) { return (blocks + splits - 1) / splits; };
  std::vector<int> eligible;
  double best = 0;
  for (int splits = 1; splits <= std::min({kMostSplits, device, blocks}); ++splits) {
    if (splits > 1 && columns_of(splits) == columns_of(splits - 1)) continue;
    eligible.push_back(splits);
    best = std::max(best, efficiency(splits));
  }
  const auto chosen = std::find_if(eligible.begin(), eligible.end(),
                                   [&](int splits) { return efficiency(splits) >= kNearlyBest * best; });
  if (chosen == eligible.end() || *chosen == 1) return needs;
  needs.split_sums = static_cast<uint64_t>(*chosen) * call.Heads() * rows * kFloatBytes;
  needs.split_outputs = needs.split_sums * width;
  return needs;
}

uint64_t EfficientSums(const AttentionCall& call) {
  return call.Heads() * UpTo(static_cast<uint64_t>(call.rows), kRowUnit) * kFloatBytes;
}

uint64_t EfficientWorkspace(const AttentionCall& call) {
  constexpr uint64_t kNarrow = 64, kBroad = 128, kLocks = 4;
  if (call.width > kWidestEfficient) {
    // Tiles beside each other; in 16 bits gradients of keys and values are summed in float beside them.
    const auto wanted = static_cast<uint64_t>(call.width);
    const uint64_t width = UpTo(wanted, kNarrow);
    const uint64_t rows = UpTo(static_cast<uint64_t>(call.rows), kBroad);
    const uint64_t locks = rows / kBroad * (width / kNarrow) * kLocks;
    const uint64_t summed =
        call.element == kFloatBytes ? 0 : 2 * SplitsOfColumns(call) * kColumnsAtOnce * UpTo(wanted, kBroad);
    return call.Heads() * (rows * width + locks + summed) * kFloatBytes;
  }
  // A tile of queries' gradients for each block of rows, with its locks.
  const bool narrow = call.width <= static_cast<int64_t>(kNarrow);
  const uint64_t side = narrow ? kNarrow : kBroad;
  const uint64_t locks = narrow || call.element != kFloatBytes ? kLocks : 2 * kLocks;
  return call.Heads() * (UpTo(static_cast<uint64_t>(call.rows), side) / side) * (side * side + locks) *
         kFloatBytes;
}

std::optional<AttentionCall> EfficientCallOf(const Step& step, const Op& op, uint16_t query) {
  AttentionCall call;
  for (const Operand& operand : InputsOf(step, op)) {
    const bool is_query = operand.argument == query, is_key = operand.argument == query + 1;
    if ((!is_query && !is_key) || step.Rank(operand.shape) != 4) continue;
    const int64_t* const dims = step.Dims(operand.shape);
    if (is_key)
      call.columns = dims[1], call.key_heads = dims[2];
    else
      call.batch = dims[0], call.rows = dims[1], call.heads = dims[2], call.width = dims[3];
    call.element = BytesOf(operand.dtype);
  }
  if (call.rows == 0 || call.columns == 0) return std::nullopt;
  return call;
}

namespace {

// Flash attention in the place of the operator: what each share of the columns makes.
std::optional<uint64_t> SharesWithBatch(AttentionCall call, uint64_t recorded, int64_t from, int64_t to) {
  const FlashNeeds needs = FlashNeedsOf(call, Multiprocessors{}.count);
  call.batch = call.batch / from * to;
  const FlashNeeds then = FlashNeedsOf(call, Multiprocessors{}.count);
  if (recorded != 0 && recorded == needs.split_sums) return then.split_sums;
  if (recorded != 0 && recorded == needs.split_outputs) return then.split_outputs;
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> WorkspaceWithBatch(const Step& step, uint32_t block, int64_t from, int64_t to) {
  constexpr uint64_t kLow = 2;
  const uint64_t recorded = step.blocks[block].requested;
  uint32_t op = step.blocks[block].op;
  const auto is = [&](std::string_view name) { return step.NameOf(step.ops[op]) == name; };
  while (op != model::kNone && !is(kEfficientBackward) && !is(kEfficientForward)) op = step.ops[op].parent;
  if (op == model::kNone) return std::nullopt;
  const bool forward = is(kEfficientForward);
  std::optional<AttentionCall> call = EfficientCallOf(step, step.ops[op], forward ? 0 : 1);
  if (!call || call->batch % from != 0) return std::nullopt;
  call->element = kLow;  // whatever was recorded: floats grow with the batch
  if (forward) return SharesWithBatch(*call, recorded, from, to);
  if (call->width <= kWidestEfficient || EfficientWorkspace(*call) != recorded) return std::nullopt;
  call->batch = call->batch / from * to;
  return EfficientWorkspace(*call);
}

}  // namespace vramscope::whatif
