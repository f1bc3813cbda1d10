// SPDX-License-Identifier: Apache-2.0
// Flash attention, with heads that were filled up, in the place of products.
#include <algorithm>
#include <array>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/attention/filled_heads.h"
#include "profiler/whatif/attention/room.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class FilledFlash {
 public:
  // `call`: with the width that its heads have then.
  FilledFlash(const AttentionCall& call, int multiprocessors, AttentionRoom& room, Step& changed)
      : call_(call), needs_(FlashNeedsOf(call, multiprocessors)), room_(room), changed_(changed) {}

  void Forward() {
    Stage stage = room_.Forward();
    const uint32_t query = stage.TakeEach(call_.QueryBytes()), key = stage.TakeEach(call_.KeyBytes()),
                   value = stage.TakeEach(call_.KeyBytes());
    const Position begin = stage.Tick();
    stage.Deliver(room_.output());
    changed_.blocks[room_.output()].requested = call_.QueryBytes();
    const auto rows = static_cast<uint64_t>(call_.rows);
    const uint32_t sums = stage.TakeEach(call_.Heads() * rows * kFloatBytes);
    std::vector<uint32_t> passing;
    for (const uint64_t bytes : {needs_.split_sums, needs_.split_outputs})
      if (bytes != 0) passing.push_back(stage.TakeEach(bytes));
    if (call_.dropout) passing.push_back(stage.TakeOnce(kSeedsBytes));  // given up for another
    const uint32_t seed = stage.TakeOnce(kSeedBytes), offset = stage.TakeOnce(kSeedsBytes);
    for (const uint32_t block : passing) stage.Free(block);
    room_.Name("aten::_scaled_dot_product_flash_attention", sums, rows);
    kept_ = {key, query, value, sums, room_.output(), seed, offset};
    for (const uint32_t block : kept_) room_.Keep(block, begin);
    operands_ = {value, key, query};
  }

  void Backward() {
    Stage stage = room_.Backward("ScaledDotProductFlashAttentionBackward0");
    const uint32_t given = stage.TakeEach(call_.QueryBytes());
    room_.ReleaseGiven(stage);
    std::vector<uint32_t> passing = {given};
    if (call_.rows > 1 && call_.heads > 1)  // what it is given and what it returned, row by row
      for (int copy = 0; copy < 2; ++copy) passing.push_back(stage.TakeEach(call_.QueryBytes()));
    std::array<uint32_t, 3> filled{};
    for (size_t i = filled.size(); i-- > 0;)
      filled[i] = stage.TakeEach(changed_.blocks[operands_[i]].requested);
    for (const uint64_t bytes : {needs_.sums, needs_.queries}) passing.push_back(stage.TakeEach(bytes));
    for (; !passing.empty(); passing.pop_back()) stage.Free(passing.back());
    for (const uint32_t block : kept_) room_.Release(block, stage);
    for (size_t i = 0; i < filled.size(); ++i) {  // those that products hand out: of values first
      if (i < room_.gradients().size()) stage.Deliver(room_.gradients()[i]);
      stage.Free(filled[i]);
    }
  }

 private:
  const AttentionCall& call_;
  const FlashNeeds needs_;
  AttentionRoom& room_;
  Step& changed_;
  std::vector<uint32_t> kept_;          // in the order in which they go
  std::array<uint32_t, 3> operands_{};  // value, key, query
};

// Products were recorded since memory-efficient attention takes no such floats (minimum_gemm_alignment in
// sdp_utils.cpp), and nothing keeps flash attention from it.
bool BecomesFlash(const Step& step, const AttentionCall& call) {
  constexpr int64_t kFloatsUnit = 4;
  constexpr uint64_t kLow = 2;
  const auto lies = [&](const Operand& operand) {
    const std::span<const int64_t> strides = StridesOf(step, operand);
    return strides.size() == 4 && strides[3] == 1;
  };
  return call.kernel == AttentionKernel::kMath && !call.written_out && call.why_not.empty() && call.retyped &&
         call.element == kLow && !call.casts && call.masks.empty() && !call.Shares() &&
         call.width % kFloatsUnit != 0 && call.width <= kWidestFlash && lies(call.query) && lies(call.key) &&
         lies(call.value);
}

}  // namespace

Step WithFilledFlash(Step step) {
  if (step.keeps_products || step.backward.size() > 1 || !MayFillHeads(step)) return step;
  std::vector<AttentionCall> calls = AttentionCalls(step);
  std::erase_if(calls, [&](const AttentionCall& call) { return !BecomesFlash(step, call); });
  if (calls.empty()) return step;
  Step changed = step;
  const Result<BatchAxis>& axis = FollowBatch(step);
  const int multiprocessors = axis.ok() ? axis->device.count : Multiprocessors{}.count;
  for (const AttentionCall& call : calls) {
    AttentionRoom room(step, call, changed);
    AttentionCall filled = call;
    filled.width = FilledWidth(call.width);
    FilledFlash flash(filled, multiprocessors, room, changed);
    flash.Forward();
    if (room.backward()) flash.Backward();
  }
  OrderOpEnds(changed);
  return changed;
}

}  // namespace vramscope::whatif
