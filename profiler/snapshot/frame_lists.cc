// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/frame_lists.h"

#include <cstring>

namespace vramscope::snapshot {
namespace {

uint32_t Load32(const uint8_t* from) {
  uint32_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

FrameLists::Answer FrameLists::Read(const uint8_t* p, const uint8_t* end) {
  const Answer not_taken{p};
  constexpr ptrdiff_t kShortest = 16;
  if (end - p < kShortest) return not_taken;
  uint64_t memo = Objects::kNoMemo;
  if (*p == 0x94) {
    memo = objects_.memo_size();
    p += 1;
  } else if (*p == 'q') {
    memo = p[1];
    p += 2;
  } else if (*p == 'r') {
    memo = Load32(p + 1);
    p += 5;
  }
  if (*p++ != '(') return not_taken;

  StackId stack = Expected(p, end);
  const uint8_t* after = nullptr;
  if (stack != kNone) {
    after = p + runs_[stack].length;
  } else {
    if (!Follow(p, end, &after)) return not_taken;
    if (!objects_.AddStack(frames_, &stack)) return {after, true, false};
    Keep(stack, p, after);
  }
  if (last_ != kNone) runs_[last_].next = stack;
  last_ = stack;
  return {after + 1, true, objects_.PushStack(stack, memo)};
}

StackId FrameLists::Expected(const uint8_t* p, const uint8_t* end) const {
  if (last_ == kNone || runs_[last_].next == kNone) return kNone;
  const Run& run = runs_[runs_[last_].next];
  if (run.length == 0 || end - p <= static_cast<ptrdiff_t>(run.length) || p[run.length] != 'e') return kNone;
  return std::memcmp(p, bytes_.data() + run.begin, run.length) == 0 ? runs_[last_].next : kNone;
}

bool FrameLists::Follow(const uint8_t* p, const uint8_t* end, const uint8_t** after) {
  frames_.clear();
  FrameId frame = 0;
  while (end - p > 5) {
    if (*p == 'h') {
      if (!objects_.FrameAt(p[1], &frame)) return false;
      p += 2;
    } else if (*p == 'j') {
      if (!objects_.FrameAt(Load32(p + 1), &frame)) return false;
      p += 5;
    } else {
      *after = p;
      return *p == 'e' && !frames_.empty();
    }
    frames_.push_back(frame);
  }
  return false;
}

void FrameLists::Keep(StackId stack, const uint8_t* begin, const uint8_t* end) {
  if (stack >= runs_.size()) runs_.resize(size_t{stack} + 1);
  Run& run = runs_[stack];
  const auto length = static_cast<size_t>(end - begin);
  if (run.length != 0 || bytes_.size() + length > kMaxBytes) return;
  run.begin = static_cast<uint32_t>(bytes_.size());
  run.length = static_cast<uint32_t>(length);
  bytes_.insert(bytes_.end(), begin, end);
}

}  // namespace vramscope::snapshot
