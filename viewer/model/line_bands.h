// SPDX-License-Identifier: Apache-2.0
// Allocated memory over time by line of code: the timeline where categories are not known.
//
// A PyTorch snapshot names no tensors, but has stacks. The seven lines with the most bytes at some moment
// have a band each; the others share one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/background_task.h"
#include "viewer/model/document.h"
#include "viewer/model/timeline_picture.h"

namespace vramscope::viewer {

struct LineBand {
  std::string text;  // "forward (model.py:101)", "other lines", "no stack was recorded"
  uint32_t rgb = 0;
};

class LineBands {
 public:
  static constexpr size_t kLines = 7;
  static constexpr size_t kCount = kLines + 2;  // the lines, "other lines", and blocks without a stack
  using Bytes = std::array<uint64_t, kCount>;

  // O(blocks + changes): about 2 s for ten million events.
  LineBands(const Document& document, const DeviceView& device);

  // From bottom to top. Unused bands have no text.
  [[nodiscard]] const std::array<LineBand, kCount>& bands() const { return bands_; }
  // The bytes of each band after `event`. They add up to `allocated`, the device's bytes.
  [[nodiscard]] Bytes After(model::EventIndex event, uint64_t allocated) const;

 private:
  std::array<LineBand, kCount> bands_;
  std::array<StepLine, kCount - 1> lines_;  // the last band is what remains
};

// True if most bytes of the peak have no category, and a block has a stack.
[[nodiscard]] bool LinesTellMore(const Document& document, const DeviceView& device);

// The bands of the shown device, computed on a thread, and their bytes by column of the timeline.
class LineBandsView {
 public:
  // Document and device must live until the next Update, Forget or Clear. Calls `wake` when there are bands.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Forgets the device; call before its document is destroyed. Waits for the thread. Old bands are shown
  // until there are new ones.
  void Forget();
  // Also forgets the bands.
  void Clear();
  [[nodiscard]] bool busy() const { return bands_.busy(); }
  // Nothing while the first bands are computed.
  [[nodiscard]] const std::optional<LineBands>& bands() const { return bands_.answer(); }
  // `window` and the number of columns identify the picture. Call only when bands() has a value.
  [[nodiscard]] const std::vector<LineBands::Bytes>& Columns(const TimelinePicture& picture,
                                                             const TimeView& window);

 private:
  BackgroundAnswer<const DeviceView*, LineBands> bands_;
  TimeView window_;
  std::vector<LineBands::Bytes> columns_;
};

}  // namespace vramscope::viewer
