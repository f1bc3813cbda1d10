// SPDX-License-Identifier: Apache-2.0
// Allocated memory over time by line of code. The timeline shows this if the categories of most blocks are
// unknown.
//
// A PyTorch snapshot does not tell what a block is, but contains stacks. Each of the seven lines of code with
// the highest peaks gets a band of its own. All other lines share one band.
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
  static constexpr size_t kCount = kLines + 2;  // kLines lines, "other lines", and blocks without a stack
  using Bytes = std::array<uint64_t, kCount>;

  // O(blocks + changes): about 2 s for ten million events.
  LineBands(const Document& document, const DeviceView& device);

  // The bands from bottom to top. Unused bands have no text.
  [[nodiscard]] const std::array<LineBand, kCount>& bands() const { return bands_; }
  // Returns the bytes of each band after `event`. Their sum is `allocated`, the device's allocated bytes.
  [[nodiscard]] Bytes After(model::EventIndex event, uint64_t allocated) const;

 private:
  std::array<LineBand, kCount> bands_;
  std::array<StepLine, kCount - 1> lines_;  // the last band gets the remaining bytes
};

// True if most bytes at the peak have no category, and at least one block has a stack.
[[nodiscard]] bool LinesTellMore(const Document& document, const DeviceView& device);

// The bands of the displayed device, computed on another thread, and their bytes in each pixel column of the
// timeline.
class LineBandsView {
 public:
  // Starts to compute the bands if the device has changed. `document` and `device` must live until the next
  // Update, Forget or Clear. Calls `wake` when the bands are ready.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Stops using the device, and waits for the thread. Call this before the device's document is destroyed.
  // The old bands remain visible until there are new bands.
  void Forget();
  // Like Forget, and also removes the bands.
  void Clear();
  [[nodiscard]] bool busy() const { return bands_.busy(); }
  // Empty while the first bands are being computed.
  [[nodiscard]] const std::optional<LineBands>& bands() const { return bands_.answer(); }
  // Returns the bytes of each band for each pixel column. The result is cached; `window` and the number of
  // columns identify it. Call this only if bands() has a value.
  [[nodiscard]] const std::vector<LineBands::Bytes>& Columns(const TimelinePicture& picture,
                                                             const TimeView& window);

 private:
  BackgroundAnswer<const DeviceView*, LineBands> bands_;
  TimeView window_;
  std::vector<LineBands::Bytes> columns_;
};

}  // namespace vramscope::viewer
