// SPDX-License-Identifier: Apache-2.0
// Every block of a device as a rectangle: its lifetime horizontally, its addresses vertically.
//
// Peaks, leaks and holes become visible as shapes. A block of at least a pixel in both directions is drawn by
// itself. The others are summed up in cells of a few pixels, with their number.
//
//   address ▲ ████████████████████████ weight          Addresses that no block ever had are cut out:
//           │ ██████▌  ███████▌  ████                  the axis has only used addresses, with gaps between.
//           │ ▖▗▝ ▘▖ merged cells
//           └──────────────────────────► time
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/model/background_task.h"
#include "viewer/model/coloring.h"
#include "viewer/model/document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// The vertical axis, which has only used addresses. A place on it is 0 at the lowest address, 1 at the
// highest.
class AddressAxis {
 public:
  struct Area {
    uint64_t begin = 0;
    uint64_t end = 0;
    double place = 0;  // of `begin`
  };
  AddressAxis() = default;
  // `used`: ranges [begin, end), in any order, possibly overlapping.
  explicit AddressAxis(std::vector<std::pair<uint64_t, uint64_t>> used);

  [[nodiscard]] const std::vector<Area>& areas() const { return areas_; }
  [[nodiscard]] double bytes() const { return bytes_; }  // of all areas
  // The place of an address. In a gap: the end of the area below.
  [[nodiscard]] double PlaceOf(uint64_t address) const;
  // nullopt in a gap.
  [[nodiscard]] std::optional<uint64_t> AddressAt(double place) const;
  // True if one area contains all of [begin, end).
  [[nodiscard]] bool Covers(uint64_t begin, uint64_t end) const;
  [[nodiscard]] double places_per_byte() const { return per_byte_; }

 private:
  std::vector<Area> areas_;
  double bytes_ = 0;
  double per_byte_ = 1;
};

// A segment of the caching allocator, and the time during which it was held.
struct SegmentSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  double begin_ns = 0;
  double end_ns = 0;
};

// The source of a picture: finds the blocks of a window without reading the others. Immutable.
class AddressTimeIndex {
 public:
  // `layout` may have no segments. The walk of `layout` supplies segments from before the history. O(blocks),
  // 4 bytes each.
  AddressTimeIndex(const model::Run& run, model::DeviceIndex device, const LayoutView& layout);

  [[nodiscard]] const AddressAxis& axis() const { return axis_; }
  [[nodiscard]] const std::vector<SegmentSpan>& segments() const { return segments_; }
  // Calls `visit` with each block alive at some time in [begin_ns, end_ns].
  void ForEachIn(double begin_ns, double end_ns, const std::function<void(model::BlockId)>& visit) const;
  [[nodiscard]] double BeginOf(model::BlockId block) const;
  [[nodiscard]] double EndOf(model::BlockId block) const;  // end of the trace if it was not freed

 private:
  const model::Run& run_;
  AddressAxis axis_;
  std::vector<SegmentSpan> segments_;
  std::vector<std::vector<model::BlockId>> by_life_;  // [n]: blocks of less than 2^n ns, in order of birth
};

struct AddressTimeWindow {
  TimeView time;
  double low = 0;  // places on the axis
  double high = 1;
  size_t columns = 0;  // pixels
  size_t rows = 0;
  Coloring by = Coloring::kCategory;
  friend bool operator==(const AddressTimeWindow&, const AddressTimeWindow&) = default;
};

// A rectangle of one block, or of several blocks smaller than a pixel.
struct AddressTimePiece {
  model::BlockId block = model::kNone;  // kNone: several
  uint32_t blocks = 1;
  uint64_t bytes = 0;  // of all these blocks
  double begin_ns = 0;
  double end_ns = 0;
  double low = 0;  // places on the axis
  double high = 0;
  float cover = 1;    // share of the rectangle that its blocks fill
  uint8_t entry = 0;  // in the legend
};

struct AddressTimePicture {
  std::vector<AddressTimePiece> blocks;  // drawn by themselves
  std::vector<AddressTimePiece> merged;  // only where no block is drawn by itself
  size_t merged_blocks = 0;              // number of blocks in `merged`
  std::vector<LegendEntry> legend;

  // The piece at that point, or nullptr.
  [[nodiscard]] const AddressTimePiece* At(double time_ns, double place) const;
};

[[nodiscard]] AddressTimePicture DrawAddressTime(const Document& document, const DeviceView& device,
                                                 const AddressTimeIndex& index,
                                                 const AddressTimeWindow& window, BlockColors& colors);

// Draws on a thread. Shows the last picture until the next is ready.
class AddressTimeView {
 public:
  // All arguments must live until the next Update or Forget. Calls `wake` for a new picture.
  void Update(const Document& document, const DeviceView& device, const AddressTimeIndex& index,
              const AddressTimeWindow& window, const std::function<void()>& wake);
  // Call before the objects it draws are destroyed.
  void Forget();
  [[nodiscard]] bool busy() const { return drawing_.busy(); }
  [[nodiscard]] const AddressTimePicture& picture() const { return picture_; }

 private:
  const AddressTimeIndex* index_ = nullptr;
  AddressTimeWindow asked_;
  BlockColors colors_;  // used by the thread while it runs
  AddressTimePicture picture_;
  BackgroundTask<AddressTimePicture> drawing_;
};

}  // namespace vramscope::viewer
