// SPDX-License-Identifier: Apache-2.0
// Every block of a device as a rectangle: how long it lived across, where it lay upwards.
//
// Why: a peak, a leak and a hole that nothing fits into are shapes here. A run has millions of blocks and a
// screen a thousand columns, so what is at least a pixel in both directions is drawn by itself, and the rest
// is summed up in cells of a few pixels that say how many blocks they stand for: nothing is left out.
//
//   address ▲ ████████████████████████ weight          Addresses that no block ever had are cut out:
//           │ ██████▌  ███████▌  ████                  the axis has only what was used, with a gap between.
//           │ ▖▗▝ ▘▖ merged cells
//           └──────────────────────────► time
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/model/colouring.h"
#include "viewer/model/document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// Addresses without what nobody used; a place is 0 at the lowest and 1 at the highest.
class AddressAxis {
 public:
  struct Area {
    uint64_t begin = 0;
    uint64_t end = 0;
    double place = 0;  // of `begin`
  };
  AddressAxis() = default;
  // [begin, end) in any order; they may overlap.
  explicit AddressAxis(std::vector<std::pair<uint64_t, uint64_t>> used);

  [[nodiscard]] const std::vector<Area>& areas() const { return areas_; }
  [[nodiscard]] double bytes() const { return bytes_; }  // of all areas
  // Of addresses within an area; others count as the end of the one below.
  [[nodiscard]] double PlaceOf(uint64_t address) const;
  // nullopt in a gap.
  [[nodiscard]] std::optional<uint64_t> AddressAt(double place) const;
  // Whether one area has all of [begin, end).
  [[nodiscard]] bool Covers(uint64_t begin, uint64_t end) const;
  [[nodiscard]] double places_per_byte() const { return per_byte_; }

 private:
  std::vector<Area> areas_;
  double bytes_ = 0;
  double per_byte_ = 1;
};

// A segment of the caching allocator, as long as it was held.
struct SegmentSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  double begin_ns = 0;
  double end_ns = 0;
};

// What a picture is drawn from: blocks by the length of their lives, so that a window finds those that reach
// into it without a look at the others. Immutable.
class AddressTimeIndex {
 public:
  // `layout` may be without segments. Its walk is asked only where the history begins in the middle of a run.
  // O(blocks), 4 bytes each.
  AddressTimeIndex(const model::Run& run, model::DeviceIndex device, const LayoutView& layout);

  [[nodiscard]] const AddressAxis& axis() const { return axis_; }
  [[nodiscard]] const std::vector<SegmentSpan>& segments() const { return segments_; }
  // Calls `visit` with each block alive at some time in [begin_ns, end_ns].
  void ForEachIn(double begin_ns, double end_ns, const std::function<void(model::BlockId)>& visit) const;
  [[nodiscard]] double BeginOf(model::BlockId block) const;
  [[nodiscard]] double EndOf(model::BlockId block) const;  // of the trace, where it was not freed

 private:
  const model::Run& run_;
  AddressAxis axis_;
  std::vector<SegmentSpan> segments_;
  std::vector<std::vector<model::BlockId>> by_life_;  // [n]: lives of less than 2^n ns, in order of birth
};

struct AddressTimeWindow {
  TimeView time;
  double low = 0;  // places on the axis
  double high = 1;
  size_t columns = 0;  // pixels
  size_t rows = 0;
  Colouring by = Colouring::kCategory;
  friend bool operator==(const AddressTimeWindow&, const AddressTimeWindow&) = default;
};

// A rectangle of one block or of several that are smaller than a pixel.
struct AddressTimePiece {
  model::BlockId block = model::kNone;  // kNone: several
  uint32_t blocks = 1;
  uint64_t bytes = 0;  // of all of them
  double begin_ns = 0;
  double end_ns = 0;
  double low = 0;  // places on the axis
  double high = 0;
  float cover = 1;    // the share of the rectangle that they fill
  uint8_t entry = 0;  // in the legend
};

struct AddressTimePicture {
  std::vector<AddressTimePiece> blocks;  // by themselves
  std::vector<AddressTimePiece> merged;  // where none of the above is
  size_t merged_blocks = 0;              // how many blocks `merged` stands for
  std::vector<LegendEntry> legend;

  // What is there, or nullptr.
  [[nodiscard]] const AddressTimePiece* At(double time_ns, double place) const;
};

[[nodiscard]] AddressTimePicture DrawAddressTime(const Document& document, const DeviceView& device,
                                                 const AddressTimeIndex& index,
                                                 const AddressTimeWindow& window, BlockColours& colours);

// Draws on a thread; while it does, the last picture stays.
class AddressTimeView {
 public:
  // All must outlive the view, or its next Update with others. `wake` when there is another picture.
  void Update(const Document& document, const DeviceView& device, const AddressTimeIndex& index,
              const AddressTimeWindow& window, const std::function<void()>& wake);
  // Before what it draws is destroyed.
  void Forget();
  [[nodiscard]] bool busy() const { return running_.valid(); }
  [[nodiscard]] const AddressTimePicture& picture() const { return picture_; }

 private:
  const AddressTimeIndex* index_ = nullptr;
  AddressTimeWindow asked_;
  BlockColours colours_;  // used by the thread while it runs
  std::future<AddressTimePicture> running_;
  AddressTimePicture picture_;
};

}  // namespace vramscope::viewer
