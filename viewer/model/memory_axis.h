// SPDX-License-Identifier: Apache-2.0
// The memory axis of the timeline: its lines, and the bytes at its edges.
//
// The axis follows what is allocated. A small model takes 100 MiB where the device uses 2 GiB. A line that
// is much higher is named at the upper edge. A click on that name brings the line into the picture.
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
  std::array<bool, kMemoryLineCount> reached = {};  // the axis reaches up to the line, however high
  friend bool operator==(const MemoryLineChoice&, const MemoryLineChoice&) = default;
};

// The visible part of the axis, as shares.
struct MemoryZoom {
  double low = 0;
  double high = 1;
  // Keeps the share `at` in place; factor 2 shows half as much.
  void Zoom(double factor, double at);
  void Pan(double shares);
  [[nodiscard]] bool all() const { return low <= 0 && high >= 1; }
  friend bool operator==(const MemoryZoom&, const MemoryZoom&) = default;
};

struct MemoryAxis {
  double low = 0;  // bytes at the lower edge
  double high = 1;
  // 0 at the lower edge, 1 at the upper one; also defined outside.
  [[nodiscard]] double ShareOf(double bytes) const { return (bytes - low) / (high - low); }
};

// The axis for a picture. The axis covers the highest allocated column, lines up to 1.5 times as high, and
// lines in `choice.reached`. `lines`: false while only some categories are shown.
[[nodiscard]] MemoryAxis AxisFor(const TimelinePicture& picture, std::optional<uint64_t> capacity,
                                 const MemoryLineChoice& choice, bool lines, const MemoryZoom& zoom);

// A line's name at the right end of the picture.
struct MemoryLineLabel {
  MemoryLine line{};
  uint64_t bytes = 0;  // at the right end
  double share = 0;    // of the axis; above 1 if it lies above the picture
  double place = 0;    // where the label's middle is drawn
};
// Labels of all shown lines with a value, topmost first, not overlapping. Each is `height` high (a share of
// the picture).
[[nodiscard]] std::vector<MemoryLineLabel> LabelsOf(const TimelinePicture& picture,
                                                    std::optional<uint64_t> capacity,
                                                    const MemoryLineChoice& choice, const MemoryAxis& axis,
                                                    double height);

}  // namespace vramscope::viewer
