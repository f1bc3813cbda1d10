// SPDX-License-Identifier: Apache-2.0
// Computes a picture that shows every block of a device as a rectangle: horizontally its lifetime, vertically
// its addresses.
//
// Peaks, leaks and gaps become visible as shapes. A block that is at least one pixel wide and high is drawn
// by itself. Smaller blocks are combined in cells of a few pixels, with their number.
//
//   address ▲ ████████████████████████ weight          Unused address ranges above 2 MiB are cut out:
//           │ ██████▌  ███████▌  ████                  the axis shows a small gap instead.
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

// The vertical axis. Large unused address ranges (above 2 MiB) are cut out. A place on the axis is 0 at the
// lowest address and 1 at the highest.
class AddressAxis {
 public:
  struct Area {
    uint64_t begin = 0;
    uint64_t end = 0;
    double place = 0;  // place of `begin` on the axis
  };
  AddressAxis() = default;
  // `used`: address ranges [begin, end) in any order; ranges may overlap.
  explicit AddressAxis(std::vector<std::pair<uint64_t, uint64_t>> used);

  [[nodiscard]] const std::vector<Area>& areas() const { return areas_; }
  [[nodiscard]] double bytes() const { return bytes_; }  // total of all areas
  // Returns the place of an address. For an address in a gap, returns the end of the area below the gap.
  [[nodiscard]] double PlaceOf(uint64_t address) const;
  // Returns the address at a place; nullopt if the place is in a gap.
  [[nodiscard]] std::optional<uint64_t> AddressAt(double place) const;
  // True if one area contains all of [begin, end).
  [[nodiscard]] bool Covers(uint64_t begin, uint64_t end) const;
  [[nodiscard]] double places_per_byte() const { return per_byte_; }

 private:
  std::vector<Area> areas_;
  double bytes_ = 0;
  double per_byte_ = 1;
};

// A segment of the caching allocator, and the time from its allocation to its free.
struct SegmentSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  double begin_ns = 0;
  double end_ns = 0;
};

// Finds the blocks of a time window without reading all others. Does not change after its construction.
class AddressTimeIndex {
 public:
  // `layout` may have no segments. Otherwise, its walk provides the segments that are older than the history.
  // O(blocks); takes 4 bytes per block.
  AddressTimeIndex(const model::Run& run, model::DeviceIndex device, const LayoutView& layout);

  [[nodiscard]] const AddressAxis& axis() const { return axis_; }
  [[nodiscard]] const std::vector<SegmentSpan>& segments() const { return segments_; }
  // Calls `visit` for each block that is alive at some time in [begin_ns, end_ns].
  void ForEachIn(double begin_ns, double end_ns, const std::function<void(model::BlockId)>& visit) const;
  [[nodiscard]] double BeginOf(model::BlockId block) const;
  [[nodiscard]] double EndOf(model::BlockId block) const;  // end of the trace if the block was not freed

 private:
  const model::Run& run_;
  AddressAxis axis_;
  std::vector<SegmentSpan> segments_;
  // [n]: blocks that lived less than 2^n ns, in order of allocation
  std::vector<std::vector<model::BlockId>> by_life_;
};

// The part of the picture that is drawn.
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
  model::BlockId block = model::kNone;  // kNone if the piece contains several blocks
  uint32_t blocks = 1;                  // number of blocks
  uint64_t bytes = 0;                   // total bytes of these blocks
  double begin_ns = 0;
  double end_ns = 0;
  double low = 0;  // places on the axis
  double high = 0;
  float cover = 1;    // share of the rectangle's area that the blocks fill
  uint8_t entry = 0;  // index in the legend
};

struct AddressTimePicture {
  std::vector<AddressTimePiece> blocks;  // blocks that are drawn by themselves
  std::vector<AddressTimePiece> merged;  // cells of smaller blocks, where no other block is drawn
  size_t merged_blocks = 0;              // number of blocks in `merged`
  std::vector<LegendEntry> legend;

  // Returns the piece at this point, or nullptr.
  [[nodiscard]] const AddressTimePiece* At(double time_ns, double place) const;
};

[[nodiscard]] AddressTimePicture DrawAddressTime(const Document& document, const DeviceView& device,
                                                 const AddressTimeIndex& index,
                                                 const AddressTimeWindow& window, BlockColors& colors);

// Computes the picture on a background thread. picture() returns the previous picture until the next one is
// ready.
class AddressTimeView {
 public:
  // Call once per frame. Starts to compute a new picture if the arguments have changed. All arguments must
  // live until the next Update or Forget. Calls `wake` when a picture is ready.
  void Update(const Document& document, const DeviceView& device, const AddressTimeIndex& index,
              const AddressTimeWindow& window, const std::function<void()>& wake);
  // Call before the document, device or index is destroyed.
  void Forget();
  [[nodiscard]] bool busy() const { return drawing_.busy(); }
  [[nodiscard]] const AddressTimePicture& picture() const { return picture_; }

 private:
  const AddressTimeIndex* index_ = nullptr;
  AddressTimeWindow asked_;  // window of the latest request
  BlockColors colors_;       // used by the thread while it runs
  AddressTimePicture picture_;
  BackgroundTask<AddressTimePicture> drawing_;
};

}  // namespace vramscope::viewer
