// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "profiler/whatif/attention/room.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/cublas.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// One number for each row in the place of scores.
class Fused {
 public:
  Fused(const Step& step, const AttentionCall& call, bool flash, int multiprocessors, AttentionRoom& room)
      : step_(step), call_(call), flash_(flash), needs_(FlashNeedsOf(call, multiprocessors)), room_(room) {}

  void Forward() {
    Stage stage = room_.Forward();
    std::vector<uint32_t> kept;
    const auto keep = [&](uint64_t bytes, Grows grows = Grows::kUnsaid) {
      kept.push_back(stage.Take(bytes, grows));
    };
    const Position begin = stage.Tick();
    for (const uint32_t mask : call_.masks) {
      const auto columns = static_cast<uint64_t>(call_.columns);
      if (columns % kMaskUnit != 0) keep(step_.blocks[mask].requested / columns * UpTo(columns, kMaskUnit));
    }
    if (!flash_ && !call_.dropout) keep(kSeedBytes, Grows::kNot), keep(kSeedBytes, Grows::kNot);
    stage.Deliver(room_.output());
    const auto recorded = static_cast<uint64_t>(call_.rows);
    const uint64_t rows = flash_ ? recorded : UpTo(recorded, kRowUnit);
    keep(flash_ ? call_.Heads() * rows * kFloatBytes : EfficientSums(call_), Grows::kWithBatch);
    const uint32_t sums = kept.back();
    if (flash_) {
      std::vector<uint32_t> split;
      for (const uint64_t bytes : {needs_.split_sums, needs_.split_outputs})
        if (bytes != 0) split.push_back(stage.TakeEach(bytes));
      const uint32_t drawn = call_.dropout ? stage.TakeOnce(kSeedsBytes) : kNone;  // and given up for another
      keep(kSeedBytes, Grows::kNot), keep(kSeedsBytes, Grows::kNot);
      if (drawn != kNone) stage.Free(drawn);
      for (const uint32_t block : split) stage.Free(block);
    }
    room_.Name(flash_ ? "aten::_scaled_dot_product_flash_attention" : kEfficientCall, sums, rows);
    room_.KeepOperands(begin);
    for (const uint32_t mask : call_.masks) room_.Keep(mask, begin);
    const Position end = stage.Tick();
    for (const uint32_t block : kept) room_.Keep(block, end);
    room_.Keep(room_.output(), end);
  }

  void Backward() {
    Stage stage = room_.Backward(flash_ ? "ScaledDotProductFlashAttentionBackward0"
                                        : "ScaledDotProductEfficientAttentionBackward0");
    (void)stage.Tick();
    const uint32_t copied = flash_ && !GivenByRows() ? stage.TakeEach(call_.QueryBytes()) : kNone;
    const uint32_t result = flash_ && ReturnsHeadsFirst() ? stage.TakeEach(call_.QueryBytes()) : kNone;
    for (const uint32_t gradient : room_.gradients()) stage.Deliver(gradient);
    std::vector<uint32_t> spread;  // gradients of keys and values, before heads that share one are added up
    const auto take_spread = [&] {
      if (call_.Shares())
        spread = {stage.TakeEach(call_.SpreadKeyBytes()), stage.TakeEach(call_.SpreadKeyBytes())};
    };
    const auto free_spread = [&] {
      for (auto block = spread.rbegin(); block != spread.rend(); ++block) stage.Free(*block);
    };
    if (flash_) {
      const uint32_t sums = stage.TakeEach(needs_.sums), queries = stage.TakeEach(needs_.queries);
      take_spread();
      free_spread();
      stage.Free(queries), stage.Free(sums);
      if (result != kNone) stage.Free(result);
      if (copied != kNone) stage.Free(copied);
      return;
    }
    take_spread();
    const uint64_t rows = call_.Heads() * static_cast<uint64_t>(call_.rows) * kFloatBytes;
    const bool wide = call_.element == kFloatBytes;  // else the kernel itself multiplies and sums
    const uint32_t product = wide ? stage.TakeEach(call_.QueryBytes()) : kNone;
    const uint32_t sum = stage.TakeEach(rows);
    uint32_t delta = sum;
    if (wide) {
      delta = stage.TakeEach(rows);
      stage.Free(sum), stage.Free(product);
    }
    const uint32_t work = stage.TakeEach(EfficientWorkspace(call_));
    stage.Free(delta), stage.Free(work);
    free_spread();
  }

 private:
  // Flash attention copies a gradient whose rows have gaps, or lie head by head.
  [[nodiscard]] bool GivenByRows() const {
    const std::span<const int64_t> sizes = SizesOf(step_, call_.given),
                                   strides = StridesOf(step_, call_.given);
    if (sizes.size() != 4 || strides.size() != 4) return true;
    return LiesWithoutGaps(Extents{sizes[0], sizes[2], sizes[1], sizes[3]},
                           Extents{strides[0], strides[2], strides[1], strides[3]});
  }

  // And its own result, which it made like the queries, where their heads lie one after the other.
  [[nodiscard]] bool ReturnsHeadsFirst() const {
    const std::span<const int64_t> strides = StridesOf(step_, call_.query);
    return strides.size() == 4 && call_.heads > 1 && call_.rows > 1 && strides[1] > strides[2];
  }

  const Step& step_;
  const AttentionCall& call_;
  const bool flash_;
  const FlashNeeds needs_;
  AttentionRoom& room_;
};

// softmax(q / sqrt(sqrt(d)) @ (k / sqrt(sqrt(d))).T) @ v, in float32.
class Products {
 public:
  Products(const Step& step, const AttentionCall& call, uint64_t workspace, AttentionRoom& room)
      : step_(step),
        call_(call),
        low_(call.element != kFloatBytes),
        query_(call.QueryBytes() * kFloatBytes / call.element),
        key_(call.KeyBytes() * kFloatBytes / call.element),
        scores_(call.Scores() * kFloatBytes),
        workspace_(workspace),
        room_(room) {}

  void Forward() {
    Stage stage = room_.Forward();
    const uint32_t added = call_.bools != 0 ? AddedOfBools(stage) : kNone;
    std::vector<uint32_t> held;  // until the call returns
    if (low_) held = {stage.TakeEach(query_), stage.TakeEach(key_), stage.TakeEach(key_)};
    const uint32_t scaled_query = stage.TakeEach(query_);
    const uint32_t hides = call_.causal ? HideLater(stage) : kNone;
    const uint32_t scaled_key = stage.TakeEach(key_);
    queries_ = IsCopied(call_.query, true) ? stage.TakeEach(query_) : scaled_query;
    keys_ = IsCopied(call_.key, true) ? stage.TakeEach(key_) : scaled_key;
    const uint32_t made = stage.TakeEach(scores_);  // a mask is added in place
    stage.Workspace(workspace_);
    if (queries_ != scaled_query || !room_.backward()) held.push_back(scaled_query);
    if (keys_ != scaled_key || !room_.backward()) stage.Free(scaled_key);
    if (!room_.backward()) {
      if (queries_ != scaled_query) stage.Free(queries_);
      if (keys_ != scaled_key) stage.Free(keys_);
    }
    weights_ = dropped_ = stage.TakeEach(scores_);
    const uint32_t hidden = stage.TakeEach(call_.Scores());  // which are -inf
    const uint32_t all_hidden = stage.TakeEach(call_.Heads() * static_cast<uint64_t>(call_.rows));
    stage.Free(stage.TakeOnce(kFloatBytes));  // the zero that their rows get
    stage.Free(all_hidden), stage.Free(hidden);
    stage.Free(made);
    if (call_.dropout) {
      drawn_ = stage.TakeEach(call_.Scores());
      dropped_ = stage.TakeEach(scores_);
    }
    const uint32_t other =
        low_ ? stage.TakeEach(scores_ * call_.element / kFloatBytes) : kNone;  // it could return
    const bool copied = IsCopied(call_.value, low_);
    values_ = copied ? stage.TakeEach(key_) : low_ ? held[2] : call_.value.block;
    if (low_ && !copied && room_.backward()) held.erase(held.begin() + 2);
    const uint32_t wide = low_ ? stage.TakeEach(query_) : kNone;
    if (!low_) stage.Deliver(room_.output());
    stage.Workspace(workspace_);
    if (low_) {
      stage.Deliver(room_.output());
      stage.Free(wide);
    }
    for (auto block = held.rbegin(); block != held.rend(); ++block) stage.Free(*block);
    if (other != kNone) stage.Free(other);
    if (hides != kNone) stage.Free(hides);
    if (added != kNone) stage.Free(added);
    room_.Name(kMathAttention);
    const Position at = stage.Tick();
    for (const uint32_t block : {queries_, keys_, weights_, values_}) room_.Keep(block, at);
    if (call_.dropout) room_.Keep(drawn_, at), room_.Keep(dropped_, at);
  }

  void Backward() {
    Stage stage = room_.Backward("BmmBackward0");
    // What the products make is handed out in float32; else it is cast at the end. Values come first.
    std::vector<uint32_t> wide;
    size_t next = room_.gradients().size();
    const auto hand_out = [&](uint64_t bytes) {
      if (low_ || next == 0)
        wide.push_back(stage.TakeEach(bytes));
      else
        stage.Deliver(room_.gradients()[--next]);
    };
    const bool copied = IsCopied(call_.given, low_);
    const uint32_t widened = low_ ? stage.TakeEach(query_) : kNone;
    if (low_) room_.ReleaseGiven(stage);
    const uint32_t given = copied ? stage.TakeEach(query_) : widened;
    if (!low_ && copied) room_.ReleaseGiven(stage);
    if (low_ && copied) stage.Free(widened);
    hand_out(key_);
    stage.Workspace(workspace_);
    uint32_t of_weights = stage.TakeEach(scores_);
    stage.Workspace(workspace_);
    if (given != kNone) stage.Free(given);
    if (given == kNone) room_.ReleaseGiven(stage);
    room_.Release(values_, stage);
    if (call_.dropout) {
      room_.Release(dropped_, stage);
      const uint32_t undropped = stage.TakeEach(scores_);
      stage.Free(of_weights);
      room_.Release(drawn_, stage);
      of_weights = undropped;
    }
    const uint32_t of_scores = stage.TakeEach(scores_);
    stage.Free(stage.TakeEach(scores_));
    stage.Free(of_weights);
    room_.Release(weights_, stage);
    const uint32_t scaled_key = stage.TakeEach(key_);
    stage.Workspace(workspace_);
    const uint32_t scaled_query = stage.TakeEach(query_);
    stage.Workspace(workspace_);
    stage.Free(of_scores);
    room_.Release(keys_, stage), room_.Release(queries_, stage);
    hand_out(key_);
    stage.Free(scaled_key);
    hand_out(query_);
    stage.Free(scaled_query);
    for (const uint32_t block : wide) {
      if (low_ && next > 0) stage.Deliver(room_.gradients()[--next]);
      stage.Free(block);
    }
  }

 private:
  // Of a mask of bools: zeros where it is true, else -inf.
  uint32_t AddedOfBools(Stage& stage) {
    const uint32_t hides = stage.TakeOnce(call_.element), shows = stage.TakeOnce(call_.element);
    const uint64_t bytes = call_.bools * call_.element;
    const uint32_t added = call_.bools_of_each ? stage.TakeEach(bytes) : stage.TakeOnce(bytes);
    stage.Free(shows), stage.Free(hides);
    return added;
  }

  // What is added so that no row sees later columns: zeros where a triangle of bools is true, else -inf.
  uint32_t HideLater(Stage& stage) {
    const auto places = static_cast<uint64_t>(call_.rows * call_.columns);
    const uint32_t square = stage.TakeOnce(places), triangle = stage.TakeOnce(places);
    stage.Free(square);
    const uint32_t hides = stage.TakeOnce(kFloatBytes), shows = stage.TakeOnce(kFloatBytes);
    const uint32_t added = stage.TakeOnce(places * kFloatBytes);
    for (const uint32_t block : {shows, hides, triangle}) stage.Free(block);
    return added;
  }

  // Whether a product that counts samples and heads together takes a copy without gaps: of what was computed
  // from the operand, or of itself.
  [[nodiscard]] bool IsCopied(const Operand& operand, bool computed) const {
    const auto sizes = SizesOf(step_, operand), strides = StridesOf(step_, operand);
    if (sizes.size() != 4 || strides.size() != 4 || call_.Shares()) return true;
    const Extents made = computed ? StridesOfResult(sizes, strides) : Extents(strides.begin(), strides.end());
    return !StridesOfView(sizes, made, Extents{sizes[0] * sizes[1], sizes[2], sizes[3]});
  }

  const Step& step_;
  const AttentionCall& call_;
  const bool low_;
  const uint64_t query_, key_, scores_;  // bytes in float32
  const uint64_t workspace_;
  AttentionRoom& room_;
  uint32_t queries_ = kNone, keys_ = kNone, weights_ = kNone, drawn_ = kNone, dropped_ = kNone,
           values_ = kNone;
};

}  // namespace

Step WithAttention(const Step& step, const std::vector<AttentionCall>& calls, AttentionKernel kernel) {
  Step changed = step;
  const Result<BatchAxis>& axis = FollowBatch(step);
  const int multiprocessors = axis.ok() ? axis->device.count : Multiprocessors{}.count;
  const CublasWorkspace taken = WorkspaceOfProducts(step);
  const uint64_t workspace = taken.stays ? 0 : taken.bytes;
  const auto put = [](auto made, const AttentionRoom& room) {
    made.Forward();
    if (room.backward()) made.Backward();
  };
  for (const AttentionCall& call : calls) {
    AttentionRoom room(step, call, changed);
    if (kernel != AttentionKernel::kFlash) room.TakeBackCopies();
    if (kernel == AttentionKernel::kMath) {
      room.SplitCopies();
      put(Products(step, call, workspace, room), room);
    } else {
      room.JoinCopies();
      put(Fused(step, call, kernel == AttentionKernel::kFlash, multiprocessors, room), room);
    }
  }
  OrderOpEnds(changed);
  return changed;
}

}  // namespace vramscope::whatif
