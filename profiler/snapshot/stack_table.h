// SPDX-License-Identifier: Apache-2.0
// Stores the stacks of a PyTorch memory snapshot. Equal frames and equal stacks are stored only once. A
// training step has a few thousand stacks of about 30 frames.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::snapshot {

struct Frame {
  uint32_t file = 0;  // index in Snapshot::texts
  uint32_t function = 0;
  int64_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

using FrameId = uint32_t;
using StackId = uint32_t;  // 0 = no frames

class StackTable {
 public:
  static constexpr uint64_t kFrameCost = sizeof(Frame) * 2 + 16;
  static constexpr uint64_t StackCost(uint64_t frames) { return frames * sizeof(FrameId) * 2 + 32; }

  StackTable();

  // Returns the ID of an equal frame, or adds the frame.
  FrameId AddFrame(const Frame& frame);
  // Returns the ID of an equal stack, or adds the stack. Frames are in PyTorch's order, innermost first.
  StackId AddStack(std::span<const FrameId> frames);

  [[nodiscard]] uint32_t stack_count() const { return static_cast<uint32_t>(begins_.size() - 1); }
  [[nodiscard]] uint32_t frame_count() const { return static_cast<uint32_t>(frames_.size()); }
  [[nodiscard]] const Frame& frame(FrameId id) const { return frames_[id]; }
  [[nodiscard]] std::span<const FrameId> stack(StackId id) const {
    return std::span(lists_).subspan(begins_[id], begins_[id + 1] - begins_[id]);
  }

 private:
  std::vector<Frame> frames_;
  std::vector<uint32_t> frame_slots_;  // hash table with open addressing: frame ID + 1; 0 = empty
  std::vector<FrameId> lists_;
  std::vector<uint64_t> begins_;
  std::vector<uint32_t> stack_slots_;
};

}  // namespace vramscope::snapshot
