// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/history.h"

#include <algorithm>
#include <cstdio>

namespace vramscope::allocator {

std::string Hex(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string Describe(const Event& event) {
  static constexpr const char* kActions[] = {"alloc",         "free requested", "free completed",
                                             "segment alloc", "segment free",   "segment map",
                                             "segment unmap", "snapshot",       "out of memory"};
  std::string text = std::string(kActions[static_cast<size_t>(event.action)]) + ", " +
                     std::to_string(event.bytes) + " bytes";
  if (event.action != Action::kOutOfMemory && event.action != Action::kSnapshot)
    text += " at " + Hex(event.address);
  if (event.stream != 0) text += ", stream " + std::to_string(event.stream);
  return text;
}

std::string DescribePlace(const std::vector<SegmentState>& segments, uint64_t address) {
  for (const SegmentState& segment : segments) {
    if (address < segment.address || address >= segment.address + segment.bytes) continue;
    for (const BlockState& block : segment.blocks) {
      if (address >= block.address + block.bytes) continue;
      const char* const use = block.use == BlockUse::kFree        ? "free"
                              : block.use == BlockUse::kAllocated ? "in use"
                                                                  : "pending";
      return std::string(use) + ", " + std::to_string(block.bytes) + " bytes from " + Hex(block.address);
    }
  }
  return "in no segment";
}

std::string FirstDifference(const std::vector<SegmentState>& ours, const std::vector<SegmentState>& theirs) {
  for (size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    if (i >= ours.size() || i >= theirs.size() || ours[i].address != theirs[i].address ||
        ours[i].bytes != theirs[i].bytes)
      return "segment " + std::to_string(i) + " of " + std::to_string(theirs.size()) + " differs";
    for (size_t j = 0; j < std::max(ours[i].blocks.size(), theirs[i].blocks.size()); ++j) {
      const bool both = j < ours[i].blocks.size() && j < theirs[i].blocks.size();
      if (both && ours[i].blocks[j].bytes == theirs[i].blocks[j].bytes &&
          ours[i].blocks[j].use == theirs[i].blocks[j].use)
        continue;
      return "block " + std::to_string(j) + " of the segment at " + Hex(ours[i].address) + " differs";
    }
  }
  return "";
}

}  // namespace vramscope::allocator
