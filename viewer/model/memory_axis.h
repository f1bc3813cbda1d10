// SPDX-License-Identifier: Apache-2.0
// The memory axis of the timeline: the bytes at its edges, and the lines that are drawn over the allocated
// memory.
//
// The height of the axis follows the allocated bytes. For example, a small model allocates 100 MiB on a
// device with 2 GiB in use. The name of a line that is much higher is drawn at the upper edge. A click on
// this name extends the axis up to the line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/model/timeline_picture.h"

namespace vramscope::viewer {

enum class MemoryLine : uint8_t { kReserved, kUsed, kCapacity };
inline constexpr size_t kMemoryLineCount = 3;
struct MemoryLineInfo {
  const char* key;   // for scripts: "device_used"
  const char* name;  // for people: "Device used"
};
[[nodiscard]] const MemoryLineInfo& Info(MemoryLine line);

// The lines that the user has chosen.
struct MemoryLineChoice {
  std::array<bool, kMemoryLineCount> shown = {true, true, true};
  // True if the axis extends up to the line, however high the line is.
  std::array<bool, kMemoryLineCount> reached = {};
  friend bool operator==(const MemoryLineChoice&, const MemoryLineChoice&) = default;
};

// The visible part of the axis, as shares of the whole axis.
struct MemoryZoom {
  double low = 0;
  double high = 1;
  // Zooms in by `factor` (2 shows half as much). The point at the share `at` keeps its position.
  void Zoom(double factor, double at);
  void Pan(double shares);
  [[nodiscard]] bool all() const { return low <= 0 && high >= 1; }
  friend bool operator==(const MemoryZoom&, const MemoryZoom&) = default;
};

struct MemoryAxis {
  double low = 0;  // bytes at the lower edge
  double high = 1;
  // Returns the position of `bytes`: 0 at the lower edge, 1 at the upper edge. Values outside the axis are
  // below 0 or above 1.
  [[nodiscard]] double ShareOf(double bytes) const { return (bytes - low) / (high - low); }
};

// Returns the axis for a picture. It covers the highest allocated column, all lines up to 1.5 times this
// height, and the lines in `choice.reached`. `lines`: false if only some categories are shown, so that lines
// are ignored.
[[nodiscard]] MemoryAxis AxisFor(const TimelinePicture& picture, std::optional<uint64_t> capacity,
                                 const MemoryLineChoice& choice, bool lines, const MemoryZoom& zoom);

// A line's name at the right end of the picture.
struct MemoryLineLabel {
  MemoryLine line{};
  uint64_t bytes = 0;  // value at the right end
  double share = 0;    // position of the line; above 1 if the line is above the picture
  double place = 0;    // position of the label's middle
};
// Returns the labels of all shown lines that have a value, topmost first. The labels do not overlap.
// `height`: height of a label, as a share of the picture.
[[nodiscard]] std::vector<MemoryLineLabel> LabelsOf(const TimelinePicture& picture,
                                                    std::optional<uint64_t> capacity,
                                                    const MemoryLineChoice& choice, const MemoryAxis& axis,
                                                    double height);

}  // namespace vramscope::viewer
