// SPDX-License-Identifier: Apache-2.0
// A map of the caching allocator's memory at one moment. Segments are drawn as strips in the order of their
// addresses. The strips fill row after row like text, all at the same scale.
//
//   row 0   ▐weight▐grad▐▒▒▒▒▐act▐  ▐act▐act▐▒▒      a gap between segments; ▒ is free
//   row 1   ▒▒▒▒▐act▐                                a segment continues in the next row
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "viewer/model/coloring.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

struct MapBlock {
  enum class Use : uint8_t { kFree, kLive, kPending } use = Use::kFree;
  uint64_t offset = 0;  // offset in the segment
  uint64_t bytes = 0;
  uint64_t requested = 0;
  classify::Category category = classify::Category::kUnattributed;
  model::BlockId block = model::kNone;  // block of the run; kNone if unknown
  std::string title;                    // name, else module, else place of allocation; "" = unknown
  uint8_t entry = 0;                    // index of the legend entry; only for live blocks
  bool pins = false;                    // true: the block pins its segment (docs/glossary.md)

  [[nodiscard]] uint64_t end() const { return offset + bytes; }
};

struct MapSegment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t free = 0;
  uint64_t held_back = 0;  // part of `free` that cannot be given back to the driver because of pins
  bool large = false;
  bool expandable = false;
  std::string domain;            // "stream 7"; "" for the default stream and pool
  std::vector<MapBlock> blocks;  // in order of address; they fill the segment without gaps
};

// A part of a segment in one row.
struct MapStrip {
  size_t segment = 0;
  uint64_t begin = 0;  // offset in the segment
  uint64_t end = 0;
  size_t row = 0;
  double x = 0;  // pixels, of the left edge
};

// Cached facts about a block, which are the same at all moments.
struct KnownBlock {
  model::BlockId block = model::kNone;
  std::string title;
};

class AddressMap {
 public:
  // Computes the map at `moment`. Does nothing if no argument has changed since the last call. `layout.walk`
  // must exist.
  void Update(const Document& document, const DeviceView& device, const LayoutView& layout,
              model::EventIndex moment, Coloring by);

  [[nodiscard]] const std::vector<MapSegment>& segments() const { return segments_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] uint64_t free_bytes() const { return free_; }
  [[nodiscard]] size_t live_blocks() const { return live_; }
  [[nodiscard]] const std::vector<LegendEntry>& legend() const { return colors_.legend(); }

 private:
  void ReadState(const Document& document, const DeviceView& device, const LayoutView& layout);
  [[nodiscard]] MapBlock Describe(const Document& document, const fragmentation::Subject& subject,
                                  fragmentation::Moment at, const fragmentation::Block& block,
                                  uint64_t segment_address);
  void Paint(const Document& document, const DeviceView& device);

  const LayoutView* layout_ = nullptr;
  Coloring by_ = Coloring::kCategory;
  BlockColors colors_;
  model::EventIndex moment_ = model::kNever;
  std::unique_ptr<fragmentation::LayoutCursor> cursor_;
  std::unique_ptr<classify::Origins> origins_;
  // Cache of KnownBlock, by the moment of the allocation in the layout's history. The cache exists because
  // the texts of blocks are the slowest part of the map.
  std::unordered_map<uint32_t, KnownBlock> known_;
  std::vector<MapSegment> segments_;
  uint64_t bytes_ = 0;
  uint64_t free_ = 0;
  size_t live_ = 0;
};

struct MapPage {
  std::vector<MapStrip> strips;
  double bytes_per_pixel = 1;
};
// Lays out the strips at the largest scale at which all segments fit into `rows` rows of `width` pixels, with
// `gap` pixels between segments.
[[nodiscard]] MapPage LayOut(const std::vector<MapSegment>& segments, double width, size_t rows, double gap);
// Returns the block at this offset of a segment, or nullptr.
[[nodiscard]] const MapBlock* BlockAt(const MapSegment& segment, uint64_t offset);

// Returns the moment in the layout's history that corresponds to an event of the run.
[[nodiscard]] fragmentation::Moment LayoutMoment(const Document& document, const LayoutView& layout,
                                                 model::EventIndex event);

}  // namespace vramscope::viewer
