// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/frame_lists.h"

#include <cstring>
#include <functional>
#include <utility>

#include "profiler/snapshot/opcode_bytes.h"

namespace vramscope::snapshot {
FrameLists::Answer FrameLists::Read(const uint8_t* p, const uint8_t* end) {
  const Answer not_taken{p};
  constexpr ptrdiff_t kShortest = 16;
  if (end - p < kShortest) return not_taken;
  uint64_t memo = Objects::kNoMemo;
  p = SkipMemo(p, objects_.memo_size(), &memo);
  if (*p++ != '(') return not_taken;

  uint32_t run = Expected(p, end);
  if (run != kNone) {
    ++expected_;
  } else {
    const uint8_t* const after = EndOf(p, end);
    if (after == nullptr) return not_taken;
    run = RunOf({reinterpret_cast<const char*>(p), static_cast<size_t>(after - p)});
    if (run == kNone) return not_taken;
    expected_ = runs_[run].last == kNone ? kNone : size_t{runs_[run].last} + 1;
  }
  Note(run);
  return {p + runs_[run].length + 1, true, objects_.PushStack(runs_[run].stack, memo)};
}

uint32_t FrameLists::Expected(const uint8_t* p, const uint8_t* end) const {
  if (expected_ >= order_.size()) return kNone;
  const Run& run = runs_[order_[expected_]];
  if (end - p <= static_cast<ptrdiff_t>(run.length) || p[run.length] != 'e') return kNone;
  return std::memcmp(p, bytes_.data() + run.begin, run.length) == 0 ? order_[expected_] : kNone;
}

void FrameLists::Note(uint32_t run) {
  if (order_.size() == kMaxOrder) return;
  runs_[run].last = static_cast<uint32_t>(order_.size());
  order_.push_back(run);
}

const uint8_t* FrameLists::EndOf(const uint8_t* p, const uint8_t* end) {
  const uint8_t* const begin = p;
  while (end - p > 5) {
    if (*p == 'h') {
      p += 2;
    } else if (*p == 'j') {
      p += 5;
    } else {
      return *p == 'e' && p != begin ? p : nullptr;
    }
  }
  return nullptr;
}

uint32_t FrameLists::RunOf(std::string_view bytes) {
  if ((runs_.size() + 1) * 2 > slots_.size()) GrowSlots();
  size_t slot = std::hash<std::string_view>{}(bytes) & (slots_.size() - 1);
  for (; slots_[slot] != kNone; slot = (slot + 1) & (slots_.size() - 1)) {
    const Run& known = runs_[slots_[slot]];
    if (std::string_view(bytes_).substr(known.begin, known.length) == bytes) return slots_[slot];
  }
  if (runs_.size() == kMaxRuns || bytes_.size() + bytes.size() > kMaxBytes || !Decode(bytes)) return kNone;
  Run run;
  if (!objects_.AddStack(frames_, &run.stack)) return kNone;
  run.begin = static_cast<uint32_t>(bytes_.size());
  run.length = static_cast<uint32_t>(bytes.size());
  bytes_ += bytes;
  slots_[slot] = static_cast<uint32_t>(runs_.size());
  runs_.push_back(run);
  return slots_[slot];
}

bool FrameLists::Decode(std::string_view bytes) {
  const auto* p = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = p + bytes.size();
  frames_.clear();
  FrameId frame = 0;
  while (p != end) {
    const bool is_short = *p == 'h';
    if (!objects_.FrameAt(is_short ? p[1] : Load<uint32_t>(p + 1), &frame)) return false;
    frames_.push_back(frame);
    p += is_short ? 2 : 5;
  }
  return true;
}

void FrameLists::GrowSlots() {
  std::vector<uint32_t> larger(slots_.size() * 2, kNone);
  for (uint32_t run = 0; run < runs_.size(); ++run) {
    const auto bytes = std::string_view(bytes_).substr(runs_[run].begin, runs_[run].length);
    size_t slot = std::hash<std::string_view>{}(bytes) & (larger.size() - 1);
    while (larger[slot] != kNone) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = run;
  }
  slots_ = std::move(larger);
}

}  // namespace vramscope::snapshot
